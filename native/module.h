// What each file of kernels adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace headwise {

void bind_hashing(nanobind::module_& module);
void bind_surface_features(nanobind::module_& module);

}  // namespace headwise
