// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/finite_weights.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/io/checkpoint_files.hpp>
#include <totograph/io/model_config.hpp>
#include <totograph/toto/checkpoint_source.hpp>
#include <totograph/toto/config.hpp>
#include <totograph/toto/programs.hpp>
#include <totograph/toto/untrained_source.hpp>

namespace totograph::toto {

/// The weights of one architecture. Copies share everything; safe to use from many threads.
template <Toto1Model Model>
struct ModelWeights {
    Weights weights;
};

/// Every tensor of an architecture, in the order in which the model reads them. The list is read off a recorded
/// program.
template <Toto1Model Model>
std::vector<NamedShape> checkpoint_tensors() {
    constexpr Bucket smallest{.batch = 1, .variates = 2, .context = 1, .horizon = 1, .samples = 0};
    static_assert(check_bucket<Model, smallest>());
    const Graph graph = record<Prefill<Model, smallest, Rewrites{}>>();
    std::map<std::string, bool> seen;
    std::vector<NamedShape> tensors;
    for (const Node& node : graph.nodes) {
        if (node.op == Op::weight && !std::exchange(seen[full_name(node)], true)) {
            tensors.push_back({full_name(node), node.shape});
        }
    }
    return tensors;
}

/// Compares `config.json` with the compiled configuration. Throws one `Error` that lists each field that differs.
template <Toto1Model Model>
void check_config_file(const std::filesystem::path& path) {
    constexpr Toto1Config config = Model::config;
    const io::ModelConfig file(path);
    io::ConfigCheck check(file);
    check.integer("patch_size", config.patch_size);
    check.integer("stride", config.patch_size);
    check.integer("embed_dim", config.embed_dim);
    check.integer("num_layers", config.num_layers);
    check.integer("num_heads", config.num_heads);
    check.integer("mlp_hidden_dim", config.mlp_hidden_dim);
    check.integer("spacewise_every_n_layers", config.spacewise_every_n_layers);
    check.boolean("spacewise_first", config.spacewise_first, true);
    const char* scaler = config.scaler == Scaler::global   ? "<class 'model.scaler.StdMeanScaler'>"
                         : config.scaler == Scaler::causal ? "<class 'model.scaler.CausalStdMeanScaler'>"
                                                           : "<class 'model.scaler.CausalPatchStdMeanScaler'>";
    check.text("scaler_cls", scaler);
    if (config.scaler == Scaler::causal_patch) {
        check.boolean("stabilize_with_global", config.stabilize_with_global, true);
        if (config.stabilize_with_global && file.contains("scale_factor_exponent")) {
            check.number("scale_factor_exponent", config.scale_factor_exponent);
        }
    }
    const bool is_mixture = config.head == Head::mixture_of_student_t;
    check.text("output_distribution_classes.0", is_mixture ? "<class 'model.distribution.MixtureOfStudentTsOutput'>"
                                                           : "<class 'model.distribution.StudentTOutput'>");
    if (is_mixture) {
        check.integer("output_distribution_kwargs.k_components", config.k_components);
    }
    check.finish();
}

/// Opens a checkpoint: a folder, a file, a folder of shards with their index, or a model's folder in a Hugging Face
/// cache (`io::find_checkpoint` says what is looked for where). Its `config.json`, if it has one, and its tensors are
/// checked against the architecture.
///
/// Weights are read when a forecaster needs them. The files stay open until then and after: removing them, or renaming
/// others over them, changes nothing; one that was written to or cut is an `Error(io_failure)` of whoever reads it.
/// Throws `Error`.
template <Toto1Model Model>
ModelWeights<Model> load(const std::filesystem::path& checkpoint) {
    const io::CheckpointFiles files = io::find_checkpoint(checkpoint);
    if (!files.config.empty()) {
        check_config_file<Model>(files.config);
    }
    return {Weights(std::make_shared<CheckpointSource>(files, checkpoint_tensors<Model>()))};
}

/// Reads every tensor of a model. Throws `Error` (`tensor_mismatch`), which names the tensor and the first bad index,
/// for a value that is not finite; and what reading throws. Forecasters check what they prepare by themselves: this is
/// for those who want to know before.
template <Toto1Model Model>
void check_weights(const ModelWeights<Model>& weights) {
    for (const NamedShape& tensor : checkpoint_tensors<Model>()) {
        require_finite(weights.weights.source(), tensor.name, tensor.shape);
    }
}

/// Untrained weights, for tests, benchmarks and demonstrations.
template <Toto1Model Model>
ModelWeights<Model> untrained(std::uint64_t seed = 0) {
    return {Weights(std::make_shared<UntrainedSource>(seed))};
}

}  // namespace totograph::toto
