// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/finite_weights.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/forecast/weights/named_shape.hpp>
#include <totograph/forecast/weights/open_checkpoint.hpp>
#include <totograph/forecast/weights/untrained_source.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>

namespace totograph {

/// The weights of a model. Copies share everything; safe to use from many threads.
template <class Model>
struct ModelWeights {
    Weights weights;
};

/// The weights that a forecaster of a model takes: its own, or those of the model whose checkpoint it reads.
template <class Model>
using WeightsOf = ModelWeights<typename CheckpointOf<Model>::type>;

namespace forecast_detail {

/// Every tensor that programs read, each once. Throws `Error` (`invalid_argument`) where they read one as two shapes.
template <class... Programs>
std::vector<NamedShape> tensors_of(ModelList<Programs...>) {
    std::map<std::string, Shape> seen;
    std::vector<NamedShape> tensors;
    const auto add = [&](const Graph& graph) {
        for (const Node& node : graph.nodes) {
            if (node.op != Op::weight) {
                continue;
            }
            const auto [known, is_new] = seen.emplace(full_name(node), node.shape);
            if (is_new) {
                tensors.push_back({known->first, node.shape});
            } else if (!(known->second == node.shape)) {
                throw Error(ErrorCode::invalid_argument,
                            "The model reads the tensor '" + known->first + "' as " + to_string(known->second) +
                                " and as " + to_string(node.shape) +
                                "; a tensor has one shape, that of the checkpoint: reshape it after `weight`, or name "
                                "another one.");
            }
        }
    };
    (add(record<Programs>()), ...);
    return tensors;
}

}  // namespace forecast_detail

/// Every tensor of a model, in the order in which its programs read them. The list is read off recorded programs.
template <class Model>
std::vector<NamedShape> checkpoint_tensors() {
    using Family = FamilyOf<Model>;
    static_assert(check_bucket<Model, Family::smallest_bucket>());
    return forecast_detail::tensors_of(typename Family::template Schedule<Family::smallest_bucket>::Models{});
}

/// Opens a checkpoint: a folder, a file, a folder of shards with their index, or a model's folder in a Hugging Face
/// cache (`io::find_checkpoint` says what is looked for where). Its `config.json`, if it has one, and its tensors are
/// checked against the model.
///
/// Weights are read when a forecaster needs them. The files stay open until then and after: removing them, or renaming
/// others over them, changes nothing; one that was written to or cut is an `Error(io_failure)` of whoever reads it.
/// Throws `Error`.
template <class Model>
ModelWeights<Model> load(const std::string& checkpoint) {
    static_assert(check_family<Model>());
    const io::CheckpointFiles files = io::find_checkpoint(checkpoint);
    if (!files.config.empty()) {
        FamilyOf<Model>::check_config(io::ModelConfig(files.config));
    }
    return {Weights(open_checkpoint(files, checkpoint_tensors<Model>(), FamilyOf<Model>::checkpoint))};
}

/// Opens a checkpoint, as `load` does, for programs of no family: those that an executor of yours runs, each a type
/// with `static constexpr void record(Recorder&)`. Its tensors are checked against what they read together; a
/// `config.json` is not looked at. Throws `Error`.
template <class... Programs>
Weights load_weights(const std::string& checkpoint, const CheckpointRules& rules = {}) {
    static_assert(sizeof...(Programs) > 0, "totograph: load_weights is given the programs that read the weights.");
    return Weights(
        open_checkpoint(io::find_checkpoint(checkpoint), forecast_detail::tensors_of(ModelList<Programs...>{}), rules));
}

/// Reads every tensor of a model. Throws `Error` (`tensor_mismatch`), which names the tensor and the first bad index,
/// for a value that is not finite; and what reading throws. Forecasters check what they prepare by themselves: this is
/// for those who want to know before.
template <class Model>
void check_weights(const ModelWeights<Model>& weights) {
    for (const NamedShape& tensor : checkpoint_tensors<Model>()) {
        require_finite(weights.weights.source(), tensor.name, tensor.shape);
    }
}

/// Untrained weights, for tests, benchmarks and demonstrations.
template <class Model>
ModelWeights<Model> untrained(std::uint64_t seed = 0) {
    return {Weights(std::make_shared<UntrainedSource>(seed))};
}

}  // namespace totograph
