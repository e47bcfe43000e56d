// SPDX-License-Identifier: Apache-2.0
// One small bucket of the demo model, compiled without each of the compiler's steps in turn. What a step is worth
// depends on the sizes: measure your own bucket in the same way.
#include "ablation.hpp"

#include <memory>
#include <string>
#include <utility>

#include <totograph/models/toto1/demo_1_0.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/synthetic_request.hpp>
#include <totograph/serve/tuning/tune_threads.hpp>
#include <totograph/totograph.hpp>

namespace examples {

namespace {

namespace tg = totograph;
using Model = tg::toto1::demo_1_0;
using Options = tg::ForecasterOptions;
using Rewrites = tg::toto1::Rewrites;

template <Options options, Rewrites rewrites>
class Forecaster final : public tg::serve::BucketForecaster {
public:
    Forecaster(const tg::ModelWeights<Model>& weights, int threads) : forecaster_(weights, {.threads = threads}) {}
    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& request) override {
        return forecaster_.forecast(series, request);
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return forecaster_.memory_bytes(); }

private:
    tg::Forecaster<tg::toto1::WithRewrites<Model, rewrites>, ablation_bucket, options> forecaster_;
};

}  // namespace

std::vector<tg::serve::Variant> ablation_variants(const std::filesystem::path& checkpoint, int threads) {
    const auto weights = tg::load<Model>(checkpoint);
    std::vector<tg::serve::Variant> variants;
    const auto add = [&]<Options options, Rewrites rewrites = Rewrites{}>(std::string name, std::string what,
                                                                          int with) {
        variants.push_back({std::move(name), std::move(what), [weights, with] {
                                return std::make_unique<Forecaster<options, rewrites>>(weights, with);
                            }});
    };
    const int most = tg::thread_count(threads);
    const tg::serve::SyntheticRequest request(ablation_bucket);
    const auto tuning = tg::serve::detail::tune_threads(most, [&](int with, double too_slow) {
        Forecaster<Options{}, Rewrites{}> forecaster(weights, with);
        return tg::serve::detail::median_seconds(forecaster, request, too_slow);
    });
    const int best = tuning.best;
    add.template operator()<Options{}>("as it is", "", best);
    add.template operator()<Options{.passes = {.merge_equal_nodes = false}}>("no merged nodes",
                                                                             "what is computed twice as one", best);
    add.template operator()<Options{.passes = {.fuse_elementwise = false}}>(
        "no fusion", "elementwise chains as one kernel, and as epilogues of GEMMs", best);
    add.template operator()<Options{.passes = {.defer_row_scales = false}}>(
        "no scale in epilogues", "the norms' factors applied after a GEMM instead of before", best);
    add.template operator()<Options{.passes = {.fold_scales = false}}>("no folded scales",
                                                                       "the norms' weights inside the GEMMs'", best);
    add.template operator()<Options{.passes = {.compose_linears = false}}>(
        "no head composition", "GEMMs after GEMMs as one, such as the last one and the head's", best);
    add.template operator()<Options{}, Rewrites{.kv_cache = false}>(
        "no KV cache", "keys and values of earlier patches kept; without, other values result", best);
    variants.back().is_exact = false;  // the reference differs in the same way
    add.template operator()<Options{}, Rewrites{.share_prefix = false}>(
        "no shared prefix", "the context processed once for all samples", best);
    add.template operator()<Options{}, Rewrites{.last_patch_only = false}>(
        "all patches to the end", "the last layer's end for the last patch alone", best);
    add.template operator()<Options{}, Rewrites{.incremental_scaler = false}>(
        "no running scaler", "sums carried along in place of reading the series again", best);
    add.template operator()<Options{}>(
        "no tuning",
        "the number of threads that is fastest, " + std::to_string(best) + ", in place of all, " + std::to_string(most),
        most);
    if (best > 1) {
        add.template operator()<Options{}>("one thread", "the other " + std::to_string(best - 1), 1);
    }
    return variants;
}

}  // namespace examples
