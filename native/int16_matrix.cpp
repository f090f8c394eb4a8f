// A linear layer whose weights are 16-bit integers, for headwise.runtime (see int16_products.h).
#include <algorithm>

#include "arrays.h"
#include "int16_products.h"
#include "module.h"

namespace headwise {
namespace {

// Whether this processor multiplies pairs of 16-bit integers in one instruction.
bool has_int16_products() {
#ifdef HEADWISE_X86_BUILDS
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

class Int16Matrix {
  public:
    // `x W + b`; weight: W, [inputs, outputs]; bias: b, [outputs].
    Int16Matrix(Array2<const float> weight, Array1<const float> bias)
        : inputs_(weight.shape(0)), outputs_(weight.shape(1)) {
        require(0 < inputs_ && inputs_ <= kMostInputs, "between 1 and 65,536 inputs");
        require(bias.size() == weight.shape(1), "one bias for each output");
        const int64_t pairs = (inputs_ + 1) / 2, panels = (outputs_ + kPanel - 1) / kPanel;
        weights_.resize(panels * pairs * kPanel * 2);
        scales_.resize(panels * kPanel);
        bias_.resize(panels * kPanel);
        std::copy_n(bias.data(), outputs_, bias_.begin());
        std::vector<float> column(inputs_);
        std::vector<int16_t> rounded(inputs_);
        for (int64_t out = 0; out < outputs_; ++out) {
            for (int64_t k = 0; k < inputs_; ++k) column[k] = weight(k, out);
            scales_[out] = to_int16(column.data(), inputs_, rounded.data());
            int16_t* panel = weights_.data() + out / kPanel * pairs * kPanel * 2 + out % kPanel * 2;
            for (int64_t k = 0; k < inputs_; ++k) panel[k / 2 * kPanel * 2 + k % 2] = rounded[k];
        }
    }

    // out = rows W + b, [rows, inputs] -> [rows, outputs]; with `portable` by loops for all processors.
    void multiply(Array2<const float> rows, Array2<float> out, bool portable) const {
        require(static_cast<int64_t>(rows.shape(1)) == inputs_, "as many inputs as the matrix has");
        require(rows.shape(0) == out.shape(0) && static_cast<int64_t>(out.shape(1)) == outputs_,
                "as many outputs as the matrix has, for each row");
        const Int16Product product{rows.data(),    out.data(),   weights_.data(),
                                   scales_.data(), bias_.data(), static_cast<int64_t>(rows.shape(0)),
                                   inputs_,        outputs_};
        nb::gil_scoped_release release;
#ifdef HEADWISE_X86_BUILDS
        if (!portable && has_int16_products()) return multiply_int16<Vnni>(product);
#endif
        (void)portable;
        multiply_int16<Plain>(product);
    }

  private:
    int64_t inputs_, outputs_;
    std::vector<int16_t> weights_;
    std::vector<float> scales_, bias_;
};

}  // namespace

void bind_int16_matrix(nb::module_& module) {
    module.def("has_int16_products", &has_int16_products);
    nb::class_<Int16Matrix>(module, "Int16Matrix")
        .def(nb::init<Array2<const float>, Array1<const float>>(), array("weight"), array("bias"))
        .def("multiply", &Int16Matrix::multiply, array("rows"), array("out"), nb::arg("portable") = false);
}

}  // namespace headwise
