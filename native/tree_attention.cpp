// Attention of the spans of binary trees over their tokens: see attention.h, and
// headwise.nn.attention.cpu.edges.
//
// Each span is a query that sees its tokens. The tokens come by once, a vector of them at a time, side by
// side in the lanes; the spans above them are the rows of small matrices [spans, tokens]. Spans larger than
// a vector keep their sums from one vector to the next.
#include "attention.h"
#include "panels.h"

namespace headwise {
namespace {

// A span above a vector of tokens: its row, which of these tokens it has, whether they are its first and
// its last ones.
struct Span {
    int64_t row, begin, end;
    bool fresh, done;
};

// The spans over a block, those of more tokens than a vector first; gives how many there are.
int64_t find_spans(const TreeBlock& block, const int64_t* firsts, int64_t texts, int64_t n, Span* spans,
                   int64_t* rows) {
    int64_t count = 0, inner = 0;
    while ((int64_t{1} << inner) < n) ++inner;
    const int64_t end = block.place + block.count;
    for (int64_t level = inner + 1; level <= block.height; ++level) {
        const int64_t node = block.place >> level;
        const bool done = end >= smaller_of(block.length, (node + 1) << level);
        spans[count++] = {firsts[level * texts + block.text] + node, 0, block.count,
                          block.place == node << level, done};
    }
    for (int64_t level = 1; level <= smaller_of(inner, block.height); ++level)
        for (int64_t node = block.place >> level; node <= (end - 1) >> level; ++node)
            spans[count++] = {firsts[level * texts + block.text] + node,
                              larger_of(0, (node << level) - block.place),
                              smaller_of(block.count, ((node + 1) << level) - block.place), true, true};
    for (int64_t r = 0; r < count; ++r) rows[r] = spans[r].row;
    return count;
}

// Logits, -inf in the lanes of tokens that the span does not have.
template <typename T>
Vector<T> hide_others(Vector<T> x, const Span& span) {
    const Vector<T> lane = counting<T>(), first = splat(static_cast<T>(span.begin));
    const Vector<T> last = splat(static_cast<T>(span.end - 1));
    return choose((lane >= first) & (lane <= last), x, splat(static_cast<T>(-INFINITY)));
}

// Row `r` of sums in panels, times `factor`.
template <typename T>
void scale_row(T* sums, int64_t r, int64_t room, const Panels<T>& panels, T factor) {
    for (int64_t c = 0; c < panels.padded; c += panels.panel) {
        T* row = sums + c * room + r * panels.panel;
        for (int64_t at = 0; at < panels.panel; at += lanes<T>) store(row + at, load(row + at) * factor);
    }
}

template <typename T>
void clear_row(T* sums, int64_t r, int64_t room, const Panels<T>& panels) {
    for (int64_t c = 0; c < panels.padded; c += panels.panel)
        clear(sums + c * room + r * panels.panel, panels.panel);
}

// Row `r` of sums in panels into a row of a tensor, times `factor`.
template <typename T>
void write_row(const T* sums, int64_t r, int64_t room, const Panels<T>& panels, T factor,
               const Rows<T>& target, int64_t row, int64_t head) {
    T* to = target.at(row, head);
    for (int64_t c = 0; c < panels.size; ++c)
        to[c * target.step] =
            sums[(c / panels.panel * room + r) * panels.panel + c % panels.panel] * factor;
}

// out = the transpose of tile [spans, n] times rows in panels, into `count` neighbouring rows of a tensor.
template <typename T>
void mix_spans(const T* tile, int64_t spans, const T* rows, int64_t room, const Panels<T>& panels,
               const Rows<T>& target, int64_t first, int64_t count, int64_t head, T* memory) {
    for (int64_t c = 0; c < panels.size; c += panels.panel) {
        panel_products(tile, 1, lanes<T>, rows + c * room, spans, memory, count, panels.panel, false);
        for (int64_t r = 0; r < count; ++r)
            for (int64_t x = 0; x < smaller_of(panels.panel, panels.size - c); ++x)
                target.at(first + r, head)[(c + x) * target.step] = memory[r * panels.panel + x];
    }
}

}  // namespace

template <typename Processor, typename T>
void tree_forward(const TreeCall<T>& call) {
    constexpr int64_t n = lanes<T>;
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(call.size)));
    const Panels<T> panels(call.size);
    const int64_t room = call.levels + n;  // for the spans over a vector
    Buffer<Span> spans(room);
    Buffer<int64_t> rows(room);
    Buffer<T> block(panels.padded * n), query_rows(panels.padded * room), value_rows(panels.padded * n);
    Buffer<T> tile(room * n), tops(room), totals(room), sums(panels.padded * room);
    for (int64_t number = call.first_block; number < call.end_block; ++number) {
        const TreeBlock& here = call.blocks[number];
        const int64_t count = find_spans(here, call.firsts, call.texts, n, spans, rows);
        if (!count) continue;
        rows_to_lanes<T>(call.key, here.first, call.head, here.count, call.size, panels.padded, scale,
                         block, n);
        if (number + 1 < call.end_block) {
            const TreeBlock& next = call.blocks[number + 1];
            prefetch_rows(call.key, call.head, next.first, next.first + next.count, call.size);
            prefetch_rows(call.value, call.head, next.first, next.first + next.count, call.size);
        }
        copy_neighbours<T>(call.value, call.head, here.first, here.count, panels, n, T{1}, value_rows);
        copy_rows<T, int64_t>(call.query, call.head, rows, count, panels, room, query_rows);
        score_rows<T, 1>(query_rows, room, count, block, panels, tile);
        for (int64_t r = 0; r < count; ++r) {
            const Span& span = spans[r];
            if (span.fresh) {
                tops[r] = static_cast<T>(kLowest);
                totals[r] = 0;
                clear_row<T>(sums, r, room, panels);
            }
            Vector<T> x = hide_others<T>(load(tile + r * n), span);
            const T largest = largest_across<T>(x), top = largest > tops[r] ? largest : tops[r];
            const T fade = std::exp(tops[r] - top);
            x = exp<T>(x - top);
            tops[r] = top;
            totals[r] = totals[r] * fade + sum_across<T>(x);
            if (call.dropout.threshold) {
                const int64_t index = ((call.head * call.all_blocks + number) * room + r) * n;
                x *= dropout_factors<T>(call.dropout, index);
            }
            store(tile + r * n, x);
            if (!span.fresh) scale_row<T>(sums, r, room, panels, fade);
        }
        for (int64_t c = 0; c < panels.padded; c += panels.panel)
            panel_products<T>(tile, n, 1, value_rows + c * n, n, sums + c * room, count, panels.panel,
                              true);
        for (int64_t r = 0; r < count; ++r) {
            if (!spans[r].done) continue;
            const T inverse = 1 / totals[r];
            const int64_t place = call.head * call.statistics.rows + rows[r];
            call.statistics.tops[place] = tops[r];
            call.statistics.inverses[place] = inverse;
            write_row<T>(sums, r, room, panels, inverse, call.out, rows[r], call.head);
        }
    }
}

