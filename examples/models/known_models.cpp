// SPDX-License-Identifier: Apache-2.0
#include "known_models.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>
#include <totograph/models/toto1/checkpoint_rules.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/demo_1_0.hpp>
#include <totograph/models/toto2/checkpoint_rules.hpp>
#include <totograph/models/toto2/config.hpp>

namespace examples {

namespace {

using totograph::io::ModelConfig;
namespace toto1 = totograph::toto1;
namespace toto2 = totograph::toto2;

bool is_toto1(const ModelConfig& config) {
    return config.contains("embed_dim");
}

bool is_toto2(const ModelConfig& config) {
    return config.contains("d_model");
}

template <toto1::Toto1Model Model>
constexpr KnownModel known_toto1(std::string_view name, std::string_view title) {
    return {name, title,
            [](const ModelConfig& config) {
                return is_toto1(config) && config.integer("embed_dim") == Model::config.embed_dim;
            },
            [](const ModelConfig& config) { toto1::check_config_file(config, Model::config); }};
}

template <toto2::Toto2Model Model>
constexpr KnownModel known_toto2(std::string_view name, std::string_view title) {
    return {name, title,
            [](const ModelConfig& config) {
                return is_toto2(config) && config.integer("d_model") == Model::config.d_model &&
                       config.integer("num_layers") == Model::config.num_layers;
            },
            [](const ModelConfig& config) { toto2::check_config_file(config, Model::config); }};
}

constexpr std::array all{known_toto1<toto1::demo_1_0>("demo", "the demo model"),
                         known_toto1<toto1::open_base_1_0>("open_base", "Toto Open Base 1.0"),
                         known_toto2<toto2::toto2_4m>("toto2_4m", "Toto 2.0 4m"),
                         known_toto2<toto2::toto2_22m>("toto2_22m", "Toto 2.0 22m"),
                         known_toto2<toto2::toto2_313m>("toto2_313m", "Toto 2.0 313m"),
                         known_toto2<toto2::toto2_1b>("toto2_1b", "Toto 2.0 1B"),
                         known_toto2<toto2::toto2_2_5b>("toto2_2_5b", "Toto 2.0 2.5B")};

/// What a configuration of no known model is.
std::string description(const ModelConfig& config) {
    if (is_toto2(config)) {
        return "is of the Toto 2.0 kind, with a d_model of " + std::to_string(config.integer("d_model")) + " and " +
               std::to_string(config.integer("num_layers")) + " layers";
    }
    if (is_toto1(config)) {
        return "is of the Toto 1.0 kind, with an embed_dim of " + std::to_string(config.integer("embed_dim"));
    }
    return "has neither a d_model, as those of Toto 2.0 have, nor an embed_dim, as those of Toto 1.0";
}

}  // namespace

std::span<const KnownModel> known_models() {
    return all;
}

const KnownModel& known_model_of(const ModelConfig& config) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const KnownModel& one) { return one.is_of(config); });
    if (found != all.end()) {
        found->check(config);
        return *found;
    }
    std::string titles;
    for (const KnownModel& one : all) {
        titles += (titles.empty() ? "" : ", ") + std::string(one.title);
    }
    throw totograph::Error(
        totograph::ErrorCode::config_mismatch,
        "The configuration " + totograph::io::in_quotes(config.file_name(), totograph::io::longest_quote) + " " +
            description(config) + ": it is none of the models that programs can be compiled for, which are " + titles +
            ". For another size, compile it into a program of your own.");
}

}  // namespace examples
