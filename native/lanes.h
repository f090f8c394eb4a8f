// Lanes<W>: W numbers that are computed at once, as wide as the processor can.
#pragma once

#include <cstdint>
#include <cstring>

namespace headwise {

template <int W>
struct Lanes {
#if defined(__GNUC__)
    typedef float Values __attribute__((vector_size(W * sizeof(float))));
    Values values;

    void operator+=(const Lanes& more) { values += more.values; }
    void operator*=(const Lanes& factors) { values *= factors.values; }
    void add_product(float factor, const Lanes& more) { values += factor * more.values; }
    void add_products(const Lanes& first, const Lanes& second) { values += first.values * second.values; }
#else
    float values[W];

    void operator+=(const Lanes& more) {
        for (int lane = 0; lane < W; ++lane) values[lane] += more.values[lane];
    }
    void operator*=(const Lanes& factors) {
        for (int lane = 0; lane < W; ++lane) values[lane] *= factors.values[lane];
    }
    void add_product(float factor, const Lanes& more) {
        for (int lane = 0; lane < W; ++lane) values[lane] += factor * more.values[lane];
    }
    void add_products(const Lanes& first, const Lanes& second) {
        for (int lane = 0; lane < W; ++lane) values[lane] += first.values[lane] * second.values[lane];
    }
#endif

    static Lanes load(const float* place) {
        Lanes lanes;
        std::memcpy(&lanes.values, place, sizeof lanes.values);
        return lanes;
    }
    void store(float* place) const { std::memcpy(place, &values, sizeof values); }
};

// The dot product of two vectors.
inline float dot_product(const float* first, const float* second, int64_t size) {
    constexpr int kWidth = 16;
    Lanes<kWidth> sums[2] = {};  // two, as an addition waits for the one before it
    int64_t at = 0;
    for (; at + 2 * kWidth <= size; at += 2 * kWidth)
        for (int sum = 0; sum < 2; ++sum)
            sums[sum].add_products(Lanes<kWidth>::load(first + at + sum * kWidth),
                                   Lanes<kWidth>::load(second + at + sum * kWidth));
    sums[0] += sums[1];
    float total = 0, lanes[kWidth];
    sums[0].store(lanes);
    for (int lane = 0; lane < kWidth; ++lane) total += lanes[lane];
    for (; at < size; ++at) total += first[at] * second[at];
    return total;
}

}  // namespace headwise
