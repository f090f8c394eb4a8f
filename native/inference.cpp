// What lies between the products of a network at prediction: norms, gates, pooling, attention between two
// texts and convolution of characters. For headwise.runtime.
#include <algorithm>
#include <cmath>
#include <vector>

#include "arrays.h"
#include "exponential.h"
#include "lanes.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

using Matrix = Array2<const float>;
using Places = Array1<const int64_t>;

// The rows of each text: from its start to its end, both below or at `size`.
void check_spans(const Places& starts, const Places& ends, size_t size) {
    require(starts.size() == ends.size(), "each text has a start and an end");
    for (size_t text = 0; text < starts.size(); ++text)
        require(starts(text) >= 0 && starts(text) <= ends(text) && ends(text) <= static_cast<int64_t>(size),
                "texts lie within the rows");
}

HEADWISE_VECTORS
void normalize(float* rows, const float* added, const float* weight, const float* bias, size_t count,
               size_t width, float epsilon, bool rectify) {
    for (size_t row = 0; row < count; ++row, rows += width, added += width) {
        float sum = 0, squares = 0;
        for (size_t k = 0; k < width; ++k) {
            const float update = rectify ? std::max(rows[k], 0.0f) : rows[k];
            rows[k] = added[k] + update;
            sum += rows[k];
        }
        const float mean = sum / static_cast<float>(width);
        for (size_t k = 0; k < width; ++k) squares += (rows[k] - mean) * (rows[k] - mean);
        const float inverse = 1 / std::sqrt(squares / static_cast<float>(width) + epsilon);
        for (size_t k = 0; k < width; ++k) rows[k] = (rows[k] - mean) * inverse * weight[k] + bias[k];
    }
}

// rows = LayerNorm(added + rows), or LayerNorm(added + ReLU(rows)).
void normalize_rows(Array2<float> rows, Matrix added, Array1<const float> weight, Array1<const float> bias,
                    float epsilon, bool rectify) {
    const size_t width = rows.shape(1);
    require(added.shape(0) == rows.shape(0) && added.shape(1) == width, "equal numbers of rows");
    require(weight.size() == width && bias.size() == width, "one weight for each feature");
    nb::gil_scoped_release release;
    normalize(rows.data(), added.data(), weight.data(), bias.data(), rows.shape(0), width, epsilon,
              rectify);
}

HEADWISE_VECTORS
void mix(const float* parts, const float* table, const int64_t* places, const float* bias, float* mixed,
         size_t count, size_t width) {
    for (size_t row = 0; row < count; ++row) {
        const float *output = parts + row * 2 * width, *input = table + places[row] * 2 * width;
        for (size_t k = 0; k < width; ++k) {
            const float gate = 1 / (1 + exponential(-(input[width + k] + output[width + k] + bias[k])));
            mixed[row * width + k] = gate * input[k] + (1 - gate) * output[k];
        }
    }
}

// Gates (MS-SAN, Eq. 7-9): `f I + (1 - f) O` with `f = sigmoid(A + B + bias)`, where a row of `table` is
// [I, A], that of `parts` is [O, B], and `places` are the rows of the table.
Result<float> mix_gates(Matrix parts, Matrix table, Places places, Array1<const float> bias) {
    const size_t count = parts.shape(0), width = bias.size();
    require(parts.shape(1) == 2 * width && table.shape(1) == 2 * width, "two features for each gate");
    require(places.size() == count, "one place for each row");
    check_indices(places.data(), count, table.shape(0), "a place beyond the table");
    std::vector<float> mixed(count * width);
    {
        nb::gil_scoped_release release;
        mix(parts.data(), table.data(), places.data(), bias.data(), mixed.data(), count, width);
    }
    return to_numpy(std::move(mixed), {count, width});
}

HEADWISE_VECTORS
void add_means(const float* rows, const int64_t* starts, const int64_t* ends, size_t texts, size_t width,
               float* means) {
    for (size_t text = 0; text < texts; ++text, means += width) {
        for (int64_t row = starts[text]; row < ends[text]; ++row)
            for (size_t k = 0; k < width; ++k) means[k] += rows[row * width + k];
        const float share = 1 / static_cast<float>(std::max<int64_t>(ends[text] - starts[text], 1));
        for (size_t k = 0; k < width; ++k) means[k] *= share;
    }
}

HEADWISE_VECTORS
void take_tops(const float* rows, const int64_t* starts, const int64_t* ends, size_t texts, size_t width,
               float* tops) {
    for (size_t text = 0; text < texts; ++text, tops += width) {
        if (starts[text] == ends[text]) continue;
        std::copy_n(rows + starts[text] * width, width, tops);
        for (int64_t row = starts[text] + 1; row < ends[text]; ++row)
            for (size_t k = 0; k < width; ++k) tops[k] = std::max(tops[k], rows[row * width + k]);
    }
}

