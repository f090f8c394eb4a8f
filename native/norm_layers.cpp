// The kernels of headwise.nn.layers.fused: layer norm with what comes before and after it, in one pass over
// the rows.
#include <cmath>
#include <optional>

#include <nanobind/stl/optional.h>

#include "arrays.h"
#include "dropout.h"
#include "exponential.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

constexpr size_t kLanes = 16;  // sums side by side, which the compiler turns into vectors

// The sum of a function of the places 0 to below `size`.
template <typename T, typename Term>
inline T sum_of(size_t size, Term term) {
    T sums[kLanes] = {}, total = 0;
    size_t at = 0;
    for (; at + kLanes <= size; at += kLanes)
        for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(at + lane);
    for (; at < size; ++at) total += term(at);
    for (size_t lane = 0; lane < kLanes; ++lane) total += sums[lane];
    return total;
}

// Mean and inverse standard deviation of a row.
template <typename T>
struct Moments {
    T mean, inverse;

    static Moments of(const T* row, size_t width, T epsilon) {
        const T mean = sum_of<T>(width, [=](size_t at) { return row[at]; }) / static_cast<T>(width);
        const T variance =
            sum_of<T>(width, [=](size_t at) { return (row[at] - mean) * (row[at] - mean); }) /
            static_cast<T>(width);
        return {mean, 1 / std::sqrt(variance + epsilon)};
    }
};

// The gradient of a row before the norm, from `gradient(at)` after it; adds to those of weight and bias.
template <typename T, typename Gradient, typename Row>
inline void norm_row_backward(size_t width, Moments<T> moments, const T* weight, Gradient gradient, Row row,
                              T* __restrict for_row, T* __restrict for_weight, T* __restrict for_bias) {
    for (size_t at = 0; at < width; ++at) {
        const T slope = gradient(at), normal = (row(at) - moments.mean) * moments.inverse;
        for_weight[at] += slope * normal;
        for_bias[at] += slope;
        for_row[at] = slope * weight[at];
    }
    const T mean = sum_of<T>(width, [=](size_t at) { return for_row[at]; }) / static_cast<T>(width);
    const T along = sum_of<T>(width, [=](size_t at) { return for_row[at] * (row(at) - moments.mean); }) *
                    moments.inverse * moments.inverse / static_cast<T>(width);
    for (size_t at = 0; at < width; ++at)
        for_row[at] = (for_row[at] - mean - (row(at) - moments.mean) * along) * moments.inverse;
}

// --- LayerNorm(inputs + dropout(activation(update))) ---

template <typename T>
HEADWISE_VECTORS void add_norm_rows(size_t rows, size_t width, const T* inputs, const T* update,
                                    const T* weight, const T* bias, T* sums, T* result, T* moments,
                                    DropoutMask<T> mask, bool drops, bool relu, T epsilon) {
    for (size_t row = 0; row < rows; ++row) {
        const size_t first = row * width;
        T* sum = sums + first;
        for (size_t at = 0; at < width; ++at) {
            T added = update[first + at];
            if (relu) added = added < 0 ? T(0) : added;
            sum[at] = added;
        }
        if (drops)
            for (size_t at = 0; at < width; ++at) {
                const T factor = mask(static_cast<uint32_t>(first + at));
                sum[at] = factor != 0 ? sum[at] * factor : T(0);
            }
        for (size_t at = 0; at < width; ++at) sum[at] += inputs[first + at];
        const auto row_moments = Moments<T>::of(sum, width, epsilon);
        moments[2 * row] = row_moments.mean, moments[2 * row + 1] = row_moments.inverse;
        for (size_t at = 0; at < width; ++at)
            result[first + at] = (sum[at] - row_moments.mean) * row_moments.inverse * weight[at] + bias[at];
    }
}

template <typename T>
HEADWISE_VECTORS void add_norm_rows_backward(size_t rows, size_t width, const T* gradient, const T* update,
                                             const T* sums, const T* moments, const T* weight,
                                             T* for_inputs, T* for_update, T* for_weight, T* for_bias,
                                             DropoutMask<T> mask, bool drops, bool relu) {
    for (size_t row = 0; row < rows; ++row) {
        const size_t first = row * width;
        const T *slopes = gradient + first, *sum = sums + first;
        norm_row_backward<T>(
            width, {moments[2 * row], moments[2 * row + 1]}, weight, [=](size_t at) { return slopes[at]; },
            [=](size_t at) { return sum[at]; }, for_inputs + first, for_weight, for_bias);
        T* added = for_update + first;
        for (size_t at = 0; at < width; ++at) added[at] = for_inputs[first + at];
        if (drops)
            for (size_t at = 0; at < width; ++at) added[at] *= mask(static_cast<uint32_t>(first + at));
        if (relu)
            for (size_t at = 0; at < width; ++at) added[at] = update[first + at] > 0 ? added[at] : T(0);
    }
}

