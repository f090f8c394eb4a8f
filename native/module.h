// What each file of kernels adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace headwise {

void bind_attention(nanobind::module_& module);
void bind_dropout(nanobind::module_& module);
void bind_hashing(nanobind::module_& module);
void bind_int16_matrix(nanobind::module_& module);
void bind_inference(nanobind::module_& module);
void bind_norm_layers(nanobind::module_& module);
void bind_number_texts(nanobind::module_& module);
void bind_piece_table(nanobind::module_& module);
void bind_quoted_cells(nanobind::module_& module);
void bind_row_adamw(nanobind::module_& module);
void bind_sparse_scorer(nanobind::module_& module);
void bind_surface_features(nanobind::module_& module);
void bind_svm_solver(nanobind::module_& module);
void bind_chain_decoding(nanobind::module_& module);
void bind_tag_crf(nanobind::module_& module);
void bind_tag_features(nanobind::module_& module);
void bind_pair_alignment(nanobind::module_& module);
void bind_cbow(nanobind::module_& module);
void bind_near_duplicates(nanobind::module_& module);
void bind_softmax_loss(nanobind::module_& module);
void bind_split_features(nanobind::module_& module);
void bind_tree_steps(nanobind::module_& module);
void bind_word_vectors(nanobind::module_& module);

}  // namespace headwise
