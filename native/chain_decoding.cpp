// The kernels of headwise.linear.chain_decoding, which documents them.
#include <cstddef>
#include <limits>

#include "arrays.h"
#include "chain.h"
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

// The arrays that the marginals of one sentence need.
template <typename T>
struct Workspace {
    std::vector<T> chances, backward, moves, counts, message;
};

template <typename T>
void sentence_marginals(const Chain<T>& chain, Workspace<T>& space, T* probabilities) {
    exponents(chain.emissions, chain.words, chain.tags, space.chances.data());
    forward_backward(space.chances.data(), space.moves.data(), chain.words, chain.tags, probabilities,
                     space.backward.data(), space.counts.data(), space.message.data());
    for (int64_t cell = 0; cell < chain.words * chain.tags; ++cell)
        probabilities[cell] *= space.backward[cell];
}

HEADWISE_VECTORS void marginals_of(const Chain<float>& chain, Workspace<float>& space, float* result) {
    sentence_marginals(chain, space, result);
}

HEADWISE_VECTORS void marginals_of(const Chain<double>& chain, Workspace<double>& space, double* result) {
    sentence_marginals(chain, space, result);
}

template <typename T>
Result<T> marginals(Array2<const T> emissions, Array2<const T> transitions, Ends ends) {
    check_chain(emissions, ends, transitions);
    const size_t words = emissions.shape(0), tags = emissions.shape(1);
    std::vector<T> probabilities(words * tags, 0);
    {
        nb::gil_scoped_release release;
        Workspace<T> space;
        space.counts.resize(tags * tags);
        space.message.resize(tags);
        for (size_t cell = 0; cell < tags * tags; ++cell)
            space.moves.push_back(std::exp(transitions.data()[cell]));
        for (size_t sentence = 0; sentence + 1 < ends.size(); ++sentence) {
            const int64_t start = ends(sentence), length = ends(sentence + 1) - start;
            if (length == 0) continue;
            space.chances.resize(std::max(space.chances.size(), length * tags));
            space.backward.resize(space.chances.size());
            const Chain<T> chain{emissions.data() + start * tags, transitions.data(), length,
                                 static_cast<int64_t>(tags)};
            marginals_of(chain, space, probabilities.data() + start * tags);
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