template <typename T>
void check_norm(size_t width, const Array1<T>& first, const Array1<T>& second) {
    require(first.size() == width && second.size() == width, "a value of each feature is expected");
}

template <typename First, typename... More>
void check_shapes(const First& first, const More&... more) {
    require(((more.shape(0) == first.shape(0) && more.shape(1) == first.shape(1)) && ...),
            "arrays of the same shape are expected");
    require(first.shape(0) * first.shape(1) < UINT32_MAX, "fewer values are expected");
}

template <typename T>
void add_norm(Array2<const T> inputs, Array2<const T> update, Array1<const T> weight, Array1<const T> bias,
              Array2<T> sums, Array2<T> result, Array2<T> moments, uint64_t key, double probability,
              bool relu, double epsilon) {
    check_shapes(inputs, update, sums, result);
    const size_t rows = inputs.shape(0), width = inputs.shape(1);
    check_norm(width, weight, bias);
    require(moments.shape(0) == rows && moments.shape(1) == 2, "two moments of each row are expected");
    const DropoutMask<T> mask(key, probability);
    nb::gil_scoped_release release;
    add_norm_rows<T>(rows, width, inputs.data(), update.data(), weight.data(), bias.data(), sums.data(),
                     result.data(), moments.data(), mask, probability > 0, relu, static_cast<T>(epsilon));
}

template <typename T>
void add_norm_backward(Array2<const T> gradient, Array2<const T> update, Array2<const T> sums,
                       Array2<const T> moments, Array1<const T> weight, Array2<T> for_inputs,
                       Array2<T> for_update, Array1<T> for_weight, Array1<T> for_bias, uint64_t key,
                       double probability, bool relu) {
    check_shapes(gradient, update, sums, for_inputs, for_update);
    const size_t rows = gradient.shape(0), width = gradient.shape(1);
    check_norm(width, for_weight, for_bias);
    require(weight.size() == width, "a weight of each feature is expected");
    require(moments.shape(0) == rows && moments.shape(1) == 2, "two moments of each row are expected");
    const DropoutMask<T> mask(key, probability);
    nb::gil_scoped_release release;
    add_norm_rows_backward<T>(rows, width, gradient.data(), update.data(), sums.data(), moments.data(),
                              weight.data(), for_inputs.data(), for_update.data(), for_weight.data(),
                              for_bias.data(), mask, probability > 0, relu);
}

// --- Words of a base: dropout(LayerNorm(x)) and weighted sums of x over texts, x = vector + correction ---

template <typename T>
struct Words {
    const T* vectors;
    const int64_t* places;
    const T* table;  // of the corrections, or null
    const int64_t* ids;
    const T* weights;
    const int64_t* offsets;
    size_t texts, width;

    // The vector of a word, with its correction.
    void read(int64_t word, T* row) const {
        const T* vector = vectors + places[word] * static_cast<int64_t>(width);
        if (table == nullptr) {
            for (size_t at = 0; at < width; ++at) row[at] = vector[at];
            return;
        }
        const T* correction = table + ids[word] * static_cast<int64_t>(width);
        for (size_t at = 0; at < width; ++at) row[at] = vector[at] + correction[at];
    }
};

template <typename T>
HEADWISE_VECTORS void read_words_rows(Words<T> words, const T* weight, const T* bias, T* result, T* moments,
                                      T* sums, T* row, DropoutMask<T> mask, bool drops, T epsilon) {
    const size_t width = words.width;
    for (size_t text = 0; text < words.texts; ++text) {
        T* sum = sums + text * width;
        for (size_t at = 0; at < width; ++at) sum[at] = 0;
        for (int64_t word = words.offsets[text]; word < words.offsets[text + 1]; ++word) {
            words.read(word, row);
            const size_t place = static_cast<size_t>(word), first = place * width;
            const T share = words.weights[place];
            const auto row_moments = Moments<T>::of(row, width, epsilon);
            moments[2 * place] = row_moments.mean, moments[2 * place + 1] = row_moments.inverse;
            for (size_t at = 0; at < width; ++at) {
                sum[at] += share * row[at];
                result[first + at] =
                    (row[at] - row_moments.mean) * row_moments.inverse * weight[at] + bias[at];
            }
            if (drops)
                for (size_t at = 0; at < width; ++at) {
                    const T factor = mask(static_cast<uint32_t>(first + at));
                    result[first + at] = factor != 0 ? result[first + at] * factor : T(0);
                }
        }
    }
}

