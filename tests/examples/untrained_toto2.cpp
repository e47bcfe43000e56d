// SPDX-License-Identifier: Apache-2.0
// Writes an untrained Toto 2.0 4m as it is published (or 22m), and forecasts with a 4m node by node: what the programs'
// forecasts are compared with.
//
//     untrained_toto2 write <folder> [22m]
//     untrained_toto2 forecast <folder> <horizon> <known columns> < series.csv > quantiles.csv
//
// The CSV has a header and no gaps in its columns; the last ones, as many as are known, go on where the others are
// blank. Written are the median and the quantiles 0.1, 0.25 and 0.9 of each target's steps.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/forecast/weights/untrained_source.hpp>
#include <totograph/io/checkpoint/safetensors_writer.hpp>
#include <totograph/models/toto2/family.hpp>

namespace {

namespace tg = totograph;
using Model = tg::toto2::toto2_4m;

/// All that the published file of the 4m model has, and what its readers leave alone.
constexpr const char* published_config = R"({
  "attn_bias": true, "d_ff": 688, "d_model": 256, "dropout_p": 0.0, "layer_group_size": 4, "mlp_bias": false,
  "norm_eps": 0.0001, "norm_include_weight": false, "num_groups": null, "num_heads": 4, "num_layers": 4,
  "num_output_patches": 1, "num_variate_layers_per_group": 1, "patch_size": 32, "per_dim_scale": true,
  "pre_norm": true, "qk_dim": 64, "qk_norm": false, "residual_attn_ratio": 5.136215466577748, "residual_mult": 0.75,
  "use_xpos": true, "v_dim": 64, "variate_layer_first": false
}
)";

/// That of the 22m model.
std::string published_config_22m() {
    std::string text = published_config;
    for (const auto& [field, of_4m, of_22m] : {std::array{"\"d_ff\": ", "688", "1368"},
                                               {"\"d_model\": ", "256", "512"},
                                               {"\"layer_group_size\": ", "4", "6"},
                                               {"\"num_heads\": ", "4", "8"},
                                               {"\"num_layers\": ", "4", "6"}}) {
        const std::string before = std::string(field) + of_4m;
        text.replace(text.find(before), before.size(), std::string(field) + of_22m);
    }
    return text;
}

template <class Model>
void write_checkpoint(const std::filesystem::path& folder, const std::string& config) {
    const tg::UntrainedSource source(5);
    const std::vector<tg::NamedShape> named = tg::checkpoint_tensors<Model>();
    std::vector<std::vector<float>> values;
    values.reserve(named.size());
    std::vector<tg::io::TensorToWrite> tensors;
    for (const tg::NamedShape& tensor : named) {
        values.emplace_back(static_cast<std::size_t>(tensor.shape.size()));
        source.read(tensor.name, tensor.shape, values.back());
        // The head's last layers, or all quantiles would be nearly one.
        const bool is_head = tensor.name.starts_with("output_head") && tensor.name.find("linear1") == std::string::npos;
        for (float& value : values.back()) {
            value *= is_head ? 300.0F : 1.0F;
        }
        std::vector<tg::Index> shape;
        for (int axis = 0; axis < tensor.shape.rank; ++axis) {
            shape.push_back(tensor.shape[axis]);
        }
        tensors.push_back({.name = tensor.name, .shape = std::move(shape), .values = values.back()});
    }
    std::filesystem::create_directories(folder);
    tg::io::write_safetensors(folder / "model.safetensors", tensors);
    std::ofstream(folder / "config.json") << config;
}

/// The columns of a CSV of numbers; what is blank ends a column.
std::vector<std::vector<float>> read_columns(std::istream& text) {
    std::vector<std::vector<float>> columns;
    std::string line;
    std::getline(text, line);
    while (std::getline(text, line)) {
        std::istringstream fields(line);
        std::string field;
        for (std::size_t column = 0; std::getline(fields, field, ','); ++column) {
            columns.resize(std::max(columns.size(), column + 1));
            if (!field.empty()) {
                columns[column].push_back(std::stof(field));
            }
        }
    }
    return columns;
}

void forecast(const std::filesystem::path& folder, tg::Index horizon, tg::Index known) {
    constexpr tg::Bucket bucket{.variates = 4, .context = 320, .horizon = 96, .exogenous = 1};
    const std::vector<std::vector<float>> columns = read_columns(std::cin);
    const std::size_t steps = columns.front().size();
    std::vector<float> values;
    std::vector<float> future;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        const std::vector<float>& all = columns[column];
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(steps);
        values.insert(values.end(), all.begin(), end);
        if (static_cast<tg::Index>(columns.size() - column) <= known) {
            future.insert(future.end(), end, end + horizon);
        }
    }
    tg::EagerForecaster forecaster(tg::load<Model>(folder).weights, tg::record_forecast<Model, bucket>());
    const tg::Forecast result = forecaster.forecast({.variates = static_cast<tg::Index>(columns.size()),
                                                     .steps = static_cast<tg::Index>(steps),
                                                     .values = values,
                                                     .exogenous = known,
                                                     .future_exogenous = future},
                                                    {.horizon = horizon});
    const std::size_t targets = columns.size() - static_cast<std::size_t>(known);
    for (std::size_t point = 0; point < targets * static_cast<std::size_t>(horizon); ++point) {
        const float* const deciles = result.values().data() + 9 * point;
        std::printf("%.9g,%.9g,%.9g,%.9g\n", static_cast<double>(deciles[4]), static_cast<double>(deciles[0]),
                    (static_cast<double>(deciles[1]) + static_cast<double>(deciles[2])) / 2,
                    static_cast<double>(deciles[8]));
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    try {
        const std::vector<std::string> words(arguments + 1, arguments + argument_count);
        if (words.size() == 2 && words[0] == "write") {
            write_checkpoint<Model>(words[1], published_config);
        } else if (words.size() == 3 && words[0] == "write" && words[2] == "22m") {
            write_checkpoint<tg::toto2::toto2_22m>(words[1], published_config_22m());
        } else if (words.size() == 4 && words[0] == "forecast") {
            forecast(words[1], std::stol(words[2]), std::stol(words[3]));
        } else {
            throw std::runtime_error("untrained_toto2 takes: write FOLDER [22m], or forecast FOLDER HORIZON KNOWN.");
        }
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
