// The loss of logistic regression with labels that exclude each other (headwise.training.linear_probe).
#include <algorithm>
#include <cmath>

#include "arrays.h"
#include "exponential.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

// The loss of one text, -sum of t log softmax(z); z becomes its gradient, sum of t * softmax(z) - t, times
// the weight of the text.
inline double text_loss(float* logits, const float* targets, int64_t labels, float weight) {
    float highest = logits[0], total = 0, mass = 0, gain = 0;
    for (int64_t k = 1; k < labels; ++k) highest = std::max(highest, logits[k]);
    for (int64_t k = 0; k < labels; ++k) {
        mass += targets[k];
        gain += targets[k] * (logits[k] - highest);
    }
    for (int64_t k = 0; k < labels; ++k) {
        logits[k] = exponential(logits[k] - highest);
        total += logits[k];
    }
    const float scale = weight * mass / total;
    for (int64_t k = 0; k < labels; ++k) logits[k] = logits[k] * scale - weight * targets[k];
    return static_cast<double>(weight) * (mass * std::log(total) - gain);
}

HEADWISE_VECTORS double texts_loss(float* logits, const float* targets, const float* weights, int64_t texts,
                                   int64_t labels) {
    double total = 0;
    for (int64_t text = 0; text < texts; ++text)
        total += text_loss(logits + text * labels, targets + text * labels, labels, weights[text]);
    return total;
}

double softmax_loss(Array2<float> logits, Array2<const float> targets, Array1<const float> weights) {
    const size_t texts = logits.shape(0), labels = logits.shape(1);
    require(targets.shape(0) == texts && targets.shape(1) == labels, "one target per logit");
    require(weights.size() == texts, "one weight per text");
    require(labels > 0, "a text has one logit or more");
    nb::gil_scoped_release release;
    return texts_loss(logits.data(), targets.data(), weights.data(), static_cast<int64_t>(texts),
                      static_cast<int64_t>(labels));
}

}  // namespace

void bind_softmax_loss(nb::module_& module) {
    module.def("softmax_loss", &softmax_loss, array("logits"), array("targets"), array("weights"));
}

}  // namespace headwise