template <typename T>
HEADWISE_VECTORS void read_words_rows_backward(Words<T> words, const T* gradient, const T* for_sums,
                                               const T* moments, const T* weight, T* for_rows,
                                               T* for_weight, T* for_bias, T* row, T* slopes,
                                               DropoutMask<T> mask, bool drops) {
    const size_t width = words.width;
    for (size_t text = 0; text < words.texts; ++text) {
        const T* of_sum = for_sums + text * width;
        for (int64_t word = words.offsets[text]; word < words.offsets[text + 1]; ++word) {
            words.read(word, row);
            const size_t place = static_cast<size_t>(word), first = place * width;
            for (size_t at = 0; at < width; ++at) slopes[at] = gradient[first + at];
            if (drops)
                for (size_t at = 0; at < width; ++at) slopes[at] *= mask(static_cast<uint32_t>(first + at));
            norm_row_backward<T>(
                width, {moments[2 * place], moments[2 * place + 1]}, weight,
                [=](size_t at) { return slopes[at]; }, [=](size_t at) { return row[at]; }, for_rows + first,
                for_weight, for_bias);
            const T share = words.weights[place];
            for (size_t at = 0; at < width; ++at) for_rows[first + at] += share * of_sum[at];
        }
    }
}

template <typename T>
Words<T> words_of(const Array2<const T>& vectors, const Array1<const int64_t>& places,
                  const std::optional<Array2<const T>>& table, const Array1<const int64_t>& ids,
                  const Array1<const T>& weights, const Array1<const int64_t>& offsets) {
    const size_t count = places.size(), width = vectors.shape(1);
    require(ids.size() == count && weights.size() == count, "an id and a weight of each word are expected");
    check_indices(places.data(), count, vectors.shape(0), "a place beyond the vectors");
    if (table) {
        require(table->shape(1) == width, "corrections of the same size are expected");
        check_indices(ids.data(), count, table->shape(0), "an id beyond the corrections");
    }
    check_offsets(offsets, count);
    require(offsets(0) == 0 && offsets(offsets.size() - 1) == static_cast<int64_t>(count),
            "texts of all words are expected");
    require(count * width < UINT32_MAX, "fewer values are expected");
    return {vectors.data(),     places.data(),  table ? table->data() : nullptr,
            ids.data(),         weights.data(), offsets.data(),
            offsets.size() - 1, width};
}

template <typename T>
void read_words(Array2<const T> vectors, Array1<const int64_t> places, std::optional<Array2<const T>> table,
                Array1<const int64_t> ids, Array1<const T> weights, Array1<const int64_t> offsets,
                Array1<const T> weight, Array1<const T> bias, Array2<T> result, Array2<T> moments,
                Array2<T> sums, uint64_t key, double probability, double epsilon) {
    const auto words = words_of<T>(vectors, places, table, ids, weights, offsets);
    check_norm(words.width, weight, bias);
    require(result.shape(0) == places.size() && result.shape(1) == words.width,
            "a row per word is expected");
    require(moments.shape(0) == places.size() && moments.shape(1) == 2,
            "two moments of each word are expected");
    require(sums.shape(0) == words.texts && sums.shape(1) == words.width, "a sum per text is expected");
    const DropoutMask<T> mask(key, probability);
    nb::gil_scoped_release release;
    std::vector<T> row(words.width);
    read_words_rows<T>(words, weight.data(), bias.data(), result.data(), moments.data(), sums.data(),
                       row.data(), mask, probability > 0, static_cast<T>(epsilon));
}

