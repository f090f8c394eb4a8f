// The kernel of int16_products.h: blocks of rows and panels of columns that stay in the caches, and sums in
// registers.
#include "int16_products.h"

#if defined(__AVX512VNNI__)
#include <immintrin.h>
#endif

namespace headwise {
namespace {

constexpr int kRows = 12;       // whose sums are in registers: two each, of 32
constexpr int64_t kBlock = 96;  // rows that are rounded at once

#if defined(__AVX512VNNI__)
constexpr int kWidth = 16;
typedef int32_t Sums __attribute__((vector_size(64)));

inline Sums load_pairs(const int16_t* from) {
    Sums pairs;
    std::memcpy(&pairs, from, sizeof pairs);
    return pairs;
}
inline Sums repeat_pair(const int16_t* from) {
    int32_t pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair - Sums{};
}
inline Sums add_products(Sums sums, Sums a, Sums b) {
    return (Sums)_mm512_dpwssd_epi32((__m512i)sums, (__m512i)a, (__m512i)b);
}
inline void to_numbers(Sums sums, float* to) { _mm512_storeu_ps(to, _mm512_cvtepi32_ps((__m512i)sums)); }
#else
constexpr int kWidth = 4;
struct Sums {
    int32_t sums[kWidth];
};
struct Pairs {
    int16_t numbers[2 * kWidth];
};

inline Pairs load_pairs(const int16_t* from) {
    Pairs pairs;
    std::memcpy(&pairs, from, sizeof pairs);
    return pairs;
}
inline Pairs repeat_pair(const int16_t* from) {
    Pairs pairs;
    for (int i = 0; i < 2 * kWidth; ++i) pairs.numbers[i] = from[i % 2];
    return pairs;
}
inline Sums add_products(Sums sums, const Pairs& a, const Pairs& b) {
    for (int i = 0; i < kWidth; ++i)
        sums.sums[i] += a.numbers[2 * i] * b.numbers[2 * i] + a.numbers[2 * i + 1] * b.numbers[2 * i + 1];
    return sums;
}
inline void to_numbers(const Sums& sums, float* to) {
    for (int i = 0; i < kWidth; ++i) to[i] = static_cast<float>(sums.sums[i]);
}
#endif

// The sums of the products of kRows rows, [kRows, pairs, 2], with two vectors of columns of a panel.
inline void sum_panel(const int16_t* rows, int64_t pairs, const int16_t* panel, float* numbers) {
    Sums sums[kRows][2];
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = Sums{};
    for (int64_t pair = 0; pair < pairs; ++pair, panel += 2 * kPanel) {
        const auto first = load_pairs(panel), second = load_pairs(panel + 2 * kWidth);
#pragma GCC unroll 12
        for (int r = 0; r < kRows; ++r) {
            const auto factors = repeat_pair(rows + (r * pairs + pair) * 2);
            sums[r][0] = add_products(sums[r][0], factors, first);
            sums[r][1] = add_products(sums[r][1], factors, second);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
        to_numbers(sums[r][0], numbers + r * kPanel);
        to_numbers(sums[r][1], numbers + r * kPanel + kWidth);
    }
}

}  // namespace

template <>
void multiply_int16<HEADWISE_PROCESSOR>(const Int16Product& product) {
    const int64_t pairs = (product.inputs + 1) / 2, panels = (product.outputs + kPanel - 1) / kPanel;
    Buffer<int16_t> rows(kBlock * pairs * 2);
    float inverses[kBlock], numbers[kRows * kPanel];
    for (int64_t first = 0; first < product.count; first += kBlock) {
        const int64_t count = smaller_of(product.count - first, kBlock);
        for (int64_t row = 0; row < count; ++row)
            inverses[row] = to_int16(product.rows + (first + row) * product.inputs, product.inputs,
                                     rows + row * pairs * 2);
        for (int64_t panel = 0; panel < panels; ++panel) {
            const int16_t* weights = product.pairs + panel * pairs * kPanel * 2;
            const float *scales = product.scales + panel * kPanel, *bias = product.bias + panel * kPanel;
            const int64_t width = smaller_of(product.outputs - panel * kPanel, kPanel);
            for (int64_t row = 0; row < count; row += kRows) {
                for (int64_t part = 0; part < kPanel; part += 2 * kWidth)
                    sum_panel(rows + row * pairs * 2, pairs, weights + part * 2, numbers + part);
                for (int64_t r = 0; r < kRows && row + r < count; ++r) {
                    float* out = product.out + (first + row + r) * product.outputs + panel * kPanel;
                    const float inverse = inverses[row + r];
                    for (int64_t c = 0; c < width; ++c)
                        out[c] = numbers[r * kPanel + c] * (inverse * scales[c]) + bias[c];
                }
            }
        }
    }
}

}  // namespace headwise
