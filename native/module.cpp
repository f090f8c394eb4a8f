// headwise.core.native: loops over texts and numbers, with no knowledge of torch. Each file holds one
// subject.
#include "module.h"

NB_MODULE(native, module) {
    module.doc() = "The compiled loops of headwise.";
    headwise::bind_hashing(module);
    headwise::bind_surface_features(module);
}
