// Attention along edges: see attention.h, and headwise.nn.attention.cpu.edges.
//
// The keys that any query of a tile sees come by in portions, copied from where they lie. Which lane sees
// which key, and by what relation, is a number for each key and lane: the row of `relations`
// [labels + 1, width] to add to the logit, query times label vector, or -inf in row 0.
#include "attention.h"
#include "panels.h"

namespace headwise {
namespace {

// Adds to logits [count, width] what each query makes of its relation to each key.
template <typename T>
void add_relations(T* tile, int64_t count, int64_t width, const int16_t* labels, const T* relations) {
    for (int64_t r = 0; r < count; ++r)
        for (int64_t i = 0; i < width; ++i)
            tile[r * width + i] += relations[labels[r * width + i] * width + i];
}

// The gradients of `add_relations`.
template <typename T>
void sum_relations(const T* tile, int64_t count, int64_t width, const int16_t* labels, T* relations) {
    for (int64_t r = 0; r < count; ++r)
        for (int64_t i = 0; i < width; ++i)
            relations[labels[r * width + i] * width + i] += tile[r * width + i];
}

// Weights in whole vectors; those that stay are enlarged to make up for the others.
template <typename T>
void drop_out(const T* from, T* to, int64_t count, const Dropout& dropout, int64_t index) {
    for (int64_t x = 0; x < count; x += lanes<T>)
        store(to + x, load(from + x) * dropout_factors<T>(dropout, index + x));
}

// -inf, and below it the label vectors times a block of queries: [labels + 1, width].
template <typename T, int columns>
void make_relations(const TileCall<T>& call, const Tile& tile, const T* block, T* relations) {
    constexpr int64_t width = columns * lanes<T>;
    for (int64_t at = 0; at < width; at += lanes<T>)
        store(relations + at, splat(static_cast<T>(-INFINITY)));
    products<T, columns>(call.table, call.size, 1, block, width, call.size, relations + width, tile.labels,
                         false);
}

// sums += rows^T @ weights, for rows in panels.
template <typename T, int columns>
void mix_rows(const T* rows, int64_t count, const T* weights, const Panels<T>& panels, T* sums) {
    constexpr int64_t width = columns * lanes<T>;
    for (int64_t c = 0; c < panels.padded; c += panels.panel)
        products<T, columns>(rows + c * kTile, 1, panels.panel, weights, width, count, sums + c * width,
                             panels.panel, true);
}

// Adds weights [count, width] times the rows of a tile's queries, in panels, to the rows of its keys.
template <typename T>
void add_to_keys(const T* weights, int64_t width, const T* query_rows, const Panels<T>& panels,
                 const int32_t* keys, int64_t count, const Rows<T>& target, int64_t head, T* memory) {
    for (int64_t c = 0; c < panels.size; c += panels.panel) {
        panel_products(weights, width, 1, query_rows + c * width, width, memory, count, panels.panel,
                       false);
        for (int64_t r = 0; r < count; ++r)
            add_row(memory + r * panels.panel, smaller_of(panels.panel, panels.size - c),
                    target.at(keys[r], head) + c * target.step, target.step);
    }
}

template <typename T, int columns>
void forward(const TileCall<T>& call) {
    constexpr int64_t n = lanes<T>, width = columns * n;
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(call.size)));
    const Panels<T> panels(call.size);
    Buffer<T> block(panels.padded * width), sums(panels.padded * width), tops(width), totals(width);
    Buffer<T> tile(kTile * width), rows(kTile * panels.padded), relations((call.table_rows + 1) * width);
    const Statistics<T>& statistics = call.statistics;
    for (int64_t number = call.first_tile; number < call.end_tile; ++number) {
        const Tile& here = call.tiles[number];
        if (number + 1 < call.end_tile) {
            const Tile& next = call.tiles[number + 1];
            prefetch_rows(call.query, call.head, next.first, next.first + next.count, call.size);
            prefetch_numbered(call.key, call.head, call.keys + next.begin, next.seen, call.size);
            prefetch_numbered(call.value, call.head, call.keys + next.begin, next.seen, call.size);
        }
        rows_to_lanes<T>(call.query, here.first, call.head, here.count, call.size, panels.padded, scale,
                         block, width);
        make_relations<T, columns>(call, here, block, relations);
        clear<T>(sums, panels.padded * width);
        clear<T>(totals, width);
        for (int64_t at = 0; at < width; at += n) store(tops + at, splat(static_cast<T>(kLowest)));
        for (int64_t part = here.begin; part < here.begin + here.seen; part += kTile) {
            const int64_t count = smaller_of(kTile, here.begin + here.seen - part);
            const int32_t* keys = call.keys + part;
            copy_rows<T>(call.key, call.head, keys, count, panels, kTile, rows);
            score_rows<T, columns>(rows, kTile, count, block, panels, tile);
            add_relations<T>(tile, count, width, call.labels + part * width, relations);
            softmax<T, columns>(tile, count, tops, totals, sums, panels.padded);
            if (call.dropout.threshold)
                drop_out<T>(tile, tile, count * width, call.dropout,
                            (call.head * call.all_keys + part) * width);
            copy_rows<T>(call.value, call.head, keys, count, panels, kTile, rows);
            mix_rows<T, columns>(rows, count, tile, panels, sums);
        }
        for (int64_t i = 0; i < width; ++i) {
            const T top = tops[i], inverse = totals[i] == 0 ? 0 : 1 / totals[i];
            totals[i] = inverse;
            if (i >= here.count) continue;
            statistics.tops[call.head * statistics.rows + here.first + i] = top;
            statistics.inverses[call.head * statistics.rows + here.first + i] = inverse;
        }
        for (int64_t at = 0; at < width; at += n) {
            const Vector<T> inverse = load(totals + at);
            for (int64_t c = 0; c < call.size; ++c)
                store(sums + c * width + at, load(sums + c * width + at) * inverse);
        }
        lanes_to_rows<T>(sums, width, here.count, call.size, T{1}, call.out, here.first, call.head);
    }
}