template <typename Processor, typename T>
void tree_backward(const TreeCall<T>& call) {
    constexpr int64_t n = lanes<T>;
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(call.size)));
    const Panels<T> panels(call.size);
    const int64_t room = call.levels + n;
    Buffer<Span> spans(room);
    Buffer<int64_t> rows(room);
    Buffer<T> block(panels.padded * n), values(panels.padded * n), key_rows(panels.padded * n);
    Buffer<T> query_rows(panels.padded * room), gradient_rows(panels.padded * room);
    Buffer<T> sums(panels.padded * room), memory(panels.panel * n);
    Buffer<T> weights(room * n), tile(room * n), deltas(room);
    const Gradients<T>& to = call.gradients;
    for (int64_t number = call.first_block; number < call.end_block; ++number) {
        const TreeBlock& here = call.blocks[number];
        const int64_t count = find_spans(here, call.firsts, call.texts, n, spans, rows);
        if (!count) {  // a text of one token
            for (int64_t c = 0; c < call.size; ++c) {
                to.key.at(here.first, call.head)[c * to.key.step] = 0;
                to.value.at(here.first, call.head)[c * to.value.step] = 0;
            }
            continue;
        }
        if (number + 1 < call.end_block) {
            const int64_t next = call.blocks[number + 1].first, end = next + call.blocks[number + 1].count;
            prefetch_rows(call.key, call.head, next, end, call.size);
            prefetch_rows(call.value, call.head, next, end, call.size);
            prefetch_rows(to.key, call.head, next, end, call.size);
            prefetch_rows(to.value, call.head, next, end, call.size);
        }
        rows_to_lanes<T>(call.key, here.first, call.head, here.count, call.size, panels.padded, T{1}, block,
                         n);
        rows_to_lanes<T>(call.value, here.first, call.head, here.count, call.size, panels.padded, T{1},
                         values, n);
        copy_neighbours<T>(call.key, call.head, here.first, here.count, panels, n, scale, key_rows);
        copy_rows<T, int64_t>(call.query, call.head, rows, count, panels, room, query_rows);
        copy_rows<T, int64_t>(call.out_gradient, call.head, rows, count, panels, room, gradient_rows);
        for (int64_t r = 0; r < count; ++r) scale_row<T>(query_rows, r, room, panels, scale);
        score_rows<T, 1>(query_rows, room, count, block, panels, weights);
        score_rows<T, 1>(gradient_rows, room, count, values, panels, tile);
        for (int64_t r = 0; r < count; ++r) {
            const Span& span = spans[r];
            if (span.fresh) {
                row_products<T>(call.out, call.out_gradient, call.head, span.row, span.row + 1, call.size,
                                deltas + r);
                clear_row<T>(sums, r, room, panels);
            }
            const int64_t place = call.head * call.statistics.rows + span.row;
            const Vector<T> logits = hide_others<T>(load(weights + r * n), span);
            const Vector<T> x =
                exp<T>(logits - call.statistics.tops[place]) * call.statistics.inverses[place];
            Vector<T> gradient = load(tile + r * n), stays = x;
            if (call.dropout.threshold) {
                const int64_t index = ((call.head * call.all_blocks + number) * room + r) * n;
                const Vector<T> factors = dropout_factors<T>(call.dropout, index);
                gradient *= factors;
                stays *= factors;
            }
            store<T>(tile + r * n, x * (gradient - deltas[r]));
            store(weights + r * n, stays);
        }
        mix_spans<T>(weights, count, gradient_rows, room, panels, to.value, here.first, here.count,
                     call.head, memory);
        mix_spans<T>(tile, count, query_rows, room, panels, to.key, here.first, here.count, call.head,
                     memory);
        for (int64_t c = 0; c < panels.padded; c += panels.panel)
            panel_products<T>(tile, n, 1, key_rows + c * n, n, sums + c * room, count, panels.panel, true);
        for (int64_t r = 0; r < count; ++r)
            if (spans[r].done) write_row<T>(sums, r, room, panels, T{1}, to.query, rows[r], call.head);
    }
}

template void tree_forward<HEADWISE_PROCESSOR>(const TreeCall<float>&);
template void tree_forward<HEADWISE_PROCESSOR>(const TreeCall<double>&);
template void tree_backward<HEADWISE_PROCESSOR>(const TreeCall<float>&);
template void tree_backward<HEADWISE_PROCESSOR>(const TreeCall<double>&);

}  // namespace headwise
