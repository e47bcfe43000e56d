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

template <tg::Bucket bucket, Options options, Rewrites rewrites>
class Forecaster final : public tg::serve::BucketForecaster {
public:
    Forecaster(const tg::ModelWeights<Model>& weights, int threads) : forecaster_(weights, {.threads = threads}) {}
    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& request) override {
        return forecaster_.forecast(series, request);
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return forecaster_.memory_bytes(); }

private:
    tg::Forecaster<tg::toto1::WithRewrites<Model, rewrites>, bucket, options> forecaster_;
};

/// The variants of one bucket.
template <tg::Bucket bucket>
class Variants {
public:
    Variants(tg::ModelWeights<Model> weights, int most) : weights_(std::move(weights)), most_(most) {
        const tg::serve::SyntheticRequest request(bucket);
        best_ = tg::serve::detail::tune_threads(most, [&](int with, double too_slow) {
                    Forecaster<bucket, Options{}, Rewrites{}> forecaster(weights_, with);
                    return tg::serve::detail::median_seconds(forecaster, request, too_slow);
                }).best;
        add("as it is", "");
        add("as it is, again", "nothing: what two of the same differ by");
    }

    template <Options options = Options{}, Rewrites rewrites = Rewrites{}>
    void add(std::string name, std::string what, int threads = 0) {
        const int with = threads > 0 ? threads : best_;
        variants_.push_back({std::move(name), std::move(what), [weights = weights_, with] {
                                 return std::make_unique<Forecaster<bucket, options, rewrites>>(weights, with);
                             }});
    }

    /// What touches each row.
    void add_passes() {
        add<Options{.passes = {.fuse_elementwise = false}}>(
            "no fusion", "elementwise chains as one kernel, and as epilogues of GEMMs");
        add<Options{.passes = {.defer_row_scales = false}}>(
            "no scale in epilogues", "the norms' factors applied after a GEMM instead of before");
        add<Options{.passes = {.fold_scales = false}}>("no folded scales", "the norms' weights inside the GEMMs'");
        add<Options{}, Rewrites{.last_patch_only = false}>("all patches to the end",
                                                           "the last layer's end for the last patch alone");
    }

    void add_threads() {
        add("no tuning",
            "the number of threads that is fastest, " + std::to_string(best_) + ", in place of all, " +
                std::to_string(most_),
            most_);
        if (best_ > 1) {
            add("one thread", "the other " + std::to_string(best_ - 1), 1);
        }
    }

    void is_another_algorithm() { variants_.back().is_exact = false; }
    [[nodiscard]] Ablation take() { return {bucket, std::move(variants_)}; }

private:
    tg::ModelWeights<Model> weights_;
    int most_;
    int best_ = 1;
    std::vector<tg::serve::Variant> variants_;
};

}  // namespace

std::vector<Ablation> ablations(const std::filesystem::path& checkpoint, int threads) {
    const auto weights = tg::load<Model>(checkpoint);
    const int most = tg::thread_count(threads);
    Variants<ablation_bucket> sampled(weights, most);
    sampled.add_passes();
    sampled.add<Options{.passes = {.merge_equal_nodes = false}}>("no merged nodes", "what is computed twice as one");
    sampled.add<Options{.passes = {.compose_linears = false}}>(
        "no head composition", "GEMMs after GEMMs as one, such as the last one and the head's");
    sampled.add<Options{}, Rewrites{.kv_cache = false}>(
        "no KV cache", "keys and values of earlier patches kept; without, other values result");
    sampled.is_another_algorithm();  // the reference differs in the same way
    sampled.add<Options{}, Rewrites{.share_prefix = false}>("no shared prefix",
                                                            "the context processed once for all samples");
    sampled.add_threads();
    Variants<wide_ablation_bucket> wide(weights, most);
    wide.add_passes();
    Variants<long_ablation_bucket> ahead(weights, most);
    ahead.add<Options{}, Rewrites{.incremental_scaler = false}>(
        "no running scaler", "sums carried along in place of reading the series again");
    std::vector<Ablation> all;
    all.push_back(sampled.take());
    all.push_back(wide.take());
    all.push_back(ahead.take());
    return all;
}

}  // namespace examples
