// The kernels of headwise.linear.tag_crf, which documents them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "arrays.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

using Ends = Array1<const int64_t>;

template <typename T>
void check_chain(const Array2<const T>& emissions, const Ends& ends, const Array2<const T>& transitions) {
    const size_t tags = emissions.shape(1);
    check_offsets(ends, emissions.shape(0));
    require(tags > 0, "a word has one tag or more");
    require(transitions.shape(0) == tags && transitions.shape(1) == tags,
            "transitions lead from each tag to each");
}

template <typename T>
struct Chain {  // of one sentence
    const T *emissions, *transitions;
    int64_t words, tags;
};

// best: score of the best sequence that ends with each tag; scores: the same with one more word, `[tags]`.
// back: the tag before each tag of each word in such a sequence, `[words, tags]`.
template <typename T>
void best_sequence(const Chain<T>& chain, T* best, T* scores, int32_t* back, int32_t* best_tags) {
    const int64_t tags = chain.tags;
    std::copy(chain.emissions, chain.emissions + tags, best);
    for (int64_t word = 1; word < chain.words; ++word) {
        int32_t* from = back + word * tags;
        std::fill(scores, scores + tags, -std::numeric_limits<T>::infinity());
        std::fill(from, from + tags, 0);
        for (int64_t i = 0; i < tags; ++i)
            for (int64_t k = 0; k < tags; ++k) {
                const T candidate = best[i] + chain.transitions[i * tags + k];
                from[k] = candidate > scores[k] ? static_cast<int32_t>(i) : from[k];
                scores[k] = candidate > scores[k] ? candidate : scores[k];
            }
        for (int64_t k = 0; k < tags; ++k) best[k] = scores[k] + chain.emissions[word * tags + k];
    }
    best_tags[chain.words - 1] = static_cast<int32_t>(std::max_element(best, best + tags) - best);
    for (int64_t word = chain.words - 1; word > 0; --word)
        best_tags[word - 1] = back[word * tags + best_tags[word]];
}

HEADWISE_VECTORS void best_sequence_of(const Chain<float>& chain, float* best, float* scores, int32_t* back,
                                       int32_t* best_tags) {
    best_sequence(chain, best, scores, back, best_tags);
}

HEADWISE_VECTORS void best_sequence_of(const Chain<double>& chain, double* best, double* scores,
                                       int32_t* back, int32_t* best_tags) {
    best_sequence(chain, best, scores, back, best_tags);
}

template <typename T>
Result<int32_t> viterbi(Array2<const T> emissions, Array2<const T> transitions, Ends ends) {
    check_chain(emissions, ends, transitions);
    const size_t words = emissions.shape(0), tags = emissions.shape(1);
    std::vector<int32_t> best_tags(words, 0);
    {
        nb::gil_scoped_release release;
        std::vector<int32_t> back;
        std::vector<T> best(tags), scores(tags);
        for (size_t sentence = 0; sentence + 1 < ends.size(); ++sentence) {
            const int64_t start = ends(sentence), length = ends(sentence + 1) - start;
            if (length == 0) continue;
            back.resize(std::max(back.size(), length * tags));
            const Chain<T> chain{emissions.data() + start * tags, transitions.data(), length,
                                 static_cast<int64_t>(tags)};
            best_sequence_of(chain, best.data(), scores.data(), back.data(), best_tags.data() + start);
        }
    }
    return to_numpy(std::move(best_tags));
}

constexpr double kLeast = 1e-290;  // sums below it are taken as too small: their inverses stay numbers

// The logarithm of the sum of exp(score) of all ways to each tag of a word, shifted to a maximum of 0, and
// what the marginals of one sentence need besides. Sums are taken of exponentials; where these are too
// small for a number, the largest alone counts.
struct Ways {
    std::vector<double> moves;    // exponentials of the transitions less `top`, `[tags, tags]`
    std::vector<double> sums;     // of the ways to each tag before its emission, `[words, tags]`
    std::vector<double> logs;     // `[words, tags]`
    std::vector<double> chances;  // exponentials of `logs`, `[words, tags]`
    std::vector<double> message;  // `[tags]`
    double top = 0;
};

template <typename T>
int64_t best_before(const Chain<T>& chain, const double* logs, int64_t tag) {
    int64_t best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < chain.tags; ++i) {
        const double score = logs[i] + static_cast<double>(chain.transitions[i * chain.tags + tag]);
        if (score > most) best = i, most = score;
    }
    return best;
}