// The mean of the rows of each text, [texts, width]; 0 for a text without rows.
Result<float> pool_means(Matrix rows, Places starts, Places ends) {
    check_spans(starts, ends, rows.shape(0));
    std::vector<float> means(starts.size() * rows.shape(1), 0);
    add_means(rows.data(), starts.data(), ends.data(), starts.size(), rows.shape(1), means.data());
    return to_numpy(std::move(means), {starts.size(), rows.shape(1)});
}

// The largest value of each feature over the rows of each text, [texts, width]; 0 for a text without rows.
Result<float> pool_tops(Matrix rows, Places starts, Places ends) {
    check_spans(starts, ends, rows.shape(0));
    std::vector<float> tops(starts.size() * rows.shape(1), 0);
    take_tops(rows.data(), starts.data(), ends.data(), starts.size(), rows.shape(1), tops.data());
    return to_numpy(std::move(tops), {starts.size(), rows.shape(1)});
}

HEADWISE_VECTORS
void weigh_rows(const float* scores, const float* rows, const int64_t* starts, const int64_t* ends,
                size_t texts, size_t width, const float* tops, float* totals, float* pooled) {
    for (size_t text = 0; text < texts; ++text, tops += width, pooled += width) {
        std::fill_n(totals, width, 0.0f);
        for (int64_t row = starts[text]; row < ends[text]; ++row)
            for (size_t k = 0; k < width; ++k) {
                const float weight = exponential(scores[row * width + k] - tops[k]);
                totals[k] += weight;
                pooled[k] += weight * rows[row * width + k];
            }
        if (starts[text] < ends[text])
            for (size_t k = 0; k < width; ++k) pooled[k] /= totals[k];
    }
}

// The rows of each text, weighted by the softmax of the scores over the text for each feature,
// [texts, width]; 0 for a text without rows.
Result<float> pool_attentively(Matrix scores, Matrix rows, Places starts, Places ends) {
    const size_t width = rows.shape(1), texts = starts.size();
    require(scores.shape(0) == rows.shape(0) && scores.shape(1) == width, "one score for each value");
    check_spans(starts, ends, rows.shape(0));
    std::vector<float> tops(texts * width, 0), totals(width), pooled(texts * width, 0);
    take_tops(scores.data(), starts.data(), ends.data(), texts, width, tops.data());
    weigh_rows(scores.data(), rows.data(), starts.data(), ends.data(), texts, width, tops.data(),
               totals.data(), pooled.data());
    return to_numpy(std::move(pooled), {texts, width});
}

HEADWISE_VECTORS
void add_weighted(const float* vectors, const float* weights, const int64_t* places, const int64_t* starts,
                  const int64_t* ends, size_t texts, size_t size, float* sums) {
    for (size_t text = 0; text < texts; ++text, sums += size)
        for (int64_t word = starts[text]; word < ends[text]; ++word) {
            const float* vector = vectors + places[word] * size;
            const float weight = weights[places[word]];
            for (size_t k = 0; k < size; ++k) sums[k] += weight * vector[k];
        }
}

// Weighted sums of the vectors of the words of each text, [texts, size].
Result<float> weighted_sums(Matrix vectors, Array1<const float> weights, Places places, Places starts,
                            Places ends) {
    const size_t size = vectors.shape(1), texts = starts.size();
    require(weights.size() == vectors.shape(0), "one weight for each vector");
    check_indices(places.data(), places.size(), weights.size(), "a place beyond the vectors");
    check_spans(starts, ends, places.size());
    std::vector<float> sums(texts * size, 0);
    {
        nb::gil_scoped_release release;
        add_weighted(vectors.data(), weights.data(), places.data(), starts.data(), ends.data(), texts, size,
                     sums.data());
    }
    return to_numpy(std::move(sums), {texts, size});
}

// The rows of one text that look, and those of its partner that are looked at.
struct TextPair {
    int64_t query_start, query_end, key_start, key_end;
};

constexpr int64_t kSummed = 16;  // products that are summed before they join the sum of all: less rounding

// weights: `[keys]`; part: `[value size]`; both for the time being.
HEADWISE_VECTORS
void attend(const TextPair& texts, const float* query, const float* key, const float* value, size_t heads,
            size_t size, size_t value_size, float* weights, float* part, float* out) {
    const float scale = 1 / std::sqrt(static_cast<float>(size));
    const int64_t keys = texts.key_end - texts.key_start;
    for (int64_t row = texts.query_start; row < texts.query_end; ++row)
        for (size_t head = 0; head < heads; ++head) {
            float top = -HUGE_VALF;
            double total = 0;
            for (int64_t k = 0; k < keys; ++k) {
                const float* place = key + ((texts.key_start + k) * heads + head) * size;
                weights[k] = scale * dot_product(query + (row * heads + head) * size, place,
                                                 static_cast<int64_t>(size));
                top = std::max(top, weights[k]);
            }
            for (int64_t k = 0; k < keys; ++k) weights[k] = exponential(weights[k] - top);
            for (int64_t k = 0; k < keys; ++k) total += static_cast<double>(weights[k]);
            const float inverse = static_cast<float>(1 / total);
            float* result = out + (row * heads + head) * value_size;
            for (int64_t first = 0; first < keys; first += kSummed) {
                std::fill_n(part, value_size, 0.0f);
                for (int64_t k = first; k < std::min(first + kSummed, keys); ++k) {
                    const float* place = value + ((texts.key_start + k) * heads + head) * value_size;
                    const float weight = weights[k] * inverse;
                    for (size_t n = 0; n < value_size; ++n) part[n] += weight * place[n];
                }
                for (size_t n = 0; n < value_size; ++n) result[n] += part[n];
            }
        }
}

