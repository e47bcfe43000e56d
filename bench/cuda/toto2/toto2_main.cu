// SPDX-License-Identifier: Apache-2.0
//
// Times whole forecasts of Toto 2.0 on a CUDA device, as a caller sees them: host series in, host quantiles out.
// Weights are untrained, of the published sizes.
//
//     bench_cuda_toto2 [--workloads small_4m,batch_22m] [--precisions bf16,tf32] [--repeats N] [--no-floors]
//                      [--launch-costs]
//
// One JSON object a line. `device_ms` is what the device computes, without copies in and out. The floors are those of
// the same run: `floor_weights_ms` the weights of each program read once at the card's copy speed, `floor_gemms_ms` its
// GEMMs as calls of cuBLAS, nothing between them. `launches` counts what programs launch; one that cuBLASLt computes is
// several of the `graph_nodes`. With --launch-costs, a table of what each launch of each program adds stands behind
// each line.
#include <CLI/CLI.hpp>

#include "toto2_measure.hpp"

int main(int argc, char** argv) {
    bench::toto2::Arguments arguments;
    CLI::App app("Times whole forecasts of Toto 2.0 on a CUDA device.");
    app.add_option("--workloads", arguments.workloads,
                   "small_4m, batch_4m, small_22m, readme_22m, batch_22m, block_decode_22m, small_313m, batch_313m, "
                   "small_2_5b, batch_2_5b")
        ->delimiter(',');
    app.add_option("--precisions", arguments.precisions, "bf16, tf32")->delimiter(',');
    app.add_option("--repeats", arguments.repeats, "timed forecasts of each workload, at least 1")
        ->check(CLI::Range(1, 1000000));
    app.add_flag("--launch-costs", arguments.launch_costs, "print what each launch of each program adds, too");
    app.add_flag("!--no-floors", arguments.floors, "leave the floors out");
    CLI11_PARSE(app, argc, argv);
    try {
        bench::toto2::small_4m(arguments);
        bench::toto2::batch_4m(arguments);
        bench::toto2::small_22m(arguments);
        bench::toto2::readme_22m(arguments);
        bench::toto2::batch_22m(arguments);
        bench::toto2::block_decode_22m(arguments);
        bench::toto2::small_313m(arguments);
        bench::toto2::batch_313m(arguments);
        bench::toto2::small_2_5b(arguments);
        bench::toto2::batch_2_5b(arguments);
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "bench_cuda_toto2: %s\n", error.what());
        return 1;
    }
    return 0;
}
