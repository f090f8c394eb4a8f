// What the kernels of attention consist of: products, the softmax of a tile of logits, and rows that move
// into the lanes of a block and back.
//
// A block [size, width] has a query (or a key) in each lane and a feature in each row; a tile [keys, width]
// has a logit or weight for each key and lane; `width` is one or two vectors, the `columns`.
#pragma once

#include "attention.h"
#include "vectors.h"

namespace headwise {
namespace {

constexpr int64_t kTile = 64;      // keys at a time
constexpr double kLowest = -3e38;  // the maximum of no logits: finite, as -inf - -inf is NaN

// As many sums as there are registers for: 32 of them where they are wide.
constexpr int kMostRows = HEADWISE_VECTOR_BYTES == 64 ? 8 : 4;

template <typename T, int rows, int columns>
inline void product_rows(const T* a, int64_t a_next, int64_t a_term, const T* b, int64_t b_term,
                         int64_t terms, T* out, bool add) {
    constexpr int64_t n = lanes<T>;
    Vector<T> sums[rows][columns];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
        for (int c = 0; c < columns; ++c)
            sums[r][c] = add ? load(out + (r * columns + c) * n) : Vector<T>{};
    for (int64_t term = 0; term < terms; ++term, a += a_term, b += b_term) {
        Vector<T> factors[columns];
#pragma GCC unroll 2
        for (int c = 0; c < columns; ++c) factors[c] = load(b + c * n);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
            for (int c = 0; c < columns; ++c) sums[r][c] += a[r * a_next] * factors[c];
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
        for (int c = 0; c < columns; ++c) store(out + (r * columns + c) * n, sums[r][c]);
}

// out[r] = sum over t of a[r, t] * b[t] for vectors b[t] and out[r] of so many columns, where a[r, t] is
// a[r * a_next + t * a_term] and b[t] begins at t * b_term. With `add`, to what `out` holds.
template <typename T, int columns>
HEADWISE_NOINLINE void products(const T* a, int64_t a_next, int64_t a_term, const T* b, int64_t b_term,
                                int64_t terms, T* out, int64_t rows, bool add) {
    constexpr int most = columns == 1 ? 8 : kMostRows;
    int64_t r = 0;
    const auto advance = [&](int64_t done) {
        r += done;
        a += done * a_next;
        out += done * columns * lanes<T>;
    };
    for (; r + most <= rows; advance(most))
        product_rows<T, most, columns>(a, a_next, a_term, b, b_term, terms, out, add);
    if constexpr (most == 8)
        if (r + 4 <= rows) {
            product_rows<T, 4, columns>(a, a_next, a_term, b, b_term, terms, out, add);
            advance(4);
        }
    if (r + 2 <= rows) {
        product_rows<T, 2, columns>(a, a_next, a_term, b, b_term, terms, out, add);
        advance(2);
    }
    if (r < rows) product_rows<T, 1, columns>(a, a_next, a_term, b, b_term, terms, out, add);
}

// Logits to weights relative to each lane's maximum so far, `tops`, and what was summed before to the same:
// the weights, `totals`, and the weighted values, `sums` [size, width]; with `first`, no values were
// summed.
template <typename T, int columns>
inline void softmax(T* tile, int64_t rows, T* tops, T* totals, T* sums, int64_t size, bool first = false) {
    constexpr int64_t n = lanes<T>, width = columns * n;
    for (int64_t at = 0; at < width; at += n) {
        const Vector<T> before = load(tops + at);
        Vector<T> top = before;
        for (int64_t r = 0; r < rows; ++r) top = larger<T>(load(tile + r * width + at), top);
        Vector<T> total = {};
        for (int64_t r = 0; r < rows; ++r) {
            const Vector<T> weight = exp<T>(load(tile + r * width + at) - top);
            store(tile + r * width + at, weight);
            total += weight;
        }
        const Vector<T> fade = exp<T>(before - top);
        store(tops + at, top);
        store(totals + at, load(totals + at) * fade + total);
        if (first) continue;
        for (int64_t c = 0; c < size; ++c) store(sums + c * width + at, load(sums + c * width + at) * fade);
    }
}

// Logits to weights, from the maximum and 1 / sum of each lane or, if not `by_lane`, of each row.
template <typename T, int columns, bool by_lane>
inline void weigh(T* tile, int64_t rows, const T* tops, const T* inverses) {
    constexpr int64_t n = lanes<T>, width = columns * n;
    for (int64_t at = 0; at < width; at += n) {
        for (int64_t r = 0; r < rows; ++r) {
            const Vector<T> top = by_lane ? load(tops + at) : splat(tops[r]);
            const Vector<T> inverse = by_lane ? load(inverses + at) : splat(inverses[r]);
            T* x = tile + r * width + at;
            store(x, exp<T>(load(x) - top) * inverse);
        }
    }
}

// The gradients of the weights, in `tile`, to those of the logits.
template <typename T, int columns, bool by_lane>
inline void logit_gradients(const T* weights, T* tile, int64_t rows, const T* deltas) {
    constexpr int64_t n = lanes<T>, width = columns * n;
    for (int64_t at = 0; at < width; at += n) {
        for (int64_t r = 0; r < rows; ++r) {
            const Vector<T> delta = by_lane ? load(deltas + at) : splat(deltas[r]);
            T* x = tile + r * width + at;
            store(x, load(weights + r * width + at) * (load(x) - delta));
        }
    }
}

// The first numbers of a vector; the last of them also in the lanes that are left.
template <typename T>
inline void fill_lanes(const T* from, int64_t count, T* to, int64_t width) {
    for (int64_t i = 0; i < width; ++i) to[i] = from[smaller_of(i, count - 1)];
}

template <typename T>
inline void clear(T* numbers, int64_t count) {
    std::memset(numbers, 0, count * sizeof(T));
}

// Has the features of a row brought to the caches.
template <typename T>
inline void prefetch_row(const T* row, int64_t size) {
    for (int64_t c = 0; c < size; c += 64 / static_cast<int64_t>(sizeof(T))) prefetch(row + c);
    prefetch(row + size - 1);
}

// Has the rows from `first` to `end` brought to the caches. They are far apart, with the other heads
// between them, so that the processor does not see by itself where to go on.
template <typename T>
inline void prefetch_rows(const Rows<T>& rows, int64_t head, int64_t first, int64_t end, int64_t size) {
    for (int64_t i = first; i < end; ++i) prefetch_row(rows.at(i, head), size);
}

template <typename T>
inline T dot(const T* a, int64_t a_step, const T* b, int64_t b_step, int64_t size) {
    Vector<T> sums = {};
    int64_t c = 0;
    if (a_step == 1 && b_step == 1)
        for (; c + lanes<T> <= size; c += lanes<T>) sums += load(a + c) * load(b + c);
    T total = c ? sum_across<T>(sums) : 0;
    for (; c < size; ++c) total += a[c * a_step] * b[c * b_step];
    return total;
}

// out[i - first] = the product of row i of `a` with that of `b`, for the rows from `first` to `end`.
template <typename T>
inline void row_products(const Rows<T>& a, const Rows<const T>& b, int64_t head, int64_t first, int64_t end,
                         int64_t size, T* out) {
    for (int64_t i = first; i < end; ++i) {
        if (i + 16 < end) {
            prefetch_row(a.at(i + 16, head), size);
            prefetch_row(b.at(i + 16, head), size);
        }
        out[i - first] = dot<T>(a.at(i, head), a.step, b.at(i, head), b.step, size);
    }
}

// `count` neighbouring rows into the lanes of a block [padded, width], times `factor`; the last row also
// into the lanes that are left, 0 into the features that are.
template <typename T>
HEADWISE_NOINLINE void rows_to_lanes(const Rows<const T>& rows, int64_t first, int64_t head, int64_t count,
                                     int64_t size, int64_t padded, T factor, T* block, int64_t width) {
    constexpr int64_t n = lanes<T>;
    if (rows.step == 1 && size >= n) {
        for (int64_t i = 0; i < width; i += n) {
            const T* from = rows.at(first + smaller_of(i, count - 1), head);
            const int64_t lane_count = larger_of(1, smaller_of(n, count - i));
            for (int64_t done = 0; done < size; done += n) {
                const int64_t c = smaller_of(done, size - n);  // the last ones may be done twice
                transpose(from + c, rows.row_step, lane_count, block + c * width + i, width, n, factor);
            }
        }
    } else {
        for (int64_t i = 0; i < width; ++i) {
            const T* from = rows.at(first + smaller_of(i, count - 1), head);
            for (int64_t c = 0; c < size; ++c) block[c * width + i] = from[c * rows.step] * factor;
        }
    }
    clear(block + size * width, (padded - size) * width);
}

// The lanes of a block [size, width] back into `count` rows, times `factor`.
template <typename T>
HEADWISE_NOINLINE void lanes_to_rows(const T* block, int64_t width, int64_t count, int64_t size, T factor,
                                     const Rows<T>& rows, int64_t first, int64_t head) {
    constexpr int64_t n = lanes<T>;
    if (rows.step == 1 && size >= n) {
        for (int64_t i = 0; i < count; i += n) {
            for (int64_t done = 0; done < size; done += n) {
                const int64_t c = smaller_of(done, size - n);
                transpose(block + c * width + i, width, n, rows.at(first + i, head) + c, rows.row_step,
                          smaller_of(n, count - i), factor);
            }
        }
        return;
    }
    for (int64_t i = 0; i < count; ++i) {
        T* to = rows.at(first + i, head);
        for (int64_t c = 0; c < size; ++c) to[c * rows.step] = block[c * width + i] * factor;
    }
}

}  // namespace
}  // namespace headwise
