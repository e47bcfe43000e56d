// SPDX-License-Identifier: Apache-2.0
// One bucket of the full-size model on a device, compiled without each of the compiler's steps in turn, and run without
// each of the ways in which its launches are made fast.
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/exec/cuda/runtime/execution.hpp>

#include "ablation.hpp"
#include "device_variants.hpp"
#include "model.hpp"

namespace examples {

std::vector<Ablation> device_ablations(const std::filesystem::path& checkpoint, int device) {
    using namespace device_variants;
    using totograph::cuda::Capture;
    using totograph::cuda::Execution;
    const bool is_trained = std::string_view(model_of(checkpoint).compiled->model.name) == "open_base";
    const auto weights = is_trained ? totograph::load<Model>(checkpoint) : totograph::untrained<Model>();
    std::vector<totograph::serve::Variant> variants;
    const auto add = [&](std::string name, std::string what, Made (*make)(const Weights&, const Resources&),
                         const Execution& execution, bool is_exact) {
        variants.push_back({std::move(name), std::move(what),
                            [=] { return make(weights, {.device = device, .execution = execution}); }, is_exact});
    };
    // What rounds in another way moves the draws of a model that has learnt nothing.
    const auto compiled = [&](std::string name, std::string what, Made (*make)(const Weights&, const Resources&)) {
        add(std::move(name), std::move(what), make, {}, is_trained);
    };
    const auto run = [&](std::string name, std::string what, const Execution& execution) {
        add(std::move(name), std::move(what), as_it_is, execution, (execution.tunes && execution.fuses) || is_trained);
    };
    run("as it is", "", {});
    compiled("no fusion", "elementwise chains as one kernel, and as epilogues of GEMMs", without_fusion);
    compiled("no scale in epilogues", "the norms' factors applied after a GEMM instead of before",
             without_deferred_scales);
    compiled("no folded scales", "the norms' weights inside the GEMMs'", without_folded_scales);
    compiled("no head composition", "GEMMs after GEMMs as one, such as the last one and the head's",
             without_composed_linears);
    add("no KV cache", "keys and values of earlier patches kept", without_cache, {}, false);
    compiled("no shared prefix", "the context processed once for all samples", without_shared_prefix);
    compiled("tf32", "weights and GEMMs in bf16", in_tf32);
    run("no tuning", "GEMMs measured, the fastest algorithm kept", {.tunes = false});
    run("no programmatic launch", "kernels that begin before the one before has ended", {.overlaps = false});
    run("no fused GEMMs", "GEMMs of many rows in one kernel with their chains or norms", {.fuses = false});
    run("regional capture", "one graph for all, in place of one for each layer", {.capture = Capture::regional});
    run("loop on the device", "further patches unrolled in the graph", {.capture = Capture::device_loop});
    run("no capture", "graphs in place of launches one by one", {.capture = Capture::none});
    return {{device_ablation_bucket, std::move(variants)}};
}

}  // namespace examples
