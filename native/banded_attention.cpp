// Attention within bands, on texts as they lie: see attention.h, and headwise.nn.attention.cpu.banded.
//
// The gradients of queries are computed with queries in the lanes, those of keys and values with keys in
// the lanes: two more products than in one pass, but every row of a gradient has one owner, so that no
// result depends on threads.
#include <type_traits>

#include "attention.h"
#include "lane_blocks.h"

namespace headwise {
namespace {

// Vectors in a block: narrow bands waste less of a narrow block.
int columns_of(const BandedItem& item) { return item.left + item.right >= 16 && item.length > 16 ? 2 : 1; }

// Adds the slope to logits [rows, width], and takes out what is not seen. Row r is the position `first +
// r`, lane i the position `place + i`; they see each other where the lane is at most `before` in front of
// the row and at most `after` behind it.
template <typename T, int columns>
void restrict_to_band(T* tile, int64_t rows, int64_t first, int64_t place, int64_t before, int64_t after,
                      double slope) {
    constexpr int64_t n = lanes<T>, width = columns * n;
    const bool inside = place >= first + rows - 1 - after && place + width - 1 <= first + before;
    if (inside && slope == 0) return;
    const Vector<T> hidden = splat(static_cast<T>(-INFINITY)), steep = splat(static_cast<T>(slope));
    const Vector<T> least = splat(static_cast<T>(-after)), most = splat(static_cast<T>(before));
    for (int64_t at = 0; at < width; at += n) {
        for (int64_t r = 0; r < rows; ++r) {
            const Vector<T> away = counting<T>() + static_cast<T>(place + at - first - r);
            Vector<T> x = load(tile + r * width + at);
            if (slope != 0) x -= steep * larger<T>(away, -away);
            if (!inside) x = choose((away >= least) & (away <= most), x, hidden);
            store(tile + r * width + at, x);
        }
    }
}

// Has what the first block of the next item needs brought to the caches.
template <typename T>
void prefetch_item(const BandedCall<T>& call, const BandedItem& item, int64_t width) {
    const int64_t begin = item.start + item.begin, end = smaller_of(item.start + item.end, begin + width);
    prefetch_rows(call.query, item.head, begin, end, call.size);
    prefetch_rows(call.key, item.head, begin, end, call.size);
    prefetch_rows(call.value, item.value_head, begin, end, call.value_size);
}

// Has what the next block of the item needs brought to the caches: rows from `place`, keys from `stop`.
template <typename T>
void prefetch_block(const BandedCall<T>& call, const BandedItem& item, int64_t place, int64_t stop,
                    int64_t width) {
    const int64_t start = item.start, end = smaller_of(item.length, stop + width);
    prefetch_rows(call.query, item.head, start + place, start + smaller_of(item.end, place + width),
                  call.size);
    prefetch_rows(call.key, item.head, start + larger_of(stop, 0), start + end, call.size);
    prefetch_rows(call.value, item.value_head, start + larger_of(stop, 0), start + end, call.value_size);
}

template <typename T>
struct ForwardMemory {
    Buffer<T> block, sums, tile, tops, totals;

    explicit ForwardMemory(const BandedCall<T>& call)
        : block(2 * lanes<T> * call.size),
          sums(2 * lanes<T> * call.value_size),
          tile(2 * lanes<T> * kTile),
          tops(2 * lanes<T>),
          totals(2 * lanes<T>) {}
};

template <typename T, int columns>
void forward_item(const BandedCall<T>& call, const BandedItem& item, ForwardMemory<T>& memory) {
    constexpr int64_t n = lanes<T>, width = columns * n;
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(call.size)));
    T *block = memory.block, *sums = memory.sums, *tile = memory.tile;
    T *tops = memory.tops, *totals = memory.totals;
    const T* keys = call.key.at(item.start, item.head);
    const T* values = call.value.at(item.start, item.value_head);
    const int64_t statistics = item.head * call.statistics.rows + item.start;
    for (int64_t place = item.begin; place < item.end; place += width) {
        const int64_t rows = smaller_of(width, item.end - place);
        const int64_t stop = smaller_of(item.length, place + rows + item.right);
        rows_to_lanes(call.query, item.start + place, item.head, rows, call.size, call.size, scale, block,
                      width);
        clear(totals, width);
        for (int64_t at = 0; at < width; at += n) store(tops + at, splat(static_cast<T>(kLowest)));
        prefetch_block(call, item, place + width, stop, width);
        const int64_t start = larger_of(0, place - item.left);
        if (start >= stop) clear(sums, width * call.value_size);
        for (int64_t first = start; first < stop; first += kTile) {
            const int64_t count = smaller_of(kTile, stop - first);
            products<T, columns>(keys + first * call.key.row_step, call.key.row_step, call.key.step, block,
                                 width, call.size, tile, count, false);
            restrict_to_band<T, columns>(tile, count, first, place, item.left, item.right,
                                         call.slopes[item.head]);
            softmax<T, columns>(tile, count, tops, totals, sums, call.value_size, first == start);
            products<T, columns>(values + first * call.value.row_step, call.value.step, call.value.row_step,
                                 tile, width, count, sums, call.value_size, first > start);
        }
        for (int64_t i = 0; i < width; ++i) {
            const bool sees_nothing = totals[i] == 0;  // then its output is 0
            totals[i] = sees_nothing ? 0 : 1 / totals[i];
            if (i >= rows) continue;
            call.statistics.tops[statistics + place + i] = sees_nothing ? 0 : tops[i];
            call.statistics.inverses[statistics + place + i] = totals[i];
        }
        for (int64_t at = 0; at < width; at += n) {
            const Vector<T> inverse = load(totals + at);
            for (int64_t c = 0; c < call.value_size; ++c)
                store(sums + c * width + at, load(sums + c * width + at) * inverse);
        }
        lanes_to_rows(sums, width, rows, call.value_size, T{1}, call.out, item.start + place,
                      item.value_head);
    }
}

