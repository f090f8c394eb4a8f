// What the kernels of attention are called with: banded_attention.cpp, edge_attention.cpp and
// tree_attention.cpp hold them, attention.cpp checks the arguments.
//
// All three are online softmaxes, as in FlashAttention (Dao et al. 2022, Algorithm 1), with the roles of
// rows and columns exchanged: queries lie side by side in the lanes of vectors, keys come by, and nothing
// is summed across lanes. The backward pass computes the weights again from each row's maximum and sum.
#pragma once

#include <cstdint>

namespace headwise {

// Rows of queries, keys, values or gradients of several heads, [rows, heads, size].
template <typename T>
struct Rows {
    T* data;
    int64_t row_step, head_step, step;  // between rows, heads and features

    T* at(int64_t row, int64_t head) const { return data + row * row_step + head * head_step; }
};

// What the forward pass leaves for the backward pass, [heads, rows] each: the maximum of a row's logits and
// 1 / the sum of its weights relative to that.
template <typename T>
struct Statistics {
    T *tops, *inverses;
    int64_t rows;
};

// The gradients of queries, keys and values.
template <typename T>
struct Gradients {
    Rows<T> query, key, value;
};

// A part of a text in one head: the queries (in the backward pass also the keys) from `begin` to `end`, in
// a text that starts at row `start`; each sees `left` keys before its place and `right` after it.
struct BandedItem {
    int64_t head, value_head, start, length, begin, end, left, right;
};

template <typename T>
struct BandedCall {
    Rows<const T> query, key, value;
    Rows<T> out;  // the backward pass reads it
    Rows<const T> out_gradient;
    Gradients<T> gradients;
    Statistics<T> statistics;
    const BandedItem* items;
    int64_t count, size, value_size;
    const double* slopes;  // of heads: what is taken from a logit for each word of distance
};

// Neighbouring queries of a text and all keys that any of them sees: `seen` from `begin` in the list of
// keys.
struct Tile {
    int64_t first, count, begin, seen, labels;
};

// Weights are dropped with the probability threshold / 2^32, by numbers that head, key and lane make up.
struct Dropout {
    int64_t seed, threshold;
};

template <typename T>
struct TileCall {
    Rows<const T> query, key, value;
    Rows<T> out;
    Rows<const T> out_gradient;
    Gradients<T> gradients;  // those of keys and values are added to
    Statistics<T> statistics;
    const T* table;     // [labels, size], added to keys by the edge's label
    T* table_gradient;  // [labels, size], added to
    const Tile* tiles;
    const int32_t* keys;    // rows of keys, tile by tile
    const int16_t* labels;  // [keys, width]: 0 where there is no edge, else 1 + the edge's label
    int64_t head, first_tile, end_tile, all_keys, width, size, table_rows;
    Dropout dropout;
};

// A vector of the tokens of a text: `count` from row `first`, which is the text's `place`; the tree over
// the text has `height` levels above the tokens.
struct TreeBlock {
    int64_t first, count, place, length, height, text;
};

template <typename T>
struct TreeCall {
    Rows<const T> query, key, value;
    Rows<T> out;
    Rows<const T> out_gradient;
    Gradients<T> gradients;
    Statistics<T> statistics;
    const TreeBlock* blocks;
    const int64_t* firsts;  // [levels, texts], the row of each level's first span
    int64_t head, first_block, end_block, all_blocks, levels, texts, size;
    Dropout dropout;
};

// The sets of instructions that the kernels are compiled for.
struct Baseline {};
struct Avx2 {};
struct Avx512 {};

template <typename Processor>
int64_t vector_bytes();
template <typename Processor, typename T>
void banded_forward(const BandedCall<T>& call);
template <typename Processor, typename T>
void banded_backward(const BandedCall<T>& call);
template <typename Processor, typename T>
void tile_forward(const TileCall<T>& call);
template <typename Processor, typename T>
void tile_backward(const TileCall<T>& call);
template <typename Processor, typename T>
void tree_forward(const TreeCall<T>& call);
template <typename Processor, typename T>
void tree_backward(const TreeCall<T>& call);

}  // namespace headwise
