// SPDX-License-Identifier: Apache-2.0
//
// Forecasts with a full-size checkpoint in each precision, for tools/compare_full_size.py:
//
//     full_size_forecast CHECKPOINT_FOLDER SERIES OUTPUT_FOLDER
//
// SERIES holds f32 [count, 3, 1000]. Writes PRECISION_NAME files of f32, of one series after the other: the head's
// parameters of the first patch, and the mean.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <totograph/cuda.hpp>

namespace tg = totograph;

namespace {

using Model = tg::toto1::open_base_1_0;
constexpr tg::Bucket bucket{.variates = 3, .context = 1000, .horizon = 192};

void write(const std::string& path, const std::vector<float>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!file) {
        throw tg::Error(tg::ErrorCode::io_failure, "'" + path + "' could not be written; check the folder.");
    }
}

constexpr std::size_t series_size = static_cast<std::size_t>(bucket.variates * bucket.context);

template <tg::cuda::Precision precision>
void forecast(const tg::ModelWeights<Model>& weights, const std::vector<float>& values, const std::string& folder) {
    using Tapped = tg::toto1::WithRewrites<Model, tg::toto1::Rewrites{.keep_intermediates = true}>;
    constexpr tg::cuda::ForecasterOptions options{.precision = precision};
    tg::cuda::Forecaster<Tapped, bucket, options> forecaster(weights);
    // The forecast itself with the program that users run.
    tg::cuda::Forecaster<Model, bucket, options> plain(weights);
    std::map<std::string, std::vector<float>> results;
    const auto add = [&](const std::string& name, const std::vector<float>& part) {
        results[name].insert(results[name].end(), part.begin(), part.end());
    };
    for (std::size_t first = 0; first < values.size(); first += series_size) {
        tg::Series series;
        series.variates = bucket.variates;
        series.steps = bucket.context;
        series.values = std::span(values).subspan(first, series_size);
        forecaster.fill(series, bucket, 0);
        forecaster.template run<0>();
        for (const char* name : {"df", "loc", "scale", "probs"}) {
            add(name, forecaster.template read_state<float>(std::string("tap.") + name));
        }
        add("mean", plain.forecast(series).mean());
    }
    for (const auto& [name, result] : results) {
        write(folder + "/" + tg::cuda::name(precision) + "_" + name, result);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: full_size_forecast CHECKPOINT_FOLDER SERIES OUTPUT_FOLDER\n");
        return 2;
    }
    try {
        std::error_code failure;
        const std::uintmax_t bytes = std::filesystem::file_size(argv[2], failure);
        if (failure || bytes == 0 || bytes % (series_size * sizeof(float)) != 0) {
            throw tg::Error(
                tg::ErrorCode::invalid_file,
                std::string("'") + argv[2] + "' does not hold series of 3,000 numbers; write it with the script.");
        }
        std::vector<float> values(bytes / sizeof(float));
        std::ifstream file(argv[2], std::ios::binary);
        file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
        if (!file) {
            throw tg::Error(tg::ErrorCode::io_failure,
                            std::string("'") + argv[2] + "' could not be read; check its permissions.");
        }
        const auto weights = tg::load<Model>(argv[1]);
        forecast<tg::cuda::Precision::f32>(weights, values, argv[3]);
        forecast<tg::cuda::Precision::tf32>(weights, values, argv[3]);
        forecast<tg::cuda::Precision::bf16>(weights, values, argv[3]);
    } catch (const tg::Error& error) {
        std::fprintf(stderr, "full_size_forecast: %s\n", error.what());
        return 1;
    }
    return 0;
}
