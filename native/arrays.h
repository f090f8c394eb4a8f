// Arrays that Python passes in and takes out, without copies.
//
// Arguments are strict: another dtype, number of dimensions or memory order is a TypeError, never a copy,
// as many kernels write into their arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headwise {

namespace nb = nanobind;

template <typename T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Array3 = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// An argument that is an array.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

template <typename T>
using Result = nb::ndarray<nb::numpy, T>;

// A NumPy array that owns the memory of a vector.
template <typename T>
Result<T> to_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* memory = new std::vector<T>(std::move(values));
    nb::capsule owner(memory, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return Result<T>(memory->data(), shape, owner);
}

template <typename T>
Result<T> to_numpy(std::vector<T>&& values) {
    const size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

}  // namespace headwise