template <typename T>
struct BackwardMemory {
    Buffer<T> block, value_block, sums, value_sums, weights, tile, deltas, lane_numbers;

    explicit BackwardMemory(const BandedCall<T>& call)
        : block(2 * lanes<T> * call.size),
          value_block(2 * lanes<T> * call.value_size),
          sums(2 * lanes<T> * call.size),
          value_sums(2 * lanes<T> * call.value_size),
          weights(2 * lanes<T> * kTile),
          tile(2 * lanes<T> * kTile),
          deltas(longest_of(call)),
          lane_numbers(6 * lanes<T>) {}

    static int64_t longest_of(const BandedCall<T>& call) {
        int64_t longest = 0;
        for (int64_t i = 0; i < call.count; ++i) longest = larger_of(longest, call.items[i].length);
        return longest;
    }
};

// The gradients of the item's queries: lanes are queries, rows are keys. `deltas` begin at the position
// `low`.
template <typename T, int columns>
void query_gradients(const BandedCall<T>& call, const BandedItem& item, BackwardMemory<T>& memory,
                     int64_t low, T scale) {
    constexpr int64_t width = columns * lanes<T>;
    T *block = memory.block, *value_block = memory.value_block, *sums = memory.sums;
    T *weights = memory.weights, *tile = memory.tile, *deltas = memory.deltas;
    T *tops = memory.lane_numbers, *inverses = tops + width, *lane_deltas = inverses + width;
    const int64_t statistics = item.head * call.statistics.rows + item.start;
    for (int64_t place = item.begin; place < item.end; place += width) {
        const int64_t rows = smaller_of(width, item.end - place);
        const int64_t stop = smaller_of(item.length, place + rows + item.right);
        rows_to_lanes(call.query, item.start + place, item.head, rows, call.size, call.size, scale, block,
                      width);
        rows_to_lanes(call.out_gradient, item.start + place, item.value_head, rows, call.value_size,
                      call.value_size, T{1}, value_block, width);
        fill_lanes(call.statistics.tops + statistics + place, rows, tops, width);
        fill_lanes(call.statistics.inverses + statistics + place, rows, inverses, width);
        fill_lanes(deltas + place - low, rows, lane_deltas, width);
        clear(sums, width * call.size);
        prefetch_block(call, item, place + width, stop, width);
        for (int64_t first = larger_of(0, place - item.left); first < stop; first += kTile) {
            const int64_t count = smaller_of(kTile, stop - first);
            const T* keys = call.key.at(item.start + first, item.head);
            const T* values = call.value.at(item.start + first, item.value_head);
            products<T, columns>(keys, call.key.row_step, call.key.step, block, width, call.size, weights,
                                 count, false);
            restrict_to_band<T, columns>(weights, count, first, place, item.left, item.right,
                                         call.slopes[item.head]);
            weigh<T, columns, true>(weights, count, tops, inverses);
            products<T, columns>(values, call.value.row_step, call.value.step, value_block, width,
                                 call.value_size, tile, count, false);
            logit_gradients<T, columns, true>(weights, tile, count, lane_deltas);
            products<T, columns>(keys, call.key.step, call.key.row_step, tile, width, count, sums,
                                 call.size, true);
        }
        lanes_to_rows(sums, width, rows, call.size, scale, call.gradients.query, item.start + place,
                      item.head);
    }
}