template <typename T>
void read_words_backward(Array2<const T> vectors, Array1<const int64_t> places,
                         std::optional<Array2<const T>> table, Array1<const int64_t> ids,
                         Array1<const T> weights, Array1<const int64_t> offsets, Array2<const T> gradient,
                         Array2<const T> for_sums, Array2<const T> moments, Array1<const T> weight,
                         Array2<T> for_rows, Array1<T> for_weight, Array1<T> for_bias, uint64_t key,
                         double probability) {
    const auto words = words_of<T>(vectors, places, table, ids, weights, offsets);
    check_norm(words.width, for_weight, for_bias);
    require(weight.size() == words.width, "a weight of each feature is expected");
    for (const auto& rows : {gradient, Array2<const T>(for_rows)})
        require(rows.shape(0) == places.size() && rows.shape(1) == words.width,
                "a row per word is expected");
    require(moments.shape(0) == places.size() && moments.shape(1) == 2,
            "two moments of each word are expected");
    require(for_sums.shape(0) == words.texts && for_sums.shape(1) == words.width,
            "a sum per text is expected");
    const DropoutMask<T> mask(key, probability);
    nb::gil_scoped_release release;
    std::vector<T> row(words.width), slopes(words.width);
    read_words_rows_backward<T>(words, gradient.data(), for_sums.data(), moments.data(), weight.data(),
                                for_rows.data(), for_weight.data(), for_bias.data(), row.data(),
                                slopes.data(), mask, probability > 0);
}

// --- The gate of MS-SAN: z = f a + (1 - f) b, f = sigmoid(first + second) ---

inline double exponential(double x) { return std::exp(x); }

template <typename T>
HEADWISE_VECTORS void gate_values(size_t size, const T* first, const T* second, const T* a, const T* b,
                                  T* f, T* result) {
    for (size_t at = 0; at < size; ++at) f[at] = 1 / (1 + exponential(-(first[at] + second[at])));
    for (size_t at = 0; at < size; ++at) result[at] = b[at] + f[at] * (a[at] - b[at]);
}

template <typename T>
HEADWISE_VECTORS void gate_values_backward(size_t size, const T* gradient, const T* f, const T* a,
                                           const T* b, T* for_logits, T* for_a, T* for_b) {
    for (size_t at = 0; at < size; ++at) {
        const T slope = gradient[at], open = f[at];
        for_a[at] = slope * open;
        for_b[at] = slope * (1 - open);
        for_logits[at] = slope * (a[at] - b[at]) * open * (1 - open);
    }
}

template <typename T>
void gate(Array2<const T> first, Array2<const T> second, Array2<const T> a, Array2<const T> b, Array2<T> f,
          Array2<T> result) {
    check_shapes(first, second, a, b, f, result);
    nb::gil_scoped_release release;
    gate_values<T>(first.size(), first.data(), second.data(), a.data(), b.data(), f.data(), result.data());
}

template <typename T>
void gate_backward(Array2<const T> gradient, Array2<const T> f, Array2<const T> a, Array2<const T> b,
                   Array2<T> for_logits, Array2<T> for_a, Array2<T> for_b) {
    check_shapes(gradient, f, a, b, for_logits, for_a, for_b);
    nb::gil_scoped_release release;
    gate_values_backward<T>(gradient.size(), gradient.data(), f.data(), a.data(), b.data(),
                            for_logits.data(), for_a.data(), for_b.data());
}

template <typename T>
void bind(nb::module_& module) {
    module.def("add_norm", &add_norm<T>, array("inputs"), array("update"), array("weight"), array("bias"),
               array("sums"), array("result"), array("moments"), nb::arg("key"), nb::arg("probability"),
               nb::arg("relu"), nb::arg("epsilon"));
    module.def("add_norm_backward", &add_norm_backward<T>, array("gradient"), array("update"),
               array("sums"), array("moments"), array("weight"), array("for_inputs"), array("for_update"),
               array("for_weight"), array("for_bias"), nb::arg("key"), nb::arg("probability"),
               nb::arg("relu"));
    module.def("read_words", &read_words<T>, array("vectors"), array("places"), array("table").none(),
               array("ids"), array("weights"), array("offsets"), array("weight"), array("bias"),
               array("result"), array("moments"), array("sums"), nb::arg("key"), nb::arg("probability"),
               nb::arg("epsilon"));
    module.def("read_words_backward", &read_words_backward<T>, array("vectors"), array("places"),
               array("table").none(), array("ids"), array("weights"), array("offsets"), array("gradient"),
               array("for_sums"), array("moments"), array("weight"), array("for_rows"), array("for_weight"),
               array("for_bias"), nb::arg("key"), nb::arg("probability"));
    module.def("gate", &gate<T>, array("first"), array("second"), array("a"), array("b"), array("f"),
               array("result"));
    module.def("gate_backward", &gate_backward<T>, array("gradient"), array("f"), array("a"), array("b"),
               array("for_logits"), array("for_a"), array("for_b"));
}

}  // namespace

void bind_norm_layers(nb::module_& module) {
    bind<float>(module);
    bind<double>(module);
}

}  // namespace headwise
