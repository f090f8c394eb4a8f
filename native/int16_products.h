// Products of rows with a matrix in 16-bit integers, for prediction.
//
// A row and a column are multiplied by factors that give them a length of at most kLongest, and rounded. So
// by Cauchy-Schwarz no sum of products overflows 32 bits. Of n inputs, a product is off by at most
// sqrt(n) / kLongest of the two lengths, and with roundings to both sides by much less. Where a processor
// adds products of two pairs of such integers in one instruction (AVX-512 VNNI), this takes half the time
// of float32.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace headwise {

constexpr int64_t kPanel = 32;          // columns that are multiplied at once
constexpr float kLongest = 46000;       // a little below sqrt(2^31), as rounding lengthens
constexpr float kLargest = 32767;       // of 16 bits
constexpr int64_t kMostInputs = 65536;  // up to there, rounding adds less than 128 to a length

struct Int16Product {
    const float* rows;       // [count, inputs]
    float* out;              // [count, outputs]
    const int16_t* weights;  // [panels, pairs of inputs, kPanel, 2]
    const float* scales;     // of columns, [panels, kPanel]
    const float* bias;       // [panels, kPanel]
    int64_t count, inputs, outputs;
};

namespace {

// Numbers as integers; returns what those are to be multiplied by again: 0 for numbers too small to be told
// from 0, NaN where one is not finite or beyond 1e18.
inline float to_int16(const float* numbers, int64_t count, int16_t* to) {
    constexpr float rounder = 12582912;  // 1.5 * 2^23: the sum has no place for fractions
    constexpr int width = 16;            // sums that run in vectors
    float squares[width] = {}, tops[width] = {};
    const auto add = [&](int lane, float number) {
        const float size = std::fabs(number);
        squares[lane] += size * size;
        tops[lane] = size > tops[lane] ? size : tops[lane];
    };
    int64_t k = 0;
    for (; k + width <= count; k += width)
        for (int lane = 0; lane < width; ++lane) add(lane, numbers[k + lane]);
    for (; k < count; ++k) add(0, numbers[k]);
    for (int lane = 1; lane < width; ++lane) {
        squares[0] += squares[lane];
        tops[0] = tops[lane] > tops[0] ? tops[lane] : tops[0];
    }
    const float length = std::sqrt(squares[0]), top = tops[0];
    if (!(length < HUGE_VALF)) return NAN;
    const float factor = kLongest * top < kLargest * length ? kLongest / length : kLargest / top;
    if (!(factor < HUGE_VALF)) return 0;
    for (k = 0; k < count; ++k) {
        const float shifted = numbers[k] * factor + rounder;
        int32_t bits;
        std::memcpy(&bits, &shifted, sizeof bits);
        to[k] = static_cast<int16_t>(bits);
    }
    return 1 / factor;
}

}  // namespace

// Builds of the kernel: with 16-bit products, and for all processors.
struct Vnni;
struct Plain;

template <typename Processor>
void multiply_int16(const Int16Product& product);

}  // namespace headwise
