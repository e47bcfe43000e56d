// SPDX-License-Identifier: Apache-2.0
// One small bucket of the demo model, compiled without each of the compiler's steps in turn. What a step is worth
// depends on the sizes: measure your own bucket in the same way.
#include "ablation.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <totograph/serve/backend.hpp>
#include <totograph/toto/demo_1_0.hpp>
#include <totograph/totograph.hpp>

namespace examples {

namespace {

namespace tg = totograph;
using Model = tg::toto::demo_1_0;
using Options = tg::ForecasterOptions;

template <Options options>
class Forecaster final : public tg::serve::BucketForecaster {
public:
    Forecaster(const tg::toto::ModelWeights<Model>& weights, int threads)
        : forecaster_(weights, {.threads = threads}) {}
    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& request) override {
        return forecaster_.forecast(series, request);
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return forecaster_.memory_bytes(); }

private:
    tg::Forecaster<Model, ablation_bucket, options> forecaster_;
};

}  // namespace

std::vector<tg::serve::Variant> ablation_variants(const std::filesystem::path& checkpoint, int threads) {
    const auto weights = tg::toto::load<Model>(checkpoint);
    std::vector<tg::serve::Variant> variants;
    const auto add = [&]<Options options>(std::string name, std::string what, int with) {
        variants.push_back({std::move(name), std::move(what),
                            [weights, with] { return std::make_unique<Forecaster<options>>(weights, with); }});
    };
    const int all = threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    add.template operator()<Options{}>("as it is", "", all);
    add.template operator()<Options{.passes = {.fuse_elementwise = false}}>(
        "no fusion", "elementwise chains as one kernel, and as epilogues of products", all);
    add.template operator()<Options{.passes = {.defer_row_scales = false}}>(
        "no scale in epilogues", "the norms' factors applied after a product instead of before", all);
    add.template operator()<Options{.passes = {.fold_scales = false}}>("no folded scales",
                                                                       "the norms' weights inside the products'", all);
    add.template operator()<Options{.passes = {.compose_linears = false}}>(
        "no head composition", "products after products as one, such as the last one and the head's", all);
    add.template operator()<Options{.rewrites = {.kv_cache = false}}>("no KV cache",
                                                                      "keys and values of earlier patches kept", all);
    add.template operator()<Options{.rewrites = {.share_prefix = false}}>(
        "no shared prefix", "the context processed once for all samples", all);
    if (all > 1) {
        add.template operator()<Options{}>("one thread", "the other " + std::to_string(all - 1), 1);
    }
    return variants;
}

}  // namespace examples
