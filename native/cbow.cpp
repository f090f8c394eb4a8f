// The kernel of headwise.training.pretraining.cbow, which has the formulas.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "arrays.h"
#include "lanes.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

constexpr float kMostDot = 12;

// Marsaglia's xorshift.
inline uint64_t next_random(uint64_t random) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
}

struct Training {
    float *vectors, *outputs;
    int64_t size;
    const int32_t* table;  // word ids from which negatives are drawn
    uint64_t draws;
    int64_t negatives;
    uint64_t random;
    double loss;
    std::vector<float> total, push, hidden, back;
};

// Words predict each other: the mean of all but one of them predicts that one. `words` has two or more.
HEADWISE_VECTORS void train_stretch(const std::vector<int32_t>& words, float rate, Training& training) {
    const int64_t size = training.size, count = static_cast<int64_t>(words.size());
    float* __restrict total = training.total.data();
    float* __restrict push = training.push.data();
    float* __restrict hidden = training.hidden.data();
    float* __restrict back = training.back.data();
    std::fill(total, total + size, 0.0f);
    std::fill(push, push + size, 0.0f);
    for (const int32_t word : words) {
        const float* row = training.vectors + word * size;
        for (int64_t d = 0; d < size; ++d) total[d] += row[d];
    }
    const float share = 1 / static_cast<float>(count - 1);
    for (const int32_t word : words) {
        float* __restrict row = training.vectors + word * size;
        for (int64_t d = 0; d < size; ++d) hidden[d] = (total[d] - row[d]) * share;
        std::fill(back, back + size, 0.0f);
        for (int64_t k = 0; k <= training.negatives; ++k) {
            int32_t target = word;
            if (k > 0) {
                training.random = next_random(training.random);
                target = training.table[(training.random >> 16) % training.draws];
                if (target == word) continue;
            }
            float* __restrict output = training.outputs + target * size;
            const float dot = std::min(std::max(dot_product(hidden, output, size), -kMostDot), kMostDot);
            const float chance = 1 / (1 + std::exp(-dot));
            training.loss -= std::log(k == 0 ? chance : 1 - chance);
            const float step = rate * ((k == 0 ? 1 : 0) - chance);
            for (int64_t d = 0; d < size; ++d) {
                back[d] += step * output[d];
                output[d] += step * hidden[d];
            }
        }
        // The update is for all words but this one: subtract it here, as all words get it below.
        for (int64_t d = 0; d < size; ++d) {
            push[d] += back[d];
            row[d] -= back[d] * share;
        }
    }
    for (const int32_t word : words) {
        float* __restrict row = training.vectors + word * size;
        for (int64_t d = 0; d < size; ++d) row[d] += push[d] * share;
    }
}

std::tuple<double, int64_t> train_passages(Array1<const int32_t> flat, Array1<const int64_t> starts,
                                           Array1<const int64_t> order, Array2<float> vectors,
                                           Array2<float> outputs, Array1<const double> keep,
                                           Array1<const int32_t> table, int64_t width, int64_t negatives,
                                           double rate, double last_rate, Array1<uint64_t> state) {
    const size_t words = vectors.shape(0), size = vectors.shape(1);
    require(starts.size() > 0, "offsets hold at least one number");
    check_indices(order.data(), order.size(), starts.size() - 1, "an index beyond the passages");
    require(outputs.shape(0) == words && outputs.shape(1) == size, "two vectors per word");
    require(keep.size() == words, "one probability per word");
    check_indices(table.data(), table.size(), words, "an index beyond the words");
    require(negatives >= 0 && (negatives == 0 || table.size() > 0), "words to draw negatives from");
    require(width > 0, "stretches have one word or more");
    require(state.size() == 1, "one state of the random numbers");
    nb::gil_scoped_release release;
    Training training{vectors.data(),
                      outputs.data(),
                      static_cast<int64_t>(size),
                      table.data(),
                      table.size(),
                      negatives,
                      state(0),
                      0,
                      std::vector<float>(size),
                      std::vector<float>(size),
                      std::vector<float>(size),
                      std::vector<float>(size)};
    std::vector<int32_t> stretch;
    int64_t trained = 0;
    for (size_t number = 0; number < order.size(); ++number) {
        const double progress = static_cast<double>(number) / static_cast<double>(order.size());
        const float now = static_cast<float>(rate + (last_rate - rate) * progress);
        int64_t place = starts(order(number));
        const int64_t end = starts(order(number) + 1);
        require(0 <= place && place <= end && end <= static_cast<int64_t>(flat.size()),
                "offsets ascend from 0 to the number of values");
        check_indices(flat.data() + place, end - place, words, "an index beyond the words");
        while (place < end) {
            stretch.clear();
            while (place < end && static_cast<int64_t>(stretch.size()) < width) {
                const int32_t word = flat(place++);
                training.random = next_random(training.random);
                if (static_cast<double>(training.random >> 11) * 0x1p-53 < keep(word))
                    stretch.push_back(word);
            }
            if (stretch.size() < 2) continue;
            train_stretch(stretch, now, training);
            trained += static_cast<int64_t>(stretch.size());
        }
    }
    state(0) = training.random;
    return {training.loss, trained};
}

}  // namespace

void bind_cbow(nb::module_& module) {
    module.def("train_passages", &train_passages, array("flat"), array("starts"), array("order"),
               array("vectors"), array("outputs"), array("keep"), array("table"), nb::arg("width"),
               nb::arg("negatives"), nb::arg("rate"), nb::arg("last_rate"), array("state"));
}

}  // namespace headwise