template <typename T, int columns>
void backward(const TileCall<T>& call) {
    constexpr int64_t width = columns * lanes<T>;
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(call.size)));
    const Panels<T> panels(call.size);
    Buffer<T> block(panels.padded * width), gradients(panels.padded * width), sums(panels.padded * width);
    Buffer<T> query_rows(panels.padded * width), gradient_rows(panels.padded * width);
    Buffer<T> tops(width), inverses(width), deltas(width), row_deltas(width);
    Buffer<T> weights(kTile * width), tile(kTile * width), dropped(kTile * width);
    Buffer<T> rows(kTile * panels.padded), memory(kTile * panels.panel);
    Buffer<T> relations((call.table_rows + 1) * width), relation_sums((call.table_rows + 1) * width);
    Buffer<T> of_table(call.table_rows * panels.padded);  // in panels
    const Gradients<T>& to = call.gradients;
    for (int64_t number = call.first_tile; number < call.end_tile; ++number) {
        const Tile& here = call.tiles[number];
        if (number + 1 < call.end_tile) {
            const Tile& next = call.tiles[number + 1];
            const int64_t end = next.first + next.count;
            prefetch_rows(call.query, call.head, next.first, end, call.size);
            prefetch_rows(call.out, call.head, next.first, end, call.size);
            prefetch_rows(call.out_gradient, call.head, next.first, end, call.size);
            const int32_t* keys = call.keys + next.begin;
            prefetch_numbered(call.key, call.head, keys, next.seen, call.size);
            prefetch_numbered(call.value, call.head, keys, next.seen, call.size);
            prefetch_numbered(to.key, call.head, keys, next.seen, call.size);
            prefetch_numbered(to.value, call.head, keys, next.seen, call.size);
        }
        rows_to_lanes<T>(call.query, here.first, call.head, here.count, call.size, panels.padded, scale,
                         block, width);
        rows_to_lanes<T>(call.out_gradient, here.first, call.head, here.count, call.size, panels.padded,
                         T{1}, gradients, width);
        copy_neighbours<T>(call.query, call.head, here.first, here.count, panels, width, scale, query_rows);
        copy_neighbours<T>(call.out_gradient, call.head, here.first, here.count, panels, width, T{1},
                           gradient_rows);
        make_relations<T, columns>(call, here, block, relations);
        clear<T>(relation_sums, (here.labels + 1) * width);
        clear<T>(sums, panels.padded * width);
        row_products<T>(call.out, call.out_gradient, call.head, here.first, here.first + here.count,
                        call.size, row_deltas);
        const int64_t statistics = call.head * call.statistics.rows + here.first;
        fill_lanes<T>(call.statistics.tops + statistics, here.count, tops, width);
        fill_lanes<T>(call.statistics.inverses + statistics, here.count, inverses, width);
        fill_lanes<T>(row_deltas, here.count, deltas, width);
        // Lanes without a query repeat the last one; they see no key, so that their weights are 0.
        for (int64_t part = here.begin; part < here.begin + here.seen; part += kTile) {
            const int64_t count = smaller_of(kTile, here.begin + here.seen - part);
            const int32_t* keys = call.keys + part;
            const int16_t* labels = call.labels + part * width;
            copy_rows<T>(call.key, call.head, keys, count, panels, kTile, rows);
            score_rows<T, columns>(rows, kTile, count, block, panels, weights);
            add_relations<T>(weights, count, width, labels, relations);
            weigh<T, columns, true>(weights, count, tops, inverses);
            copy_rows<T>(call.value, call.head, keys, count, panels, kTile, rows);
            score_rows<T, columns>(rows, kTile, count, gradients, panels, tile);
            const T* mixed = weights;
            if (call.dropout.threshold) {
                const int64_t index = (call.head * call.all_keys + part) * width;
                drop_out<T>(tile, tile, count * width, call.dropout, index);
                drop_out<T>(weights, dropped, count * width, call.dropout, index);
                mixed = dropped;
            }
            add_to_keys<T>(mixed, width, gradient_rows, panels, keys, count, to.value, call.head, memory);
            logit_gradients<T, columns, true>(weights, tile, count, deltas);
            sum_relations<T>(tile, count, width, labels, relation_sums);
            copy_rows<T>(call.key, call.head, keys, count, panels, kTile, rows);
            mix_rows<T, columns>(rows, count, tile, panels, sums);
            add_to_keys<T>(tile, width, query_rows, panels, keys, count, to.key, call.head, memory);
        }
        products<T, columns>(call.table, 1, call.size, relation_sums + width, width, here.labels, sums,
                             call.size, true);
        for (int64_t c = 0; c < call.size; c += panels.panel)
            panel_products<T>(relation_sums + width, width, 1, query_rows + c * width, width,
                              of_table + c * call.table_rows, here.labels, panels.panel, true);
        lanes_to_rows<T>(sums, width, here.count, call.size, scale, to.query, here.first, call.head);
    }
    for (int64_t c = 0; c < call.size; c += panels.panel)
        for (int64_t label = 0; label < call.table_rows; ++label)
            add_row(of_table + c * call.table_rows + label * panels.panel,
                    smaller_of(panels.panel, call.size - c), call.table_gradient + label * call.size + c,
                    1);
}

}  // namespace

template <typename Processor, typename T>
void tile_forward(const TileCall<T>& call) {
    if (call.width == lanes<T>)
        forward<T, 1>(call);
    else
        forward<T, 2>(call);
}

template <typename Processor, typename T>
void tile_backward(const TileCall<T>& call) {
    if (call.width == lanes<T>)
        backward<T, 1>(call);
    else
        backward<T, 2>(call);
}

template void tile_forward<HEADWISE_PROCESSOR>(const TileCall<float>&);
template void tile_forward<HEADWISE_PROCESSOR>(const TileCall<double>&);
template void tile_backward<HEADWISE_PROCESSOR>(const TileCall<float>&);
template void tile_backward<HEADWISE_PROCESSOR>(const TileCall<double>&);

}  // namespace headwise
