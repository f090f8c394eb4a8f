// Products of rows with a matrix in 16-bit integers, for prediction.
//
// A row and a column are multiplied by factors that give them a length of at most kLongest, and rounded. So
// by Cauchy-Schwarz no sum of products overflows 32 bits. Of n inputs, a product is off by at most
// sqrt(n) / kLongest of the two lengths, and with roundings to both sides by much less. Where a processor
// adds products of two pairs of such integers in one instruction (AVX-512 VNNI), this takes half the time
// of float32; where it multiplies tiles of bytes (AMX), a third. The sums are the same integers everywhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "vectors.h"

namespace headwise {

constexpr int64_t kPanel = 32;          // columns that are multiplied at once
constexpr float kLongest = 46000;       // a little below sqrt(2^31), as rounding lengthens
constexpr float kLargest = 32767;       // of 16 bits
constexpr int64_t kMostInputs = 65536;  // up to there, rounding adds less than 128 to a length

// Tiles of AMX: 16 rows of 64 bytes. Bytes of inputs lie in rows of texts; those of weights in fours of
// inputs.
constexpr int64_t kTileRows = 16, kTileInputs = 64, kTileBytes = kTileRows * kTileInputs;

struct alignas(64) CacheLine {
    uint8_t bytes[kTileInputs];
};

struct Int16Product {
    const float* rows;       // [count, inputs]
    float* out;              // [count, outputs]
    const int16_t* pairs;    // weights for loops: [panels, pairs of inputs, kPanel, 2]
    const CacheLine* tiles;  // weights for AMX: [outputs / 16, inputs / 64, high and low bytes, 16, 16, 4]
    const float* scales;     // of columns, [panels, kPanel]
    const float* bias;       // [panels, kPanel]
    int64_t count, inputs, outputs;
};

namespace {

// Numbers as integers; returns what those are to be multiplied by again: 0 for numbers too small to be told
// from 0, NaN where one is not finite or beyond 1e18.
inline float to_int16(const float* numbers, int64_t count, int16_t* to) {
    constexpr float rounder = 12582912;  // 1.5 * 2^23: the sum has no place for fractions
    constexpr int64_t width = lanes<float>;
    Vector<float> squares[2] = {}, tops[2] = {};
    const auto add = [&](int half, Vector<float> part) {
        squares[half] += part * part;
        tops[half] = larger<float>(tops[half], larger<float>(part, -part));
    };
    int64_t k = 0;
    for (; k + 2 * width <= count; k += 2 * width) {
        add(0, load(numbers + k));
        add(1, load(numbers + k + width));
    }
    for (; k < count; k += width) {
        Vector<float> rest{};
        std::memcpy(&rest, numbers + k, static_cast<size_t>(smaller_of(width, count - k)) * sizeof(float));
        add(0, rest);
    }
    const float length = std::sqrt(sum_across<float>(squares[0] + squares[1]));
    const float top = largest_across<float>(larger<float>(tops[0], tops[1]));
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

// Builds of the kernel: with tiles, with 16-bit products, and for all processors.
struct Amx;
struct Vnni;
struct Plain;

template <typename Processor>
void multiply_int16(const Int16Product& product);

}  // namespace headwise
