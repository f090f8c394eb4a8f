// The kernels of headwise.training.optimizer: AdamW on the rows of an embedding that have gradients. The
// steps of the other rows are made up for when a row is read again.
#include <cmath>

#include "arrays.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

constexpr double kFirst = 0.9, kSecond = 0.999, kEpsilon = 1e-8;  // as training/optimizer.py has them

// A row of the weights and its two moments.
struct Row {
    float* weights;
    float* first;
    float* second;
    size_t size;
};

HEADWISE_VECTORS void skip_row(Row row, float factor, float epsilon, float first_decay,
                               float second_decay) {
    for (size_t place = 0; place < row.size; ++place) {
        row.weights[place] -= factor * row.first[place] / (std::sqrt(row.second[place]) + epsilon);
        row.first[place] *= first_decay;
        row.second[place] *= second_decay;
    }
}

HEADWISE_VECTORS void step_row(Row row, const float* gradient, float scale, float rate, float correction) {
    constexpr auto first_share = static_cast<float>(1 - kFirst),
                   second_share = static_cast<float>(1 - kSecond);
    constexpr auto second_decay = static_cast<float>(kSecond), epsilon = static_cast<float>(kEpsilon);
    for (size_t place = 0; place < row.size; ++place) {
        const float slope = gradient[place] * scale;
        const float first = row.first[place] + first_share * (slope - row.first[place]);
        const float second = row.second[place] * second_decay + second_share * slope * slope;
        row.first[place] = first;
        row.second[place] = second;
        row.weights[place] -= rate * first / (std::sqrt(second) * correction + epsilon);
    }
}

HEADWISE_VECTORS void add_row(const float* values, float* sums, size_t size) {
    for (size_t place = 0; place < size; ++place) sums[place] += values[place];
}

// The rows of a sparse gradient, each once, in the order of their first gradient; the sums of their
// gradients; and the sum of the squares of these. A row `without` is left out.
auto sum_rows(Array1<const int64_t> rows, Array2<const float> values, size_t count, int64_t without) {
    require(rows.size() == values.shape(0), "as many rows of gradients as indices are expected");
    check_indices(rows.data(), rows.size(), count, "indices below the number of rows are expected");
    const size_t size = values.shape(1);
    std::vector<int64_t> place_of(count, -1), unique;
    std::vector<float> sums;
    double squares = 0;
    {
        nb::gil_scoped_release release;
        for (size_t place = 0; place < rows.size(); ++place)
            if (int64_t& slot = place_of[rows(place)]; slot < 0 && rows(place) != without) {
                slot = static_cast<int64_t>(unique.size());
                unique.push_back(rows(place));
            }
        sums.resize(unique.size() * size);
        for (size_t place = 0; place < rows.size(); ++place)
            if (rows(place) != without)
                add_row(values.data() + place * size, sums.data() + place_of[rows(place)] * size, size);
        for (const float sum : sums) squares += static_cast<double>(sum) * sum;
    }
    const size_t different = unique.size();
    return nb::make_tuple(to_numpy(std::move(unique)), to_numpy(std::move(sums), {different, size}),
                          squares);
}

void check_rows(const Array2<float>& weights, const Array2<float>& first, const Array2<float>& second,
                const Array1<int64_t>& steps, const Array1<const int64_t>& rows) {
    for (const auto& moments : {first, second})
        require(moments.shape(0) == weights.shape(0) && moments.shape(1) == weights.shape(1),
                "moments of the shape of the weights are expected");
    require(steps.size() == weights.shape(0), "a step of each row is expected");
    check_indices(rows.data(), rows.size(), weights.shape(0),
                  "indices below the number of rows are expected");
}

// Brings rows to the step `now`, as if each step since their last one had had a gradient of 0.
// factors[s]: the sum of what the steps after s move a row, in units of what its moments at s say.
void skip_steps(Array2<float> weights, Array2<float> first, Array2<float> second, Array1<int64_t> steps,
                Array1<const int64_t> rows, Array1<const double> factors, int64_t now) {
    check_rows(weights, first, second, steps, rows);
    require(now >= 0 && factors.size() > static_cast<size_t>(now), "a factor of each step is expected");
    check_indices(steps.data(), steps.size(), now + 1, "steps up to the present one are expected");
    nb::gil_scoped_release release;
    const size_t size = weights.shape(1);
    for (size_t place = 0; place < rows.size(); ++place) {
        const auto row = static_cast<size_t>(rows(place));
        const int64_t last = steps(row), gone = now - last;
        if (last == 0 || gone == 0) continue;  // without moments, or there already
        const auto epsilon = kEpsilon * std::sqrt(1 - std::pow(kSecond, static_cast<double>(last + 1)));
        skip_row({&weights(row, 0), &first(row, 0), &second(row, 0), size},
                 static_cast<float>(factors(static_cast<size_t>(last))), static_cast<float>(epsilon),
                 static_cast<float>(std::pow(kFirst, static_cast<double>(gone))),
                 static_cast<float>(std::pow(kSecond, static_cast<double>(gone))));
        steps(row) = now;
    }
}

// The step `now` of different rows with these gradients times a scale; they have made all steps before.
void step_rows(Array2<float> weights, Array2<float> first, Array2<float> second, Array1<int64_t> steps,
               Array1<const int64_t> rows, Array2<const float> gradients, int64_t now, double rate,
               double scale) {
    check_rows(weights, first, second, steps, rows);
    require(gradients.shape(0) == rows.size() && gradients.shape(1) == weights.shape(1),
            "a gradient of each row is expected");
    require(now >= 1, "steps count from 1");
    nb::gil_scoped_release release;
    const size_t size = weights.shape(1);
    const auto count = static_cast<double>(now);
    const auto corrected = static_cast<float>(rate / (1 - std::pow(kFirst, count)));
    const auto correction = static_cast<float>(1 / std::sqrt(1 - std::pow(kSecond, count)));
    for (size_t place = 0; place < rows.size(); ++place) {
        const auto row = static_cast<size_t>(rows(place));
        step_row({&weights(row, 0), &first(row, 0), &second(row, 0), size}, &gradients(place, 0),
                 static_cast<float>(scale), corrected, correction);
        steps(row) = now;
    }
}

}  // namespace

void bind_row_adamw(nb::module_& module) {
    module.def("sum_rows", &sum_rows, array("rows"), array("values"), nb::arg("count"),
               nb::arg("without") = -1);
    module.def("skip_steps", &skip_steps, array("weights"), array("first"), array("second"), array("steps"),
               array("rows"), array("factors"), nb::arg("now"));
    module.def("step_rows", &step_rows, array("weights"), array("first"), array("second"), array("steps"),
               array("rows"), array("gradients"), nb::arg("now"), nb::arg("rate"), nb::arg("scale"));
}

}  // namespace headwise
