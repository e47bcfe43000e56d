// SPDX-License-Identifier: Apache-2.0
//
// Times whole forecasts of Kronos on a CUDA device, as a caller sees them: candles in, paths out. Weights are
// untrained, of the published sizes; 32 candles ahead.
//
//     bench_cuda_kronos [--workloads mini_one_symbol,base_desk] [--precisions bf16,tf32] [--repeats N] [--launch-costs]
//
// One JSON object a line; with --launch-costs, a table of what each launch of each program adds behind it.
#include <CLI/CLI.hpp>

#include "kronos_measure.hpp"

int main(int argc, char** argv) {
    bench::kronos::Arguments arguments;
    CLI::App app("Times whole forecasts of Kronos on a CUDA device.");
    app.add_option("--workloads", arguments.workloads,
                   "mini_one_symbol, small_desk, base_one_symbol, base_paths, base_desk, base_sliding")
        ->delimiter(',');
    app.add_option("--precisions", arguments.precisions, "bf16, tf32")->delimiter(',');
    app.add_option("--repeats", arguments.repeats, "timed forecasts of each workload, at least 1")
        ->check(CLI::Range(1, 1000000));
    app.add_flag("--launch-costs", arguments.launch_costs, "print what each launch of each program adds, too");
    CLI11_PARSE(app, argc, argv);
    try {
        bench::kronos::mini_one_symbol(arguments);
        bench::kronos::small_desk(arguments);
        bench::kronos::base_one_symbol(arguments);
        bench::kronos::base_paths(arguments);
        bench::kronos::base_desk(arguments);
        bench::kronos::base_sliding(arguments);
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "bench_cuda_kronos: %s\n", error.what());
        return 1;
    }
    return 0;
}
