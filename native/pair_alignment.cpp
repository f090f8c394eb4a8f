// The kernel of `align_words` of headwise.linear.pair_features, which documents the features.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "lanes.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

constexpr float kRounding = 1e-5f;  // a shorter vector is rounding error, and has no direction
constexpr float kLeast = 1e-6f;     // the least divisor

// The vectors of a text's words, and their lengths and highest cosines with words of the other text.
struct Words {
    const float* vectors;
    int64_t count, size;
    std::vector<float> lengths, cosines;

    Words(const float* rows, int64_t words, int64_t numbers)
        : vectors(rows), count(words), size(numbers), lengths(words), cosines(words, 0) {}
    const float* row(int64_t word) const { return vectors + word * size; }
};

inline void scale_to_length_one(float* vector, int64_t size) {
    const float length = std::sqrt(dot_product(vector, vector, size));
    for (int64_t at = 0; at < size; ++at) vector[at] = length > kRounding ? vector[at] / length : 0;
}

// left: sum of the vectors, each times 1 minus its cosine. numbers: mean and minimum of the cosines, and
// the largest unmatched weight relative to the largest.
inline void unmatched_part(const Words& words, float* left, float* numbers) {
    float total = 0, matched = 0, unmatched = 0, heaviest = 0, worst = 1;
    for (int64_t i = 0; i < words.count; ++i) {
        const float cosine = words.cosines[i], rest = 1 - cosine, length = words.lengths[i];
        for (int64_t at = 0; at < words.size; ++at) left[at] += rest * words.row(i)[at];
        total += length;
        matched += cosine * length;
        worst = std::min(worst, cosine);
        unmatched = std::max(unmatched, rest * length);
        heaviest = std::max(heaviest, length);
    }
    numbers[0] = matched / std::max(total, kLeast);
    numbers[1] = worst;
    numbers[2] = unmatched / std::max(heaviest, kLeast);
}

// u, v: vectors of the texts, `[size]`, which are scaled to length 1. vectors: `[4 * size + 1]`; numbers:
// `[6]`.
HEADWISE_VECTORS void align(Words& first, Words& second, float* u, float* v, float* vectors,
                            float* numbers) {
    const int64_t size = first.size;
    for (Words* words : {&first, &second})
        for (int64_t i = 0; i < words->count; ++i)
            words->lengths[i] = std::sqrt(dot_product(words->row(i), words->row(i), size));
    for (int64_t i = 0; i < first.count; ++i)
        for (int64_t j = 0; j < second.count; ++j) {
            const float lengths = std::max(first.lengths[i], kLeast) * std::max(second.lengths[j], kLeast);
            const float cosine = dot_product(first.row(i), second.row(j), size) / lengths;
            first.cosines[i] = std::max(first.cosines[i], cosine);
            second.cosines[j] = std::max(second.cosines[j], cosine);
        }
    scale_to_length_one(u, size);
    scale_to_length_one(v, size);
    for (int64_t at = 0; at < size; ++at) {
        vectors[at] = std::abs(u[at] - v[at]);
        vectors[size + at] = u[at] * v[at];
    }
    vectors[4 * size] = dot_product(u, v, size);
    unmatched_part(first, vectors + 2 * size, numbers);
    unmatched_part(second, vectors + 3 * size, numbers + 3);
    for (int part = 0; part < 4; ++part) scale_to_length_one(vectors + part * size, size);
}

std::tuple<Result<float>, Result<float>> align_words(Array1<float> u, Array1<float> v,
                                                     Array2<const float> first,
                                                     Array2<const float> second) {
    const size_t size = u.size();
    require(v.size() == size && first.shape(1) == size && second.shape(1) == size,
            "vectors of the same size");
    std::vector<float> vectors(4 * size + 1, 0), numbers(6, 0);
    {
        nb::gil_scoped_release release;
        Words of_first(first.data(), first.shape(0), size), of_second(second.data(), second.shape(0), size);
        align(of_first, of_second, u.data(), v.data(), vectors.data(), numbers.data());
    }
    return {to_numpy(std::move(vectors)), to_numpy(std::move(numbers))};
}

}  // namespace

void bind_pair_alignment(nb::module_& module) {
    module.def("align_words", &align_words, array("u"), array("v"), array("first"), array("second"));
}

}  // namespace headwise
