// A linear layer whose weights are 16-bit integers, for headwise.runtime (see int16_products.h).
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "arrays.h"
#include "int16_products.h"
#include "module.h"
#include "processor.h"

#ifdef HEADWISE_AMX_BUILD
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace headwise {
namespace {

// Whether this processor multiplies pairs of 16-bit integers in one instruction.
bool has_int16_products() {
#ifdef HEADWISE_X86_BUILDS
    return this_processor().vnni;
#else
    return false;
#endif
}

// Whether it multiplies tiles of bytes, and the system lets this process use them.
bool has_tiles() {
#ifdef HEADWISE_AMX_BUILD
    constexpr int kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    static const bool has = this_processor().tiles && syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
    return has;
#else
    return false;
#endif
}

// The builds of the kernel that this processor runs, the fastest first.
std::vector<std::string> int16_kernels() {
    std::vector<std::string> names;
    if (has_tiles()) names.push_back("amx");
    if (has_int16_products()) names.push_back("vnni");
    names.push_back("plain");
    return names;
}

class Int16Matrix {
  public:
    // `x W + b`; weight: W, [inputs, outputs]; bias: b, [outputs]; kernel: one of int16_kernels(), the
    // first if it is empty.
    Int16Matrix(Array2<const float> weight, Array1<const float> bias, const std::string& kernel)
        : inputs_(weight.shape(0)), outputs_(weight.shape(1)) {
        const auto kernels = int16_kernels();
        const auto place = std::find(kernels.begin(), kernels.end(), kernel.empty() ? kernels[0] : kernel);
        require(place != kernels.end(), "a kernel that this processor runs");
        require(0 < inputs_ && inputs_ <= kMostInputs, "between 1 and 65,536 inputs");
        require(bias.size() == weight.shape(1), "one bias for each output");
        kernel_ = *place;
        const int64_t panels = (outputs_ + kPanel - 1) / kPanel;
        scales_.resize(panels * kPanel);
        bias_.resize(panels * kPanel);
        std::copy_n(bias.data(), outputs_, bias_.begin());
        if (kernel_ == "amx")
            tiles_.resize((outputs_ + kTileRows - 1) / kTileRows * tile_steps() * 2 * kTileRows);
        else
            pairs_.resize(panels * ((inputs_ + 1) / 2) * kPanel * 2);
        std::vector<float> column(inputs_);
        std::vector<int16_t> rounded(inputs_);
        for (int64_t out = 0; out < outputs_; ++out) {
            for (int64_t k = 0; k < inputs_; ++k) column[k] = weight(k, out);
            scales_[out] = to_int16(column.data(), inputs_, rounded.data());
            kernel_ == "amx" ? add_to_tiles(out, rounded) : add_to_pairs(out, rounded);
        }
    }

    // out = rows W + b, [rows, inputs] -> [rows, outputs].
    void multiply(Array2<const float> rows, Array2<float> out) const {
        require(static_cast<int64_t>(rows.shape(1)) == inputs_, "as many inputs as the matrix has");
        require(rows.shape(0) == out.shape(0) && static_cast<int64_t>(out.shape(1)) == outputs_,
                "as many outputs as the matrix has, for each row");
        const Int16Product product{rows.data(),
                                   out.data(),
                                   pairs_.data(),
                                   tiles_.data(),
                                   scales_.data(),
                                   bias_.data(),
                                   static_cast<int64_t>(rows.shape(0)),
                                   inputs_,
                                   outputs_};
        nb::gil_scoped_release release;
#ifdef HEADWISE_AMX_BUILD
        if (kernel_ == "amx") return multiply_int16<Amx>(product);
#endif
#ifdef HEADWISE_X86_BUILDS
        if (kernel_ == "vnni") return multiply_int16<Vnni>(product);
#endif
        multiply_int16<Plain>(product);
    }

  private:
    int64_t tile_steps() const { return (inputs_ + kTileInputs - 1) / kTileInputs; }

    void add_to_pairs(int64_t out, const std::vector<int16_t>& column) {
        const int64_t pairs = (inputs_ + 1) / 2;
        int16_t* panel = pairs_.data() + out / kPanel * pairs * kPanel * 2 + out % kPanel * 2;
        for (int64_t k = 0; k < inputs_; ++k) panel[k / 2 * kPanel * 2 + k % 2] = column[k];
    }

    void add_to_tiles(int64_t out, const std::vector<int16_t>& column) {
        uint8_t* tiles = tiles_[out / kTileRows * tile_steps() * 2 * kTileRows].bytes + out % kTileRows * 4;
        for (int64_t k = 0; k < inputs_; ++k) {
            uint8_t* tile = tiles + k / kTileInputs * 2 * kTileBytes + k % kTileInputs / 4 * 64 + k % 4;
            tile[0] = static_cast<uint8_t>(column[k] >> 8);
            tile[kTileBytes] = static_cast<uint8_t>(column[k]);
        }
    }

    int64_t inputs_, outputs_;
    std::string kernel_;
    std::vector<int16_t> pairs_;
    std::vector<CacheLine> tiles_;
    std::vector<float> scales_, bias_;
};

}  // namespace

void bind_int16_matrix(nb::module_& module) {
    module.def("has_int16_products", &has_int16_products);
    module.def("int16_kernels", &int16_kernels);
    nb::class_<Int16Matrix>(module, "Int16Matrix")
        .def(nb::init<Array2<const float>, Array1<const float>, const std::string&>(), array("weight"),
             array("bias"), nb::arg("kernel") = "")
        .def("multiply", &Int16Matrix::multiply, array("rows"), array("out"));
}

}  // namespace headwise
