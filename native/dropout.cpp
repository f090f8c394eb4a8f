// The kernel of headwise.nn.layers.dropout.
#include "dropout.h"

#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

template <typename T>
HEADWISE_VECTORS void drop(const T* values, T* result, uint32_t size, DropoutMask<T> mask) {
    for (uint32_t place = 0; place < size; ++place) {
        const T factor = mask(place);
        result[place] = factor != 0 ? values[place] * factor : T(0);
    }
}

template <typename T>
void dropout(Array1<const T> values, Array1<T> result, uint64_t key, double probability) {
    require(result.size() == values.size(), "as many values are expected");
    require(values.size() < UINT32_MAX, "fewer values are expected");
    const DropoutMask<T> mask(key, probability);
    nb::gil_scoped_release release;
    drop(values.data(), result.data(), static_cast<uint32_t>(values.size()), mask);
}

}  // namespace

void bind_dropout(nb::module_& module) {
    module.def("dropout", &dropout<float>, array("values"), array("result"), nb::arg("key"),
               nb::arg("probability"));
    module.def("dropout", &dropout<double>, array("values"), array("result"), nb::arg("key"),
               nb::arg("probability"));
}

}  // namespace headwise