template <typename T>
void sum_ways(const Chain<T>& chain, Ways& ways) {
    const int64_t tags = chain.tags;
    for (int64_t word = 0; word < chain.words; ++word) {
        const T* emissions = chain.emissions + word * tags;
        double *logs = ways.logs.data() + word * tags, *sums = ways.sums.data() + word * tags;
        for (int64_t k = 0; k < tags; ++k) logs[k] = static_cast<double>(emissions[k]);
        if (word > 0) {
            const double *before = logs - tags, *chances = ways.chances.data() + (word - 1) * tags;
            std::fill(sums, sums + tags, 0.0);
            for (int64_t i = 0; i < tags; ++i)
                for (int64_t k = 0; k < tags; ++k) sums[k] += chances[i] * ways.moves[i * tags + k];
            for (int64_t k = 0; k < tags; ++k) {
                if (sums[k] >= kLeast) {
                    logs[k] += std::log(sums[k]) + ways.top;
                } else {
                    sums[k] = 0;
                    const int64_t best = best_before(chain, before, k);
                    logs[k] += before[best] + static_cast<double>(chain.transitions[best * tags + k]);
                }
            }
        }
        const double most = *std::max_element(logs, logs + tags);
        double* chances = ways.chances.data() + word * tags;
        for (int64_t k = 0; k < tags; ++k) chances[k] = std::exp(logs[k] -= most);
    }
}

// Chances of the tags of each word: those of the last from the ways to them, those of the others from the
// chance of each tag before a tag.
template <typename T>
void sentence_marginals(const Chain<T>& chain, Ways& ways, T* probabilities) {
    const int64_t tags = chain.tags;
    sum_ways(chain, ways);
    double* message = ways.message.data();
    for (int64_t word = chain.words - 1; word >= 0; --word) {
        const double* chances = ways.chances.data() + word * tags;
        T* result = probabilities + word * tags;
        if (word == chain.words - 1) {
            double total = 0;
            for (int64_t k = 0; k < tags; ++k) total += chances[k];
            for (int64_t k = 0; k < tags; ++k) result[k] = static_cast<T>(chances[k] / total);
            continue;
        }
        const double* sums = ways.sums.data() + (word + 1) * tags;
        for (int64_t k = 0; k < tags; ++k)
            message[k] = sums[k] > 0 ? static_cast<double>(result[tags + k]) / sums[k] : 0;
        for (int64_t i = 0; i < tags; ++i) {
            double value = 0;
            for (int64_t k = 0; k < tags; ++k) value += ways.moves[i * tags + k] * message[k];
            result[i] = static_cast<T>(chances[i] * value);
        }
        for (int64_t k = 0; k < tags; ++k)
            if (sums[k] == 0 && result[tags + k] > 0) {
                const double* logs = ways.logs.data() + word * tags;
                result[best_before(chain, logs, k)] += result[tags + k];
            }
    }
}

HEADWISE_VECTORS void marginals_of(const Chain<float>& chain, Ways& ways, float* result) {
    sentence_marginals(chain, ways, result);
}

HEADWISE_VECTORS void marginals_of(const Chain<double>& chain, Ways& ways, double* result) {
    sentence_marginals(chain, ways, result);
}

template <typename T>
Result<T> marginals(Array2<const T> emissions, Array2<const T> transitions, Ends ends) {
    check_chain(emissions, ends, transitions);
    const size_t words = emissions.shape(0), tags = emissions.shape(1);
    std::vector<T> probabilities(words * tags, 0);
    {
        nb::gil_scoped_release release;
        Ways ways;
        ways.message.resize(tags);
        const T* scores = transitions.data();
        ways.top = static_cast<double>(*std::max_element(scores, scores + tags * tags));
        for (size_t cell = 0; cell < tags * tags; ++cell)
            ways.moves.push_back(std::exp(static_cast<double>(scores[cell]) - ways.top));
        for (size_t sentence = 0; sentence + 1 < ends.size(); ++sentence) {
            const int64_t start = ends(sentence), length = ends(sentence + 1) - start;
            if (length == 0) continue;
            ways.logs.resize(std::max(ways.logs.size(), length * tags));
            ways.sums.resize(ways.logs.size());
            ways.chances.resize(ways.logs.size());
            const Chain<T> chain{emissions.data() + start * tags, scores, length,
                                 static_cast<int64_t>(tags)};
            marginals_of(chain, ways, probabilities.data() + start * tags);
        }
    }
    return to_numpy(std::move(probabilities), {words, tags});
}

template <typename T>
void bind(nb::module_& module) {
    module.def("viterbi", &viterbi<T>, array("emissions"), array("transitions"), array("ends"));
    module.def("marginals", &marginals<T>, array("emissions"), array("transitions"), array("ends"));
}

}  // namespace

void bind_chain_decoding(nb::module_& module) {
    bind<float>(module);
    bind<double>(module);
}

}  // namespace headwise
