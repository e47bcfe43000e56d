// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/forecast/weights/open_checkpoint.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/model_config.hpp>
#include <totograph/io/text.hpp>
#include <totograph/models/kronos/family.hpp>

namespace totograph::kronos {

namespace detail {

/// Finds one of the two checkpoints of a model and checks its `config.json`, which is that of the right one if it has
/// this field. Throws `Error`.
template <class Config>
io::CheckpointFiles find_part(const std::string& checkpoint, const Config& config, std::string_view what,
                              std::string_view field) {
    io::CheckpointFiles files = io::find_checkpoint(checkpoint);
    if (!files.config.empty()) {
        const io::ModelConfig file(files.config);
        if (!file.contains(field)) {
            throw Error(ErrorCode::config_mismatch,
                        io::in_quotes(file.file_name(), io::longest_quote) + " is not that of a Kronos " +
                            std::string(what) + ", which has a field '" + std::string(field) +
                            "'; name the folder of the tokenizer first, then that of the predictor.");
        }
        check_config_file(file, config);
    }
    return files;
}

}  // namespace detail

/// Opens the two checkpoints of a model as they are published: a tokenizer's folder and a predictor's, or what else
/// `totograph::load` takes for each. Their `config.json`, where there is one, and their tensors are checked against the
/// model; what only training reads is skipped. Throws `Error`.
template <KronosModel Model>
ModelWeights<Model> load(const std::string& tokenizer, const std::string& predictor) {
    static_assert(check_family<Model>());
    io::CheckpointFiles files = detail::find_part(tokenizer, Model::config.tokenizer, "tokenizer", "d_in");
    const io::CheckpointFiles others = detail::find_part(predictor, Model::config.predictor, "predictor", "n_layers");
    files.parts = {files.weights.size(), others.weights.size()};
    files.weights.insert(files.weights.end(), others.weights.begin(), others.weights.end());
    files.index.clear();  // that of one of them would not know the files of the other
    files.shards.clear();
    return {Weights(open_checkpoint(files, checkpoint_tensors<Model>(), FamilyOf<Model>::checkpoint))};
}

}  // namespace totograph::kronos