// The gradients of the item's keys and values: lanes are keys, rows are queries.
template <typename T, int columns>
void key_gradients(const BandedCall<T>& call, const BandedItem& item, BackwardMemory<T>& memory,
                   int64_t low, T scale) {
    constexpr int64_t width = columns * lanes<T>;
    T *block = memory.block, *value_block = memory.value_block;
    T *sums = memory.sums, *value_sums = memory.value_sums;
    T *weights = memory.weights, *tile = memory.tile, *deltas = memory.deltas;
    const int64_t statistics = item.head * call.statistics.rows + item.start;
    for (int64_t place = item.begin; place < item.end; place += width) {
        const int64_t rows = smaller_of(width, item.end - place);
        const int64_t stop = smaller_of(item.length, place + rows + item.left);
        rows_to_lanes(call.key, item.start + place, item.head, rows, call.size, call.size, scale, block,
                      width);
        rows_to_lanes(call.value, item.start + place, item.value_head, rows, call.value_size,
                      call.value_size, T{1}, value_block, width);
        clear(sums, width * call.size);
        clear(value_sums, width * call.value_size);
        for (int64_t first = larger_of(0, place - item.right); first < stop; first += kTile) {
            const int64_t count = smaller_of(kTile, stop - first);
            const T* queries = call.query.at(item.start + first, item.head);
            const T* gradients = call.out_gradient.at(item.start + first, item.value_head);
            products<T, columns>(queries, call.query.row_step, call.query.step, block, width, call.size,
                                 weights, count, false);
            restrict_to_band<T, columns>(weights, count, first, place, item.right, item.left,
                                         call.slopes[item.head]);
            weigh<T, columns, false>(weights, count, call.statistics.tops + statistics + first,
                                     call.statistics.inverses + statistics + first);
            products<T, columns>(gradients, call.out_gradient.step, call.out_gradient.row_step, weights,
                                 width, count, value_sums, call.value_size, true);
            products<T, columns>(gradients, call.out_gradient.row_step, call.out_gradient.step, value_block,
                                 width, call.value_size, tile, count, false);
            logit_gradients<T, columns, false>(weights, tile, count, deltas + first - low);
            products<T, columns>(queries, call.query.step, call.query.row_step, tile, width, count, sums,
                                 call.size, true);
        }
        lanes_to_rows(sums, width, rows, call.size, scale, call.gradients.key, item.start + place,
                      item.head);
        lanes_to_rows(value_sums, width, rows, call.value_size, T{1}, call.gradients.value,
                      item.start + place, item.value_head);
    }
}

template <typename T, int columns>
void backward_item(const BandedCall<T>& call, const BandedItem& item, BackwardMemory<T>& memory) {
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(call.size)));
    // The queries that see the keys of this item, and those that it owns.
    const int64_t low = smaller_of(item.begin, larger_of(0, item.begin - item.right));
    const int64_t high = larger_of(item.end, smaller_of(item.length, item.end + item.left));
    row_products<T>(call.out, call.out_gradient, item.value_head, item.start + low, item.start + high,
                    call.value_size, memory.deltas);
    query_gradients<T, columns>(call, item, memory, low, scale);
    key_gradients<T, columns>(call, item, memory, low, scale);
}

// Runs each item with the number of vectors that are its lanes, `std::integral_constant<int, 1 or 2>`; the
// rows of the next item are on their way meanwhile.
template <typename T, typename Run>
void for_each_item(const BandedCall<T>& call, const Run& run) {
    for (int64_t i = 0; i < call.count; ++i) {
        const BandedItem& item = call.items[i];
        const int columns = columns_of(item);
        if (i + 1 < call.count) prefetch_item(call, call.items[i + 1], columns * lanes<T>);
        if (columns == 2)
            run(item, std::integral_constant<int, 2>{});
        else
            run(item, std::integral_constant<int, 1>{});
    }
}

}  // namespace

template <typename Processor, typename T>
void banded_forward(const BandedCall<T>& call) {
    ForwardMemory<T> memory(call);
    for_each_item(call, [&](const BandedItem& item, auto columns) {
        forward_item<T, decltype(columns)::value>(call, item, memory);
    });
}

template <typename Processor, typename T>
void banded_backward(const BandedCall<T>& call) {
    BackwardMemory<T> memory(call);
    for_each_item(call, [&](const BandedItem& item, auto columns) {
        backward_item<T, decltype(columns)::value>(call, item, memory);
    });
}

template <typename Processor>
int64_t vector_bytes() {
    return HEADWISE_VECTOR_BYTES;
}

template int64_t vector_bytes<HEADWISE_PROCESSOR>();
template void banded_forward<HEADWISE_PROCESSOR>(const BandedCall<float>&);
template void banded_forward<HEADWISE_PROCESSOR>(const BandedCall<double>&);
template void banded_backward<HEADWISE_PROCESSOR>(const BandedCall<float>&);
template void banded_backward<HEADWISE_PROCESSOR>(const BandedCall<double>&);

}  // namespace headwise
