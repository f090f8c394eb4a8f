// The epoch of headwise.linear.svm_solver, which has the formulas.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <nanobind/stl/optional.h>

#include "arrays.h"
#include "lanes.h"
#include "module.h"
#include "targets.h"

namespace headwise {
namespace {

// The weights of a block of W columns, and the columns' place among all.
struct Block {
    const float* squares;  // the squared ratios of the sparse features, or null
    float *weights, *dense, *bias;
    int64_t first, columns;  // fewer than W where the last block is padded
};

class SvmProblem {
  public:
    SvmProblem(Array1<const int64_t> indptr, Array1<const int32_t> indices, Array1<const float> values,
               size_t features, Array2<const float> dense, Array2<const int8_t> signs,
               Array2<const float> slack, Array2<const float> norms,
               std::optional<Array2<const float>> offsets, std::optional<Array2<const float>> targets)
        : indptr_(indptr),
          indices_(indices),
          values_(values),
          features_(features),
          dense_(dense),
          signs_(signs),
          slack_(slack),
          norms_(norms),
          offsets_(offsets),
          targets_(targets) {
        const size_t texts = signs.shape(0), columns = signs.shape(1);
        check_offsets(indptr, std::min(indices.size(), values.size()));
        require(indptr.size() == texts + 1, "one row of features per text");
        check_indices(indices.data(), indices.size(), features, "an index beyond the features");
        require(dense.shape(0) == texts && slack.shape(0) == texts && norms.shape(0) == texts,
                "one row of each array per text");
        require((slack.shape(1) == 1 || slack.shape(1) == columns) &&
                    (norms.shape(1) == 1 || norms.shape(1) == columns),
                "one value per text, or one per text and column");
        for (const auto& given : {offsets, targets})
            require(!given || (given->shape(0) == texts && given->shape(1) == columns),
                    "offsets and targets: one per text and column");
    }

    float epoch(Array1<const int64_t> order, size_t first, std::optional<Array2<const float>> squares,
                Array2<float> alpha, Array2<float> weights, Array2<float> dense, Array1<float> bias) const {
        const size_t texts = signs_.shape(0), columns = signs_.shape(1), width = bias.size();
        check_indices(order.data(), order.size(), texts, "an index beyond the texts");
        require(first < columns, "the first column of a block is one of the columns");
        require(alpha.shape(0) == texts && alpha.shape(1) == columns, "one alpha per text and column");
        require(weights.shape(0) == features_ && weights.shape(1) == width, "one weight per feature");
        require(dense.shape(0) == dense_.shape(1) && dense.shape(1) == width, "one weight per number");
        require(!squares || (squares->shape(0) == features_ && squares->shape(1) == width),
                "one square per feature");
        const Block block{squares ? squares->data() : nullptr,
                          weights.data(),
                          dense.data(),
                          bias.data(),
                          static_cast<int64_t>(first),
                          static_cast<int64_t>(std::min(width, columns - first))};
        nb::gil_scoped_release release;
        switch (width) {
            case 1:
                return epoch_1(order, alpha.data(), block);
            case 4:
                return epoch_4(order, alpha.data(), block);
            case 8:
                return epoch_8(order, alpha.data(), block);
            case 16:
                return epoch_16(order, alpha.data(), block);
        }
        throw std::invalid_argument("blocks have 1, 4, 8 or 16 columns");
    }

  private:
    using Order = Array1<const int64_t>;
    HEADWISE_VECTORS float epoch_1(const Order& order, float* alpha, const Block& block) const {
        return epoch_of<1>(order, alpha, block);
    }
    HEADWISE_VECTORS float epoch_4(const Order& order, float* alpha, const Block& block) const {
        return epoch_of<4>(order, alpha, block);
    }
    HEADWISE_VECTORS float epoch_8(const Order& order, float* alpha, const Block& block) const {
        return epoch_of<8>(order, alpha, block);
    }
    HEADWISE_VECTORS float epoch_16(const Order& order, float* alpha, const Block& block) const {
        return epoch_of<16>(order, alpha, block);
    }

    // One pass over the texts; returns the largest violation of an optimality condition.
    template <int W>
    float epoch_of(const Order& order, float* alpha, const Block& block) const {
        float worst = 0, scores[W], steps[W];
        for (size_t turn = 0; turn < order.size(); ++turn) {
            const int64_t text = order(turn);
            add_up<W>(text, block, scores);
            if (move<W>(text, scores, alpha, block, steps, worst)) add_step<W>(text, steps, block);
        }
        return worst;
    }

