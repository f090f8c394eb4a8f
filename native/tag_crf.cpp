// The kernels of headwise.linear.tag_crf, which documents the model.
#include <cmath>
#include <vector>

#include "arrays.h"
#include "chain.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

constexpr float kRate = 0.1f;            // learning rate of AdaGrad
constexpr float kSmallGradient = 0.01f;  // gradients below this are skipped

// The features of words, `[words, size]`: row numbers of the weights, negative for unknown ones.
struct Features {
    const int32_t* rows;
    int64_t words, size;
};

void check_features(const Array2<const int32_t>& rows, size_t features) {
    bool inside = true;
    for (size_t place = 0; place < rows.size(); ++place)
        inside &= rows.data()[place] < static_cast<int64_t>(features);
    require(inside, "an index beyond the features");
}

inline void add_emissions(const Features& features, const float* weights, int64_t tags, float* emissions) {
    for (int64_t word = 0; word < features.words; ++word)
        for (int64_t feature = 0; feature < features.size; ++feature) {
            const int64_t row = features.rows[word * features.size + feature];
            if (row < 0) continue;
            for (int64_t k = 0; k < tags; ++k) emissions[word * tags + k] += weights[row * tags + k];
        }
}

HEADWISE_VECTORS void emissions_of(const Features& features, const float* weights, int64_t tags,
                                   float* emissions) {
    add_emissions(features, weights, tags, emissions);
}

Result<float> crf_emissions(Array2<const int32_t> rows, Array2<const float> weights) {
    check_features(rows, weights.shape(0));
    const size_t words = rows.shape(0), tags = weights.shape(1);
    std::vector<float> emissions(words * tags, 0);
    {
        nb::gil_scoped_release release;
        const Features features{rows.data(), static_cast<int64_t>(words),
                                static_cast<int64_t>(rows.shape(1))};
        emissions_of(features, weights.data(), static_cast<int64_t>(tags), emissions.data());
    }
    return to_numpy(std::move(emissions), {words, tags});
}

// The parameters of the CRF and AdaGrad's sums of squares.
struct Parameters {
    float *weights, *transitions, *squares, *transition_squares;
    const float* decay;
    int64_t tags;
};

struct Workspace {
    std::vector<float> emissions, chances, forward, backward, moves, expected, message;

    Workspace(int64_t words, int64_t tags)
        : emissions(words * tags),
          chances(words * tags),
          forward(words * tags),
          backward(words * tags),
          moves(tags * tags),
          expected(tags * tags),
          message(tags) {}
};

// A step of AdaGrad: the learning rate falls with the square root of the sum of squares.
inline void step(float slope, float& weight, float& square) {
    square += slope * slope;
    weight += kRate * slope / std::sqrt(square);
}

// One step of gradient ascent on the log likelihood of a sentence's tags.
HEADWISE_VECTORS void learn_sentence(const Features& features, const int32_t* gold,
                                     const Parameters& parameters, Workspace& space) {
    const int64_t tags = parameters.tags, words = features.words;
    float *forward = space.forward.data(), *expected = space.expected.data();
    std::fill(space.emissions.begin(), space.emissions.begin() + words * tags, 0.0f);
    add_emissions(features, parameters.weights, tags, space.emissions.data());
    exponents(space.emissions.data(), words, tags, space.chances.data());
    for (int64_t cell = 0; cell < tags * tags; ++cell)
        space.moves[cell] = std::exp(parameters.transitions[cell]);
    std::fill(space.expected.begin(), space.expected.end(), 0.0f);
    forward_backward(space.chances.data(), space.moves.data(), words, tags, forward, space.backward.data(),
                     expected, space.message.data());
    for (int64_t cell = 0; cell < tags * tags; ++cell) expected[cell] *= -space.moves[cell];
    for (int64_t word = 0; word < words; ++word) {
        float* slopes = forward + word * tags;  // of the emissions
        for (int64_t k = 0; k < tags; ++k) slopes[k] *= -space.backward[word * tags + k];
        slopes[gold[word]] += 1;
        if (word > 0) expected[gold[word - 1] * tags + gold[word]] += 1;
        float farthest = 0;
        for (int64_t k = 0; k < tags; ++k) farthest = std::max(farthest, std::abs(slopes[k]));
        if (farthest < kSmallGradient) continue;
        for (int64_t feature = 0; feature < features.size; ++feature) {
            const int64_t row = features.rows[word * features.size + feature];
            if (row < 0) continue;
            float *weights = parameters.weights + row * tags, *squares = parameters.squares + row * tags;
            const float decay = parameters.decay[row];
            for (int64_t k = 0; k < tags; ++k) step(slopes[k] - decay * weights[k], weights[k], squares[k]);
        }
    }
    for (int64_t cell = 0; cell < tags * tags; ++cell)
        step(expected[cell], parameters.transitions[cell], parameters.transition_squares[cell]);
}

void crf_epoch(Array1<const int64_t> order, Array2<const int32_t> rows, Array1<const int64_t> ends,
               Array1<const int32_t> gold, Array2<float> weights, Array2<float> transitions,
               Array2<float> squares, Array2<float> transition_squares, Array1<const float> decay) {
    const size_t words = rows.shape(0), features = weights.shape(0), tags = weights.shape(1);
    check_offsets(ends, words);
    check_indices(order.data(), order.size(), ends.size() - 1, "an index beyond the sentences");
    check_features(rows, features);
    require(gold.size() == words, "one tag per word");
    check_indices(gold.data(), gold.size(), tags, "an index beyond the tags");
    require(transitions.shape(0) == tags && transitions.shape(1) == tags,
            "transitions lead from each tag to each");
    require(squares.shape(0) == features && squares.shape(1) == tags && decay.size() == features,
            "one square and decay per weight");
    require(transition_squares.shape(0) == tags && transition_squares.shape(1) == tags,
            "one square per transition");
    nb::gil_scoped_release release;
    int64_t longest = 0;
    for (size_t sentence = 0; sentence + 1 < ends.size(); ++sentence)
        longest = std::max(longest, ends(sentence + 1) - ends(sentence));
    Workspace space(longest, static_cast<int64_t>(tags));
    const Parameters parameters{weights.data(), transitions.data(),
                                squares.data(), transition_squares.data(),
                                decay.data(),   static_cast<int64_t>(tags)};
    const int64_t size = static_cast<int64_t>(rows.shape(1));
    for (size_t turn = 0; turn < order.size(); ++turn) {
        const int64_t start = ends(order(turn)), end = ends(order(turn) + 1);
        if (start == end) continue;
        const Features sentence{rows.data() + start * size, end - start, size};
        learn_sentence(sentence, gold.data() + start, parameters, space);
    }
}

}  // namespace

void bind_tag_crf(nb::module_& module) {
    module.def("crf_emissions", &crf_emissions, array("rows"), array("weights"));
    module.def("crf_epoch", &crf_epoch, array("order"), array("rows"), array("ends"), array("gold"),
               array("weights"), array("transitions"), array("squares"), array("transition_squares"),
               array("decay"));
}

}  // namespace headwise