// Attention of every query of a text to all keys of its partner, [queries, heads * value size]; 0 for a
// text whose partner has no keys. All texts have a span of queries and one of keys.
Result<float> cross_attention(Array3<const float> query, Array3<const float> key, Array3<const float> value,
                              Places query_starts, Places query_ends, Places key_starts, Places key_ends) {
    const size_t heads = query.shape(1), size = query.shape(2), value_size = value.shape(2);
    require(key.shape(1) == heads && key.shape(2) == size, "keys have the shape of queries");
    require(value.shape(0) == key.shape(0) && value.shape(1) == heads, "one value for each key");
    check_spans(query_starts, query_ends, query.shape(0));
    check_spans(key_starts, key_ends, key.shape(0));
    require(query_starts.size() == key_starts.size(), "each text has a partner");
    std::vector<float> out(query.shape(0) * heads * value_size, 0), weights(key.shape(0)), part(value_size);
    {
        nb::gil_scoped_release release;
        for (size_t text = 0; text < query_starts.size(); ++text)
            attend({query_starts(text), query_ends(text), key_starts(text), key_ends(text)}, query.data(),
                   key.data(), value.data(), heads, size, value_size, weights.data(), part.data(),
                   out.data());
    }
    return to_numpy(std::move(out), {query.shape(0), heads * value_size});
}

// What the characters of a word add at each place of a window, and the largest sums over the word.
HEADWISE_VECTORS
void convolve(const float* tables, size_t window, size_t alphabet, size_t features,
              const int64_t* characters, int64_t length, const float* bias, float* sums, float* tops) {
    const int64_t reach = static_cast<int64_t>(window / 2);
    for (int64_t place = 0; place < length; ++place) {
        std::copy_n(bias, features, sums);
        for (size_t part = 0; part < window; ++part) {
            const int64_t at = place + static_cast<int64_t>(part) - reach;
            if (at < 0 || at >= length) continue;
            const float* added = tables + (part * alphabet + characters[at]) * features;
            for (size_t n = 0; n < features; ++n) sums[n] += added[n];
        }
        for (size_t n = 0; n < features; ++n) tops[n] = place == 0 ? sums[n] : std::max(tops[n], sums[n]);
    }
}

// A convolution over the characters of words and its maximum over each word, [words, features]; 0 for a
// word without characters.
//
// tables: what each character adds at each place of the window, [window, alphabet, features].
// characters: Numbers of the characters, word after word.
// ends: Offsets of the words, [words + 1].
Result<float> convolve_characters(Array3<const float> tables, Places characters, Places ends,
                                  Array1<const float> bias) {
    const size_t window = tables.shape(0), alphabet = tables.shape(1), features = tables.shape(2);
    check_offsets(ends, characters.size());
    check_indices(characters.data(), characters.size(), alphabet, "a character beyond the alphabet");
    require(bias.size() == features, "one bias for each feature");
    const size_t words = ends.size() - 1;
    std::vector<float> tops(words * features, 0), sums(features);
    {
        nb::gil_scoped_release release;
        for (size_t word = 0; word < words; ++word)
            convolve(tables.data(), window, alphabet, features, characters.data() + ends(word),
                     ends(word + 1) - ends(word), bias.data(), sums.data(), tops.data() + word * features);
    }
    return to_numpy(std::move(tops), {words, features});
}

}  // namespace

void bind_inference(nb::module_& module) {
    module.def("normalize_rows", &normalize_rows, array("rows"), array("added"), array("weight"),
               array("bias"), nb::arg("epsilon"), nb::arg("rectify"));
    module.def("mix_gates", &mix_gates, array("parts"), array("table"), array("places"), array("bias"));
    module.def("pool_means", &pool_means, array("rows"), array("starts"), array("ends"));
    module.def("pool_tops", &pool_tops, array("rows"), array("starts"), array("ends"));
    module.def("pool_attentively", &pool_attentively, array("scores"), array("rows"), array("starts"),
               array("ends"));
    module.def("weighted_sums", &weighted_sums, array("vectors"), array("weights"), array("places"),
               array("starts"), array("ends"));
    module.def("cross_attention", &cross_attention, array("query"), array("key"), array("value"),
               array("query_starts"), array("query_ends"), array("key_starts"), array("key_ends"));
    module.def("convolve_characters", &convolve_characters, array("tables"), array("characters"),
               array("ends"), array("bias"));
}

}  // namespace headwise
