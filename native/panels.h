// Rows of queries, keys and values that are far apart, copied beside each other: in panels
// [size / panel, room, panel] of one or two vectors, the most that `products` takes. Also what is dropped.
#pragma once

#include "lane_blocks.h"

namespace headwise {
namespace {

// How the features of a head are cut into panels: `padded` is the size in whole panels.
template <typename T>
struct Panels {
    int64_t size, panel, padded;

    explicit Panels(int64_t size)
        : size(size),
          panel(size <= lanes<T> ? lanes<T> : 2 * lanes<T>),
          padded((size + panel - 1) / panel * panel) {}
};

// `products` for vectors of one panel.
template <typename T>
inline void panel_products(const T* a, int64_t a_next, int64_t a_term, const T* b, int64_t terms, T* out,
                           int64_t rows, int64_t panel, bool add) {
    if (panel == lanes<T>)
        products<T, 1>(a, a_next, a_term, b, panel, terms, out, rows, add);
    else
        products<T, 2>(a, a_next, a_term, b, panel, terms, out, rows, add);
}

// A row as row `r` of panels with room for `room` rows, times `factor`.
template <typename T>
inline void copy_row(const T* from, int64_t step, const Panels<T>& panels, int64_t room, int64_t r,
                     T factor, T* out) {
    for (int64_t start = 0; start < panels.size; start += panels.panel) {
        const int64_t count = smaller_of(panels.panel, panels.size - start);
        T* to = out + start * room + r * panels.panel;
        int64_t c = 0;
        if (step == 1)
            for (; c + lanes<T> <= count; c += lanes<T>) store(to + c, load(from + start + c) * factor);
        for (; c < count; ++c) to[c] = from[(start + c) * step] * factor;
    }
}

// The rows with these numbers into panels.
template <typename T, typename Number>
inline void copy_rows(const Rows<const T>& rows, int64_t head, const Number* numbers, int64_t count,
                      const Panels<T>& panels, int64_t room, T* out) {
    for (int64_t r = 0; r < count; ++r)
        copy_row(rows.at(numbers[r], head), rows.step, panels, room, r, T{1}, out);
}

// `count` neighbouring rows into panels, times `factor`; the last one also where more would stand.
template <typename T>
inline void copy_neighbours(const Rows<const T>& rows, int64_t head, int64_t first, int64_t count,
                            const Panels<T>& panels, int64_t room, T factor, T* out) {
    for (int64_t r = 0; r < room; ++r)
        copy_row(rows.at(first + smaller_of(r, count - 1), head), rows.step, panels, room, r, factor, out);
}

// Has the rows with these numbers brought to the caches.
template <typename T>
inline void prefetch_numbered(const Rows<T>& rows, int64_t head, const int32_t* numbers, int64_t count,
                              int64_t size) {
    for (int64_t r = 0; r < count; ++r) prefetch_row(rows.at(numbers[r], head), size);
}

// Adds neighbouring numbers to a row.
template <typename T>
inline void add_row(const T* from, int64_t count, T* to, int64_t step) {
    int64_t c = 0;
    if (step == 1)
        for (; c + lanes<T> <= count; c += lanes<T>) store(to + c, load(to + c) + load(from + c));
    for (; c < count; ++c) to[c * step] += from[c];
}

// out = rows @ block, for `count` rows in panels and a block [padded, width].
template <typename T, int columns>
inline void score_rows(const T* rows, int64_t room, int64_t count, const T* block, const Panels<T>& panels,
                       T* out) {
    constexpr int64_t width = columns * lanes<T>;
    for (int64_t c = 0; c < panels.padded; c += panels.panel)
        products<T, columns>(rows + c * room, panels.panel, 1, block + c * width, width, panels.panel, out,
                             count, c > 0);
}

// A vector with 1 / (1 - probability) or 0 in its lanes, at random: 0 with the probability threshold /
// 2^32. The same seed and index (that of the first lane) give the same vector.
template <typename T>
inline Vector<T> dropout_factors(const Dropout& dropout, int64_t index) {
    using Words = typename VectorTypes<T>::Words;
    Words x;
    for (int64_t lane = 0; lane < lanes<T>; ++lane) x[lane] = static_cast<uint32_t>(lane);
    x = (x + static_cast<uint32_t>(index)) * 0x9E3779B1u + static_cast<uint32_t>(dropout.seed);
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;  // the end of MurmurHash3 (Appleby)
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    x = x ^ (x >> 16);
    const auto stays = mask_for<T>(x >= static_cast<uint32_t>(dropout.threshold));
    const T factor = static_cast<T>(4294967296.0 / (4294967296.0 - static_cast<double>(dropout.threshold)));
    return choose(stays, splat(factor), Vector<T>{});
}

}  // namespace
}  // namespace headwise