    // scores[k] = w_k x of a text, and the bias.
    template <int W>
    void add_up(int64_t text, const Block& block, float* scores) const {
        constexpr int kSums = 4;  // sums side by side, as an addition waits for the one before it
        Lanes<W> sums[kSums] = {};
        const int64_t begin = indptr_(text), end = indptr_(text + 1);
        const int32_t* indices = indices_.data();
        const float* values = values_.data();
        int64_t at = begin;
        for (; at + kSums <= end; at += kSums)
            for (int sum = 0; sum < kSums; ++sum)
                sums[sum].add_product(values[at + sum], row<W>(block.weights, indices[at + sum]));
        for (; at < end; ++at) sums[0].add_product(values[at], row<W>(block.weights, indices[at]));
        const int64_t width = static_cast<int64_t>(dense_.shape(1));
        const float* vector = dense_.data() + text * width;
        for (at = 0; at + kSums <= width; at += kSums)
            for (int sum = 0; sum < kSums; ++sum)
                sums[sum].add_product(vector[at + sum], row<W>(block.dense, at + sum));
        for (; at < width; ++at) sums[0].add_product(vector[at], row<W>(block.dense, at));
        sums[0] += sums[1];
        sums[2] += sums[3];
        sums[0] += sums[2];
        sums[0] += row<W>(block.bias, 0);
        sums[0].store(scores);
        if (offsets_)
            for (int64_t k = 0; k < block.columns; ++k) scores[k] += (*offsets_)(text, block.first + k);
    }

    // Moves the alpha of a text to the minimum of the dual; steps[k] is y times the difference. Returns
    // whether any moved.
    template <int W>
    bool move(int64_t text, const float* scores, float* alpha, const Block& block, float* steps,
              float& worst) const {
        const int64_t columns = static_cast<int64_t>(signs_.shape(1)), cell = text * columns + block.first;
        const bool same_cost = slack_.shape(1) == 1, same_norm = norms_.shape(1) == 1;
        const float* slack = slack_.data() + (same_cost ? text : cell);
        const float* norms = norms_.data() + (same_norm ? text : cell);
        bool moved = false;
        for (int64_t k = 0; k < block.columns; ++k) {
            steps[k] = 0;
            const float diagonal = slack[same_cost ? 0 : k];
            if (diagonal == std::numeric_limits<float>::infinity()) continue;
            const float y = signs_.data()[cell + k], now = alpha[cell + k];
            const float target = targets_ ? targets_->data()[cell + k] : 1.0f;
            const float gradient = y * scores[k] - target + diagonal * now;
            if (now == 0 && gradient >= 0 && !targets_) continue;
            worst = std::max(worst, std::abs(gradient));
            float next = now - gradient / (norms[same_norm ? 0 : k] + diagonal);
            if (!targets_) next = std::max(next, 0.0f);
            if (next == now) continue;
            alpha[cell + k] = next;
            steps[k] = (next - now) * y;
            block.bias[k] += steps[k];
            moved = true;
        }
        for (int64_t k = block.columns; k < W; ++k) steps[k] = 0;
        return moved;
    }

    // w_k += r_k^2 x steps[k]
    template <int W>
    void add_step(int64_t text, const float* steps, const Block& block) const {
        const Lanes<W> step = Lanes<W>::load(steps);
        const int64_t end = indptr_(text + 1);
        for (int64_t at = indptr_(text); at < end; ++at) {
            const int64_t feature = indices_.data()[at];
            Lanes<W> scaled = step, weights = row<W>(block.weights, feature);
            if (block.squares != nullptr) scaled *= row<W>(block.squares, feature);
            weights.add_product(values_.data()[at], scaled);
            weights.store(block.weights + feature * W);
        }
        const int64_t width = static_cast<int64_t>(dense_.shape(1));
        const float* vector = dense_.data() + text * width;
        for (int64_t at = 0; at < width; ++at) {
            Lanes<W> weights = row<W>(block.dense, at);
            weights.add_product(vector[at], step);
            weights.store(block.dense + at * W);
        }
    }

    template <int W>
    static Lanes<W> row(const float* rows, int64_t number) {
        return Lanes<W>::load(rows + number * W);
    }

    Array1<const int64_t> indptr_;
    Array1<const int32_t> indices_;
    Array1<const float> values_;
    size_t features_;
    Array2<const float> dense_;
    Array2<const int8_t> signs_;
    Array2<const float> slack_, norms_;
    std::optional<Array2<const float>> offsets_, targets_;
};

}  // namespace

void bind_svm_solver(nb::module_& module) {
    nb::class_<SvmProblem>(module, "SvmProblem")
        .def(nb::init<Array1<const int64_t>, Array1<const int32_t>, Array1<const float>, size_t,
                      Array2<const float>, Array2<const int8_t>, Array2<const float>, Array2<const float>,
                      std::optional<Array2<const float>>, std::optional<Array2<const float>>>(),
             array("indptr"), array("indices"), array("values"), nb::arg("features"), array("dense"),
             array("signs"), array("slack"), array("norms"), array("offsets").none(),
             array("targets").none())
        .def("epoch", &SvmProblem::epoch, array("order"), nb::arg("first"), array("squares").none(),
             array("alpha"), array("weights"), array("dense"), array("bias"));
}

}  // namespace headwise
