// The kernels of headwise.linear.pair_features, which documents the features, and of the vectors that they
// compare.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "arrays.h"
#include "lanes.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

constexpr float kRounding = 1e-5f;  // a shorter vector is rounding error, and has no direction
constexpr float kLeast = 1e-6f;     // the least divisor

constexpr int64_t kOverlaps = 8, kNumbers = 6;

// The vectors of a text's words, of which the heaviest are aligned; their lengths, and their highest
// cosines with words of the other text.
struct Words {
    const float* vectors;
    int64_t size, count;
    std::vector<int64_t> chosen;
    std::vector<float> lengths, cosines;

    Words(const float* rows, int64_t words, int64_t numbers, int64_t most)
        : vectors(rows), size(numbers), count(words), chosen(words), lengths(words) {
        for (int64_t word = 0; word < words; ++word) {
            chosen[word] = word;
            const float* vector = rows + word * size;
            lengths[word] = std::sqrt(dot_product(vector, vector, size));
        }
        if (words > most) {
            std::stable_sort(chosen.begin(), chosen.end(),
                             [&](int64_t a, int64_t b) { return lengths[a] > lengths[b]; });
            chosen.resize(most);
            std::sort(chosen.begin(), chosen.end());
            for (int64_t word = 0; word < most; ++word) lengths[word] = lengths[chosen[word]];
            count = most;
        }
        cosines.assign(count, 0);
    }
    const float* row(int64_t word) const { return vectors + chosen[word] * size; }
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

inline void add_rows(const float* rows, int64_t words, int64_t size, float* sum) {
    for (int64_t word = 0; word < words; ++word)
        for (int64_t at = 0; at < size; ++at) sum[at] += rows[word * size + at];
}

// u, v: vectors of the texts, `[size]`, which are scaled to length 1. vectors: `[4 * size + 1]`; numbers:
// `[6]`.
HEADWISE_VECTORS void align(Words& first, Words& second, float* u, float* v, float* vectors,
                            float* numbers) {
    const int64_t size = first.size;
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

// The different values in order.
template <typename T>
void keep_different(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <typename T>
double shared_by(const std::vector<T>& first, const std::vector<T>& second) {
    std::vector<T> shared;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                          std::back_inserter(shared));
    return static_cast<double>(shared.size());
}

// Words by their indices; unknown ones are the same word within a text, and match none of the other.
struct WordSets {
    std::vector<int64_t> words, different;
    std::vector<std::pair<int64_t, int64_t>> neighbours;

    WordSets(const int64_t* indices, int64_t count, int64_t unknown) {
        for (int64_t word = 0; word < count; ++word)
            words.push_back(indices[word] == 0 ? unknown : indices[word]);
        different = words;
        for (int64_t word = 1; word < count; ++word) neighbours.emplace_back(words[word - 1], words[word]);
        keep_different(different);
        keep_different(neighbours);
    }
};

inline double at_least_one(size_t count) { return static_cast<double>(std::max<size_t>(count, 1)); }

// The statistics of `overlap`, `[8]`.
void overlap(const WordSets& first, const WordSets& second, float* statistics) {
    const double shared = shared_by(first.different, second.different),
                 all = static_cast<double>(first.different.size() + second.different.size()) - shared,
                 pairs = shared_by(first.neighbours, second.neighbours),
                 longer = std::log1p(static_cast<double>(first.words.size())) -
                          std::log1p(static_cast<double>(second.words.size()));
    const double values[kOverlaps] = {shared / at_least_one(first.different.size()),
                                      shared / at_least_one(second.different.size()),
                                      shared / std::max(all, 1.0),
                                      pairs / at_least_one(first.neighbours.size()),
                                      pairs / at_least_one(second.neighbours.size()),
                                      first.words == second.words ? 1.0 : 0.0,
                                      longer,
                                      std::abs(longer)};
    for (int place = 0; place < kOverlaps; ++place) statistics[place] = static_cast<float>(values[place]);
}

// The dense features of pairs, `[pairs, 4 * size + 15]`.
//
// vectors: of the words of the first texts of all pairs, then of the second texts, `[words, size]`.
// indices: Their indices, `[words]`; ends: offsets of the texts, `[2 * pairs + 1]`.
// most: Maximum number of aligned words per text.
Result<float> compare_pairs(Array2<const float> vectors, Array1<const int64_t> indices,
                            Array1<const int64_t> ends, int64_t most) {
    const int64_t size = static_cast<int64_t>(vectors.shape(1));
    const size_t width = 4 * vectors.shape(1) + 1 + kOverlaps + kNumbers, pairs = (ends.size() - 1) / 2;
    check_offsets(ends, vectors.shape(0));
    require(ends.size() % 2 == 1, "each text has a partner");
    require(indices.size() == vectors.shape(0), "one index for each word");
    require(most > 0, "one word is aligned at least");
    std::vector<float> features(pairs * width, 0);
    {
        nb::gil_scoped_release release;
        std::vector<float> u(size), v(size);
        for (size_t pair = 0; pair < pairs; ++pair) {
            const int64_t start = ends(pair), other = ends(pairs + pair);
            const int64_t words = ends(pair + 1) - start, others = ends(pairs + pair + 1) - other;
            const float *rows = vectors.data() + start * size, *other_rows = vectors.data() + other * size;
            std::fill(u.begin(), u.end(), 0.0f);
            std::fill(v.begin(), v.end(), 0.0f);
            add_rows(rows, words, size, u.data());
            add_rows(other_rows, others, size, v.data());
            Words first(rows, words, size, most), second(other_rows, others, size, most);
            float *row = features.data() + pair * width, *statistics = row + 4 * size + 1;
            align(first, second, u.data(), v.data(), row, statistics + kOverlaps);
            overlap(WordSets(indices.data() + start, words, -1),
                    WordSets(indices.data() + other, others, -2), statistics);
        }
    }
    return to_numpy(std::move(features), {pairs, width});
}

HEADWISE_VECTORS void scale_words(const float* vectors, const float* weights, const int64_t* places,
                                  int64_t words, int64_t size, float* sum, float* rows) {
    for (int64_t word = 0; word < words; ++word)
        for (int64_t at = 0; at < size; ++at)
            rows[word * size + at] = vectors[places[word] * size + at] * weights[places[word]];
    std::fill_n(sum, size, 0.0f);
    add_rows(rows, words, size, sum);
    const float length = std::max(std::sqrt(dot_product(sum, sum, size)), 1e-12f);
    for (int64_t cell = 0; cell < words * size; ++cell) rows[cell] /= length;
}

// What each word adds to the vector of its text at length 1, `[words, size]`: its vector times its weight,
// divided by the length of their sum.
Result<float> word_contributions(Array2<const float> vectors, Array1<const float> weights,
                                 Array1<const int64_t> places, Array1<const int64_t> ends) {
    const size_t size = vectors.shape(1);
    require(weights.size() == vectors.shape(0), "one weight for each vector");
    check_indices(places.data(), places.size(), weights.size(), "a place beyond the vectors");
    check_offsets(ends, places.size());
    std::vector<float> rows(places.size() * size), sum(size);
    {
        nb::gil_scoped_release release;
        for (size_t text = 0; text + 1 < ends.size(); ++text)
            scale_words(vectors.data(), weights.data(), places.data() + ends(text),
                        ends(text + 1) - ends(text), static_cast<int64_t>(size), sum.data(),
                        rows.data() + ends(text) * size);
    }
    return to_numpy(std::move(rows), {places.size(), size});
}

}  // namespace

void bind_pair_alignment(nb::module_& module) {
    module.def("compare_pairs", &compare_pairs, array("vectors"), array("indices"), array("ends"),
               nb::arg("most"));
    module.def("word_contributions", &word_contributions, array("vectors"), array("weights"),
               array("places"), array("ends"));
}

}  // namespace headwise
