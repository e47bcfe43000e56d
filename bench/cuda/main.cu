// SPDX-License-Identifier: Apache-2.0
//
// Times whole forecasts of the full-size Toto 1.0 on a CUDA device, as a caller sees them: host series in, host result
// out.
//
//     bench_cuda [--workloads a,b] [--precisions bf16,tf32,f32] [--repeats N] [--checkpoint FOLDER] [--memory]
//                [--floor 1,1792] [--launches] [--launch-costs]
//
// One JSON object a line. `prefill_ms` is what the device computes to the first patch, `decode_step_ms` to each further
// one, without copies in and out; `step_gemms_ms` what the GEMMs of such a step of many rows take by cuBLASLt
// alone, the fastest algorithm for each, and `step_calls_ms` as plain calls of cuBLAS, in turns with the others;
// `tuned_from_file` of the `tuned_gemms` algorithms came from the file that processes share.
//
// With --floor, times of this device in place of forecasts: reading the weights of the layers once, and GEMMs of so
// many rows, those of the layers and all of a step, by cuBLASLt and as calls of cuBLAS. A decode step can be no faster
// than the first; where rows are many, hardly than the GEMMs.
//
// With --launches, in place of forecasts what a kernel costs that does nothing: of how many blocks, and in which state
// of the process.
//
// With --launch-costs, what each launch of each program adds, as a table behind its line: of graphs that end with it
// and with the one before, the difference.
//
// With --memory, a table of the memory that each forecaster takes in place of the times: as it is known when compiled,
// and as measured.
#include <vector>

#include <CLI/CLI.hpp>

#include "measure.hpp"

int main(int argc, char** argv) {
    bench::Arguments arguments;
    std::string checkpoint;
    CLI::App app("Times whole forecasts of the full-size Toto 1.0 on a CUDA device.");
    app.add_option("--workloads", arguments.workloads,
                   "one_patch, one_patch_samples, context_2048, batch_32, long_mean, dashboard, readme")
        ->delimiter(',');
    app.add_option("--precisions", arguments.precisions, "bf16, tf32, f32")->delimiter(',');
    app.add_option("--repeats", arguments.repeats, "timed forecasts of each workload, at least 1")
        ->check(CLI::Range(1, 1000000));
    app.add_option("--checkpoint", checkpoint, "a checkpoint folder in place of untrained weights");
    std::vector<totograph::Index> floor_rows;
    app.add_option("--floor", floor_rows, "print the floors of steps of so many rows, and nothing else")
        ->delimiter(',')
        ->check(CLI::Range(1, 32768));
    bool launches = false;
    app.add_flag("--launches", launches, "print what launching a kernel costs, and nothing else");
    app.add_flag("--launch-costs", arguments.launch_costs, "print what each launch of each program adds, too");
    app.add_flag("--memory", arguments.memory, "print the memory that is taken, and no times");
    bool no_tuning = false;
    app.add_flag("--no-tuning", no_tuning, "take cuBLASLt's first choice for GEMMs, and measure none");
    CLI11_PARSE(app, argc, argv);
    arguments.tunes = !no_tuning;
    arguments.load = [&checkpoint] {
        return checkpoint.empty() ? totograph::untrained<bench::Model>() : totograph::load<bench::Model>(checkpoint);
    };
    try {
        if (!floor_rows.empty()) {
            bench::print_floor(arguments, floor_rows);
            return 0;
        }
        if (launches) {
            bench::print_launches(arguments);
            return 0;
        }
        arguments.weights = arguments.load();
        if (arguments.memory) {
            bench::print_memory_heading();
        }
        bench::one_patch(arguments);
        bench::one_patch_samples(arguments);
        bench::context_2048(arguments);
        bench::batch_32(arguments);
        bench::long_mean(arguments);
        bench::dashboard(arguments);
        bench::readme(arguments);
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "bench_cuda: %s\n", error.what());
        return 1;
    }
    return 0;
}
