// headwise.core.native: loops over texts and numbers, with no knowledge of torch. Each file holds one
// subject.
#include "module.h"

NB_MODULE(native, module) {
    module.doc() = "The compiled loops of headwise.";
    nanobind::set_leak_warnings(false);  // readers of texts live as long as the process
    headwise::bind_attention(module);
    headwise::bind_dropout(module);
    headwise::bind_hashing(module);
    headwise::bind_int16_matrix(module);
    headwise::bind_inference(module);
    headwise::bind_norm_layers(module);
    headwise::bind_number_texts(module);
    headwise::bind_piece_table(module);
    headwise::bind_quoted_cells(module);
    headwise::bind_row_adamw(module);
    headwise::bind_sparse_scorer(module);
    headwise::bind_surface_features(module);
    headwise::bind_svm_solver(module);
    headwise::bind_chain_decoding(module);
    headwise::bind_tag_crf(module);
    headwise::bind_tag_features(module);
    headwise::bind_pair_alignment(module);
    headwise::bind_cbow(module);
    headwise::bind_near_duplicates(module);
    headwise::bind_softmax_loss(module);
    headwise::bind_split_features(module);
    headwise::bind_tree_steps(module);
    headwise::bind_word_vectors(module);
}
