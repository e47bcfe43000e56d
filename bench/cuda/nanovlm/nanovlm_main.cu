// SPDX-License-Identifier: Apache-2.0
//
// Times whole calls of nanoVLM's 460M on a CUDA device, as a caller sees them: ids in, the likeliest 64 ids out.
// Weights are untrained, of the published sizes.
//
//     bench_cuda_nanovlm [--workloads short,long,batch,image] [--precisions bf16,tf32] [--repeats N] [--launch-costs]
//
// One JSON object a line; step_us is what one further token takes. With --launch-costs, a table of what each launch of
// each program adds stands behind each line.
#include <CLI/CLI.hpp>

#include "nanovlm_measure.hpp"

int main(int argc, char** argv) {
    bench::nanovlm::Arguments arguments;
    CLI::App app("Times whole calls of nanoVLM on a CUDA device.");
    app.add_option("--workloads", arguments.workloads, "short, long, batch, image")->delimiter(',');
    app.add_option("--precisions", arguments.precisions, "bf16, tf32")->delimiter(',');
    app.add_option("--repeats", arguments.repeats, "timed calls of each workload, at least 1")
        ->check(CLI::Range(1, 1000000));
    app.add_flag("--launch-costs", arguments.launch_costs, "print what each launch of each program adds, too");
    CLI11_PARSE(app, argc, argv);
    try {
        bench::nanovlm::short_prompt(arguments);
        bench::nanovlm::long_prompt(arguments);
        bench::nanovlm::batch(arguments);
        bench::nanovlm::image(arguments);
    } catch (const totograph::Error& error) {
        std::fprintf(stderr, "bench_cuda_nanovlm: %s\n", error.what());
        return 1;
    }
    return 0;
}
