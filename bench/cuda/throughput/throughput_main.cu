// SPDX-License-Identifier: Apache-2.0
//
// How many series of 4,096 steps Toto 2.0 22m forecasts in a second on a CUDA device, by how many at a time. Untrained
// weights, a horizon of 96.
//
//     bench_cuda_throughput [--workloads series_1,series_512] [--precisions bf16,tf32] [--repeats N]
//
// One JSON object a line: whole forecasts, host series in, host quantiles out.
#include <CLI/CLI.hpp>

#include "throughput_measure.hpp"

int main(int argc, char** argv) {
    bench::toto2::Arguments arguments;
    arguments.repeats = 20;
    CLI::App app("Times forecasts of many series by Toto 2.0 on a CUDA device.");
    app.add_option("--workloads", arguments.workloads, "series_1, series_8, series_32, series_128, series_512")
        ->delimiter(',');
    app.add_option("--precisions", arguments.precisions, "bf16, tf32")->delimiter(',');
    app.add_option("--repeats", arguments.repeats, "timed forecasts of each workload, at least 1")
        ->check(CLI::Range(1, 1000000));
    CLI11_PARSE(app, argc, argv);
    try {
        bench::throughput::series_1(arguments);
        bench::throughput::series_8(arguments);
        bench::throughput::series_32(arguments);
        bench::throughput::series_128(arguments);
        bench::throughput::series_512(arguments);
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "bench_cuda_throughput: %s\n", error.what());
        return 1;
    }
    return 0;
}
