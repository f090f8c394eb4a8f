// The kernels of headwise.nn.attention.cpu: checks of their arguments, so that no array is read or written
// beyond its end, and the choice of the build that fits the processor.
#include "attention.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>

#include "arrays.h"
#include "module.h"
#include "processor.h"

namespace headwise {
namespace {

template <typename T>
using Tensor = nb::ndarray<T, nb::ndim<3>, nb::device::cpu>;
using Plan = Array2<const int64_t>;

constexpr int64_t kFarthest = int64_t{1} << 40;  // rows; sums of some of them are no overflow

template <typename T>
Rows<T> rows_of(const Tensor<T>& tensor) {
    return {tensor.data(), tensor.stride(0), tensor.stride(1), tensor.stride(2)};
}

template <typename T>
Statistics<T> statistics_of(const Array3<T>& statistics) {
    const size_t half = statistics.shape(1) * statistics.shape(2);
    return {statistics.data(), statistics.data() + half, static_cast<int64_t>(statistics.shape(2))};
}

template <typename T>
void expect_shape(const char* name, const T& tensor, size_t rows, size_t heads, size_t size) {
    if (tensor.shape(0) == rows && tensor.shape(1) == heads && tensor.shape(2) == size) return;
    const auto spell = [](size_t a, size_t b, size_t c) {
        return "[" + std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c) + "]";
    };
    throw std::invalid_argument(std::string(name) + " has the shape " +
                                spell(tensor.shape(0), tensor.shape(1), tensor.shape(2)) + "; expected " +
                                spell(rows, heads, size));
}

// The rows of a plan as structures of as many numbers.
template <typename Item>
const Item* items_of(const Plan& plan, const char* name) {
    constexpr size_t columns = sizeof(Item) / sizeof(int64_t);
    if (plan.shape(1) != columns)
        throw std::invalid_argument(std::string(name) + " have " + std::to_string(columns) + " columns");
    return reinterpret_cast<const Item*>(plan.data());
}

bool is_range(int64_t first, int64_t count, size_t size) {
    return first >= 0 && count >= 0 && first <= static_cast<int64_t>(size) - count;
}

// The bytes of the widest vectors that may be used.
std::atomic<int64_t> most_vector_bytes{64};

// Calls a function with the best of the builds (see attention.h) that this processor runs.
template <typename Run>
auto on_processor(const Run& run) {
#ifdef HEADWISE_X86_BUILDS
    if (this_processor().avx512 && most_vector_bytes >= 64) return run(Avx512{});
    if (this_processor().avx2 && most_vector_bytes >= 32) return run(Avx2{});
#endif
    return run(Baseline{});
}

int64_t vector_bytes_here() {
    return on_processor([](auto processor) { return vector_bytes<decltype(processor)>(); });
}

void limit_vectors(int64_t bytes) { most_vector_bytes = bytes; }

// A call on these rows; what else a kernel reads is filled in by its own function.
template <typename Call, typename T>
Call call_on(const Tensor<const T>& query, const Tensor<const T>& key, const Tensor<const T>& value,
             const Tensor<T>& out, const Array3<T>& statistics) {
    Call call = {};
    call.query = rows_of(query);
    call.key = rows_of(key);
    call.value = rows_of(value);
    call.out = rows_of(out);
    call.statistics = statistics_of(statistics);
    call.size = static_cast<int64_t>(query.shape(2));
    return call;
}

// The gradient of the output, and the gradients to write, each with the shape of what it belongs to.
template <typename Call, typename T>
void add_gradients(Call& call, const Tensor<const T>& query, const Tensor<const T>& key,
                   const Tensor<const T>& value, const Tensor<T>& out, const Tensor<const T>& out_gradient,
                   const Tensor<T>& query_gradient, const Tensor<T>& key_gradient,
                   const Tensor<T>& value_gradient) {
    expect_shape("out_gradient", out_gradient, out.shape(0), out.shape(1), out.shape(2));
    expect_shape("query_gradient", query_gradient, query.shape(0), query.shape(1), query.shape(2));
    expect_shape("key_gradient", key_gradient, key.shape(0), key.shape(1), key.shape(2));
    expect_shape("value_gradient", value_gradient, value.shape(0), value.shape(1), value.shape(2));
    call.out_gradient = rows_of(out_gradient);
    call.gradients = {rows_of(query_gradient), rows_of(key_gradient), rows_of(value_gradient)};
}

// Banded attention

template <typename T>
BandedCall<T> banded_call(const Tensor<const T>& query, const Tensor<const T>& key,
                          const Tensor<const T>& value, const Tensor<T>& out, const Array3<T>& statistics,
                          const Plan& items, const Array1<const double>& slopes) {
    const size_t rows = query.shape(0), heads = query.shape(1), size = query.shape(2);
    require(size > 0, "heads have one or more features");
    expect_shape("key", key, rows, heads, size);
    expect_shape("value", value, rows, value.shape(1), value.shape(2));
    expect_shape("out", out, rows, value.shape(1), value.shape(2));
    expect_shape("statistics", statistics, 2, heads, rows);
    require(slopes.size() == heads, "each head has a slope");
    auto call = call_on<BandedCall<T>>(query, key, value, out, statistics);
    call.items = items_of<BandedItem>(items, "items");
    call.count = static_cast<int64_t>(items.shape(0));
    call.value_size = static_cast<int64_t>(value.shape(2));
    call.slopes = slopes.data();
    for (int64_t i = 0; i < call.count; ++i) {
        const BandedItem& item = call.items[i];
        const bool fits = is_range(item.head, 1, heads) && is_range(item.value_head, 1, value.shape(1)) &&
                          is_range(item.start, item.length, rows) && 0 <= item.begin &&
                          item.begin <= item.end && item.end <= item.length && -kFarthest < item.left &&
                          item.left < kFarthest && -kFarthest < item.right && item.right < kFarthest;
        if (!fits)
            throw std::invalid_argument("item " + std::to_string(i) + " leads out of the rows or heads");
    }
    return call;
}

template <typename T>
void run_banded_forward(Tensor<const T> query, Tensor<const T> key, Tensor<const T> value, Tensor<T> out,
                        Array3<T> statistics, Plan items, Array1<const double> slopes) {
    const BandedCall<T> call = banded_call<T>(query, key, value, out, statistics, items, slopes);
    nb::gil_scoped_release release;
    on_processor([&](auto processor) { banded_forward<decltype(processor)>(call); });
}

template <typename T>
void run_banded_backward(Tensor<const T> query, Tensor<const T> key, Tensor<const T> value, Tensor<T> out,
                         Tensor<const T> out_gradient, Tensor<T> query_gradient, Tensor<T> key_gradient,
                         Tensor<T> value_gradient, Array3<T> statistics, Plan items,
                         Array1<const double> slopes) {
    BandedCall<T> call = banded_call<T>(query, key, value, out, statistics, items, slopes);
    add_gradients(call, query, key, value, out, out_gradient, query_gradient, key_gradient, value_gradient);
    nb::gil_scoped_release release;
    on_processor([&](auto processor) { banded_backward<decltype(processor)>(call); });
}

// Attention along edges

Dropout dropout_of(int64_t seed, int64_t threshold) {
    require(0 <= threshold && threshold < int64_t{1} << 32, "the dropout threshold is from 0 to 2^32 - 1");
    return {seed, threshold};
}

template <typename T>
TileCall<T> tile_call(const Tensor<const T>& query, const Tensor<const T>& key,
                      const Tensor<const T>& value, const Array2<const T>& table, const Tensor<T>& out,
                      const Array3<T>& statistics, const Plan& tiles, const Array1<const int32_t>& keys,
                      const Array2<const int16_t>& labels, int64_t head, int64_t begin, int64_t end) {
    const size_t rows = query.shape(0), heads = query.shape(1), size = query.shape(2);
    require(size > 0, "heads have one or more features");
    expect_shape("key", key, key.shape(0), heads, size);
    expect_shape("value", value, key.shape(0), heads, size);
    expect_shape("out", out, rows, heads, size);
    expect_shape("statistics", statistics, 2, heads, rows);
    require(table.shape(1) == size, "the table of labels has a head's features");
    require(is_range(head, 1, heads), "there is no such head");
    require(0 <= begin && begin <= end && end <= static_cast<int64_t>(tiles.shape(0)),
            "there are no such tiles");
    const int64_t width = static_cast<int64_t>(labels.shape(1));
    const int64_t lanes = vector_bytes_here() / static_cast<int64_t>(sizeof(T));
    if (width != lanes && width != 2 * lanes)
        throw std::invalid_argument("tiles are as wide as one or two vectors, " + std::to_string(lanes) +
                                    " or " + std::to_string(2 * lanes));
    require(labels.shape(0) == keys.size(), "each key has labels");
    auto call = call_on<TileCall<T>>(query, key, value, out, statistics);
    call.table = table.data();
    call.tiles = items_of<Tile>(tiles, "tiles");
    call.keys = keys.data();
    call.labels = labels.data();
    call.head = head;
    call.first_tile = begin;
    call.end_tile = end;
    call.all_keys = static_cast<int64_t>(keys.size());
    call.width = width;
    call.table_rows = static_cast<int64_t>(table.shape(0));
    for (int64_t number = begin; number < end; ++number) {
        const Tile& tile = call.tiles[number];
        bool fits = is_range(tile.first, tile.count, rows) && 1 <= tile.count && tile.count <= width &&
                    is_range(tile.begin, tile.seen, keys.size()) && 0 <= tile.labels &&
                    tile.labels <= call.table_rows;
        if (fits) {
            int32_t least = 0, most = 0;
            for (const int32_t* row = call.keys + tile.begin; row < call.keys + tile.begin + tile.seen;
                 ++row) {
                least = *row < least ? *row : least;
                most = *row > most ? *row : most;
            }
            fits = least >= 0 && (!tile.seen || most < static_cast<int64_t>(key.shape(0)));
        }
        if (fits) {
            int16_t least = 0, most = 0;
            const int16_t* all = call.labels + tile.begin * width;
            for (int64_t i = 0; i < tile.seen * width; ++i) {
                least = all[i] < least ? all[i] : least;
                most = all[i] > most ? all[i] : most;
            }
            fits = least >= 0 && most <= tile.labels;
        }
        if (!fits)
            throw std::invalid_argument("tile " + std::to_string(number) +
                                        " leads out of the rows, keys or labels");
    }
    return call;
}

template <typename T>
void run_tile_forward(Tensor<const T> query, Tensor<const T> key, Tensor<const T> value,
                      Array2<const T> table, Tensor<T> out, Array3<T> statistics, Plan tiles,
                      Array1<const int32_t> keys, Array2<const int16_t> labels, int64_t head, int64_t begin,
                      int64_t end, int64_t seed, int64_t threshold) {
    TileCall<T> call =
        tile_call<T>(query, key, value, table, out, statistics, tiles, keys, labels, head, begin, end);
    call.dropout = dropout_of(seed, threshold);
    nb::gil_scoped_release release;
    on_processor([&](auto processor) { tile_forward<decltype(processor)>(call); });
}

template <typename T>
void run_tile_backward(Tensor<const T> query, Tensor<const T> key, Tensor<const T> value,
                       Array2<const T> table, Tensor<T> out, Tensor<const T> out_gradient,
                       Tensor<T> query_gradient, Tensor<T> key_gradient, Tensor<T> value_gradient,
                       Array2<T> table_gradient, Array3<T> statistics, Plan tiles,
                       Array1<const int32_t> keys, Array2<const int16_t> labels, int64_t head,
                       int64_t begin, int64_t end, int64_t seed, int64_t threshold) {
    TileCall<T> call =
        tile_call<T>(query, key, value, table, out, statistics, tiles, keys, labels, head, begin, end);
    add_gradients(call, query, key, value, out, out_gradient, query_gradient, key_gradient, value_gradient);
    require(table_gradient.shape(0) == table.shape(0) && table_gradient.shape(1) == query.shape(2),
            "the table's gradient has the table's shape");
    call.dropout = dropout_of(seed, threshold);
    call.table_gradient = table_gradient.data();
    nb::gil_scoped_release release;
    on_processor([&](auto processor) { tile_backward<decltype(processor)>(call); });
}

// Attention of trees

template <typename T>
TreeCall<T> tree_call(const Tensor<const T>& query, const Tensor<const T>& key,
                      const Tensor<const T>& value, const Tensor<T>& out, const Array3<T>& statistics,
                      const Plan& blocks, const Plan& firsts, int64_t head, int64_t begin, int64_t end) {
    const size_t spans = query.shape(0), heads = query.shape(1), size = query.shape(2);
    require(size > 0, "heads have one or more features");
    expect_shape("key", key, key.shape(0), heads, size);
    expect_shape("value", value, key.shape(0), heads, size);
    expect_shape("out", out, spans, heads, size);
    expect_shape("statistics", statistics, 2, heads, spans);
    require(is_range(head, 1, heads), "there is no such head");
    require(0 <= begin && begin <= end && end <= static_cast<int64_t>(blocks.shape(0)),
            "there are no such blocks");
    require(firsts.shape(0) <= 63, "a tree has at most 62 levels above its tokens");
    auto call = call_on<TreeCall<T>>(query, key, value, out, statistics);
    call.blocks = items_of<TreeBlock>(blocks, "blocks");
    call.firsts = firsts.data();
    call.head = head;
    call.first_block = begin;
    call.end_block = end;
    call.all_blocks = static_cast<int64_t>(blocks.shape(0));
    call.levels = static_cast<int64_t>(firsts.shape(0));
    call.texts = static_cast<int64_t>(firsts.shape(1));
    const int64_t lanes = vector_bytes_here() / static_cast<int64_t>(sizeof(T));
    for (int64_t number = begin; number < end; ++number) {
        const TreeBlock& block = call.blocks[number];
        bool fits =
            is_range(block.first, block.count, key.shape(0)) && 1 <= block.count && block.count <= lanes &&
            block.length < kFarthest && block.place % lanes == 0 &&
            is_range(block.place, block.count, static_cast<size_t>(std::max<int64_t>(block.length, 0))) &&
            0 <= block.height && (block.height == 0 || block.height < call.levels) &&
            is_range(block.text, 1, firsts.shape(1));
        for (int64_t level = 1; fits && level <= block.height; ++level) {
            const int64_t node = (block.place + block.count - 1) >> level;
            const int64_t first = call.firsts[level * call.texts + block.text];
            fits = 0 <= first && first < static_cast<int64_t>(spans) - node;
        }
        if (!fits)
            throw std::invalid_argument("block " + std::to_string(number) +
                                        " leads out of the rows, spans or levels");
    }
    return call;
}

template <typename T>
void run_tree_forward(Tensor<const T> query, Tensor<const T> key, Tensor<const T> value, Tensor<T> out,
                      Array3<T> statistics, Plan blocks, Plan firsts, int64_t head, int64_t begin,
                      int64_t end, int64_t seed, int64_t threshold) {
    TreeCall<T> call = tree_call<T>(query, key, value, out, statistics, blocks, firsts, head, begin, end);
    call.dropout = dropout_of(seed, threshold);
    nb::gil_scoped_release release;
    on_processor([&](auto processor) { tree_forward<decltype(processor)>(call); });
}

template <typename T>
void run_tree_backward(Tensor<const T> query, Tensor<const T> key, Tensor<const T> value, Tensor<T> out,
                       Tensor<const T> out_gradient, Tensor<T> query_gradient, Tensor<T> key_gradient,
                       Tensor<T> value_gradient, Array3<T> statistics, Plan blocks, Plan firsts,
                       int64_t head, int64_t begin, int64_t end, int64_t seed, int64_t threshold) {
    TreeCall<T> call = tree_call<T>(query, key, value, out, statistics, blocks, firsts, head, begin, end);
    add_gradients(call, query, key, value, out, out_gradient, query_gradient, key_gradient, value_gradient);
    call.dropout = dropout_of(seed, threshold);
    nb::gil_scoped_release release;
    on_processor([&](auto processor) { tree_backward<decltype(processor)>(call); });
}

template <typename T>
void bind_kernels(nb::module_& module) {
    module.def("banded_forward", &run_banded_forward<T>, array("query"), array("key"), array("value"),
               array("out"), array("statistics"), array("items"), array("slopes"));
    module.def("banded_backward", &run_banded_backward<T>, array("query"), array("key"), array("value"),
               array("out"), array("out_gradient"), array("query_gradient"), array("key_gradient"),
               array("value_gradient"), array("statistics"), array("items"), array("slopes"));
    module.def("tile_forward", &run_tile_forward<T>, array("query"), array("key"), array("value"),
               array("table"), array("out"), array("statistics"), array("tiles"), array("keys"),
               array("labels"), nb::arg("head"), nb::arg("begin"), nb::arg("end"), nb::arg("seed"),
               nb::arg("threshold"));
    module.def("tile_backward", &run_tile_backward<T>, array("query"), array("key"), array("value"),
               array("table"), array("out"), array("out_gradient"), array("query_gradient"),
               array("key_gradient"), array("value_gradient"), array("table_gradient"), array("statistics"),
               array("tiles"), array("keys"), array("labels"), nb::arg("head"), nb::arg("begin"),
               nb::arg("end"), nb::arg("seed"), nb::arg("threshold"));
    module.def("tree_forward", &run_tree_forward<T>, array("query"), array("key"), array("value"),
               array("out"), array("statistics"), array("blocks"), array("firsts"), nb::arg("head"),
               nb::arg("begin"), nb::arg("end"), nb::arg("seed"), nb::arg("threshold"));
    module.def("tree_backward", &run_tree_backward<T>, array("query"), array("key"), array("value"),
               array("out"), array("out_gradient"), array("query_gradient"), array("key_gradient"),
               array("value_gradient"), array("statistics"), array("blocks"), array("firsts"),
               nb::arg("head"), nb::arg("begin"), nb::arg("end"), nb::arg("seed"), nb::arg("threshold"));
}

}  // namespace

void bind_attention(nb::module_& module) {
    module.def("vector_bytes", &vector_bytes_here);
    module.def("limit_vectors", &limit_vectors, nb::arg("bytes"));
    bind_kernels<float>(module);
    bind_kernels<double>(module);
}

}  // namespace headwise
