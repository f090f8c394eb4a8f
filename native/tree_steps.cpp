// Path lengths between the nodes of a tree (headwise.text.syntax.tree_distances).
#include "arrays.h"
#include "module.h"

namespace headwise {
namespace {

// Fill in the steps between all pairs of nodes; parents come before their children, the root is node 0.
void fill_tree_steps(Array1<const int64_t> parents, Array2<int16_t> steps) {
    const int64_t nodes = static_cast<int64_t>(parents.size());
    require(steps.shape(0) == parents.size() && steps.shape(1) == parents.size(),
            "a row and a column per node");
    for (int64_t node = 1; node < nodes; ++node)
        require(parents(node) >= 0 && parents(node) < node, "parents come before their children");
    nb::gil_scoped_release release;
    int16_t* row = steps.data();
    if (nodes) row[0] = 0;
    for (int64_t node = 1; node < nodes; ++node) {
        row += nodes;
        // A node is one step farther than its parent from everything that comes before the node.
        const int16_t* above = steps.data() + parents(node) * nodes;
        for (int64_t before = 0; before < node; ++before)
            row[before] = static_cast<int16_t>(above[before] + 1);
        for (int64_t before = 0; before < node; ++before) steps.data()[before * nodes + node] = row[before];
        row[node] = 0;
    }
}

}  // namespace

void bind_tree_steps(nb::module_& module) {
    module.def("fill_tree_steps", &fill_tree_steps, array("parents"), array("steps"));
}

}  // namespace headwise
