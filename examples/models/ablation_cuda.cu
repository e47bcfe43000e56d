// SPDX-License-Identifier: Apache-2.0
// One bucket of the full-size model on a device, compiled without each of the compiler's steps in turn, and run without
// each of the ways in which its launches are made fast.
#include <memory>
#include <string>
#include <utility>

#include <totograph/exec/cuda/execution.hpp>
#include <totograph/serve/cuda_backend.hpp>
#include <totograph/toto/checkpoint.hpp>
#include <totograph/toto/cuda_forecaster.hpp>

#include "ablation.hpp"
#include "model.hpp"

namespace examples {

namespace {

namespace cuda = totograph::cuda;
using Model = totograph::toto::open_base_1_0;
using Options = cuda::ForecasterOptions;

template <Options options>
using Forecaster = totograph::serve::detail::DeviceForecaster<cuda::Forecaster<Model, device_ablation_bucket, options>>;

}  // namespace

std::vector<totograph::serve::Variant> device_ablation_variants(const std::filesystem::path& checkpoint, int device) {
    const bool is_trained = kind_of(checkpoint) == ModelKind::open_base;
    const auto weights = is_trained ? totograph::toto::load<Model>(checkpoint) : totograph::toto::untrained<Model>();
    std::vector<totograph::serve::Variant> variants;
    const auto add = [&]<Options options>(std::string name, std::string what, cuda::Execution execution,
                                          bool is_exact) {
        variants.push_back({std::move(name), std::move(what),
                            [weights, device, execution] {
                                const cuda::ForecasterResources resources{.device = device, .execution = execution};
                                return std::make_unique<Forecaster<options>>(weights, resources);
                            },
                            is_exact});
    };
    // What rounds in another way moves the draws of a model that has learnt nothing.
    const auto compiled = [&]<Options options>(std::string name, std::string what) {
        add.template operator()<options>(std::move(name), std::move(what), cuda::Execution{},
                                         is_trained && options.rewrites.kv_cache);
    };
    const auto run = [&](std::string name, std::string what, cuda::Execution execution) {
        add.template operator()<Options{}>(std::move(name), std::move(what), execution, execution.tunes || is_trained);
    };
    run("as it is", "", {});
    compiled.template operator()<Options{.passes = {.fuse_elementwise = false}}>(
        "no fusion", "elementwise chains as one kernel, and as epilogues of products");
    compiled.template operator()<Options{.passes = {.defer_row_scales = false}}>(
        "no scale in epilogues", "the norms' factors applied after a product instead of before");
    compiled.template operator()<Options{.passes = {.fold_scales = false}}>("no folded scales",
                                                                            "the norms' weights inside the products'");
    compiled.template operator()<Options{.passes = {.compose_linears = false}}>(
        "no head composition", "products after products as one, such as the last one and the head's");
    compiled.template operator()<Options{.rewrites = {.kv_cache = false}}>("no KV cache",
                                                                           "keys and values of earlier patches kept");
    compiled.template operator()<Options{.rewrites = {.share_prefix = false}}>(
        "no shared prefix", "the context processed once for all samples");
    compiled.template operator()<Options{.precision = cuda::Precision::tf32}>("tf32", "weights and products in bf16");
    run("no tuning", "products measured, the fastest algorithm kept", {.tunes = false});
    run("no programmatic launch", "kernels that begin before the one before has ended", {.overlaps = false});
    run("regional capture", "one graph for all, in place of one for each layer", {.capture = cuda::Capture::regional});
    run("loop on the device", "further patches unrolled in the graph", {.capture = cuda::Capture::device_loop});
    run("no capture", "graphs in place of launches one by one", {.capture = cuda::Capture::none});
    return variants;
}

}  // namespace examples
