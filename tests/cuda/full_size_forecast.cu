// SPDX-License-Identifier: Apache-2.0
//
// Forecasts with a full-size checkpoint in each precision, for tools/compare_full_size.py:
//
//     full_size_forecast CHECKPOINT_FOLDER SERIES OUTPUT_FOLDER
//
// SERIES holds f32 [3, 1000]. Writes PRECISION_NAME files of f32: the head's parameters of the first patch, and the
// mean.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <totograph/cuda.hpp>

namespace tg = totograph;

namespace {

using Model = tg::toto::open_base_1_0;
constexpr tg::Bucket bucket{.variates = 3, .context = 1000, .horizon = 192};

void write(const std::string& path, const std::vector<float>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!file) {
        throw tg::Error(tg::ErrorCode::io_failure, "'" + path + "' could not be written; check the folder.");
    }
}

template <tg::cuda::Precision precision>
void forecast(const tg::toto::ModelWeights<Model>& weights, const tg::Series& series, const std::string& folder) {
    constexpr tg::cuda::ForecasterOptions options{.precision = precision, .rewrites = {.keep_intermediates = true}};
    tg::cuda::Forecaster<Model, bucket, options> forecaster(weights);
    const std::string prefix = folder + "/" + tg::cuda::name(precision) + "_";
    forecaster.fill(series, bucket, 0);
    forecaster.template run<0>();
    for (const char* name : {"df", "loc", "scale", "probs"}) {
        write(prefix + name, forecaster.template read_state<float>(std::string("tap.") + name));
    }
    // The forecast itself with the program that users run.
    tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}> plain(weights);
    write(prefix + "mean", plain.forecast(series).mean());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: full_size_forecast CHECKPOINT_FOLDER SERIES OUTPUT_FOLDER\n");
        return 2;
    }
    try {
        std::vector<float> values(static_cast<std::size_t>(bucket.variates * bucket.context));
        std::ifstream file(argv[2], std::ios::binary);
        file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
        if (!file) {
            throw tg::Error(tg::ErrorCode::file_not_found,
                            std::string("'") + argv[2] + "' does not hold 3,000 numbers; write it with the script.");
        }
        tg::Series series;
        series.variates = bucket.variates;
        series.steps = bucket.context;
        series.values = values;
        const auto weights = tg::toto::load<Model>(argv[1]);
        forecast<tg::cuda::Precision::f32>(weights, series, argv[3]);
        forecast<tg::cuda::Precision::tf32>(weights, series, argv[3]);
        forecast<tg::cuda::Precision::bf16>(weights, series, argv[3]);
    } catch (const tg::Error& error) {
        std::fprintf(stderr, "full_size_forecast: %s\n", error.what());
        return 1;
    }
    return 0;
}
