// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include <totograph/core/bucket.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/forecast.hpp>
#include <totograph/core/series.hpp>
#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/graph/explain.hpp>
#include <totograph/graph/explain_dot.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/toto/checkpoint.hpp>
#include <totograph/toto/programs.hpp>
#include <totograph/toto/request.hpp>
#include <totograph/toto/rewrites.hpp>
#include <totograph/toto/states.hpp>

namespace totograph {

/// Who runs the programs.
enum class ExecutorKind : std::uint8_t {
    fused,  ///< The planned program: fused kernels, packed weights, threads.
    eager,  ///< The recorded nodes one by one: slow, readable, the reference for the other.
};

/// What is decided when a forecaster is compiled.
struct ForecasterOptions {
    ExecutorKind executor = ExecutorKind::fused;
    DType weights = DType::f32;  ///< How products store their weights: f32, or bf16 (half the memory; f32 arithmetic).
    Passes passes{};
    toto::Rewrites rewrites{};

    friend constexpr bool operator==(const ForecasterOptions&, const ForecasterOptions&) = default;
};

/// What is decided when a forecaster is made.
struct ForecasterResources {
    int threads = 0;  ///< Threads that one forecast uses; 0 for all cores.
};

/// Forecasts requests that fit one bucket. Cheap to make beside the weights, which all forecasters share. One thread at
/// a time may use it; several forecasters over the same weights may run at the same time.
template <toto::Toto1Model Model, Bucket bucket, ForecasterOptions options = ForecasterOptions{}>
class Forecaster {
    static_assert(toto::check_bucket<Model, bucket>());
    static_assert(options.weights == DType::f32 || options.weights == DType::bf16,
                  "totograph: weights are stored as f32 or bf16.");
    static_assert(options.executor == ExecutorKind::fused || options.weights == DType::f32,
                  "totograph: the eager executor keeps weights in f32.");

    static constexpr bool is_eager = options.executor == ExecutorKind::eager;
    static constexpr Passes passes = is_eager ? Passes::none() : options.passes;
    static constexpr bool has_cache = options.rewrites.kv_cache;

public:
    /// The program that begins a forecast, and the one that each further patch takes.
    using Begin = Program<std::conditional_t<has_cache, toto::Prefill<Model, bucket, options.rewrites>,
                                             toto::BeginHistory<Model, bucket, options.rewrites>>,
                          passes, !is_eager>;
    using Continue = Program<std::conditional_t<has_cache, toto::Decode<Model, bucket, options.rewrites>,
                                                toto::Recompute<Model, bucket, options.rewrites>>,
                             passes, !is_eager>;
    using Executor = std::conditional_t<
        is_eager, cpu::EagerExecutor<Begin, Continue>,
        std::conditional_t<options.weights == DType::bf16, cpu::FusedExecutor<BFloat16, Begin, Continue>,
                           cpu::FusedExecutor<float, Begin, Continue>>>;

    static constexpr toto::ForecastSizes sizes{Model::config, bucket};

    /// Bytes of all states: inputs, result, caches.
    static constexpr std::size_t state_bytes = StateLayout<Begin, Continue>::bytes;
    /// Bytes of intermediates, for whichever program runs.
    static constexpr std::size_t arena_bytes = StateLayout<Begin, Continue>::arena_bytes;
    /// Bytes of cached keys and values; part of `state_bytes`. Without a cache there are none.
    static constexpr std::size_t kv_cache_bytes =
        Facts<Continue>::bytes_of_states("prefix.") + Facts<Continue>::bytes_of_states("suffix.");
    /// Bytes of the prepared weights that further patches read; the first patch reads the same.
    static constexpr std::size_t weight_bytes = Facts<Continue>::weight_bytes(options.weights);

    /// Prepares the weights (once for all forecasters that share them) and all memory that forecasts need.
    explicit Forecaster(const toto::ModelWeights<Model>& weights, ForecasterResources resources = {})
        : executor_(weights.weights, std::make_shared<cpu::ThreadPool>(thread_count(resources))),
          result_(static_cast<std::size_t>(bucket.batch * bucket.variates * bucket.horizon * sizes.samples)) {}

    /// Forecasts the steps after the series. The result is a view of this forecaster's memory, valid until its next
    /// forecast. Allocates nothing. Throws `Error` (before anything runs) when the request is malformed or does not
    /// fit.
    Forecast forecast(const Series& series, const ForecastOptions& request_options = {}) {
        const Bucket request = toto::request_sizes(series, request_options, bucket);
        toto::check_request(series, request);
        toto::check_groups(series, sizes.patch_size);
        check_fit(request);
        fill(series, request, request_options.seed);
        run(divide_rounding_up(request.horizon, sizes.patch_size));
        return collect(request);
    }

    static constexpr Bucket compiled_bucket() { return bucket; }

    /// Both programs as tables: memory, steps, kernels. An eager forecaster has no plan to tell of.
    static std::string explain() requires(!is_eager) {
        ExplainOptions explain_options;
        explain_options.storage = options.weights;
        return "bucket " + to_string(bucket) + "\n" + "  weights    " + detail::bytes_text(weight_bytes) + " (" +
               std::string(name(options.weights)) + " products, shared by all forecasters)\n" + "  states     " +
               detail::bytes_text(state_bytes) + ", of which KV cache " + detail::bytes_text(kv_cache_bytes) + "\n" +
               "  arena      " + detail::bytes_text(arena_bytes) + "\n\n" +
               totograph::explain<Begin>(has_cache ? "prefill: the context and the first patch" : "begin",
                                         explain_options) +
               "\n" +
               totograph::explain<Continue>(has_cache ? "decode: one further patch" : "recompute: one patch",
                                            explain_options);
    }

    /// The program that begins a forecast as Graphviz DOT.
    static std::string dot() requires(!is_eager) { return explain_dot<Begin>(has_cache ? "prefill" : "begin"); }

    /// The program of each further patch as Graphviz DOT.
    static std::string dot_of_further_patches() requires(!is_eager) {
        return explain_dot<Continue>(has_cache ? "decode" : "recompute");
    }

    /// Bytes that this forecaster holds beside the shared weights.
    [[nodiscard]] std::size_t memory_bytes() const { return executor_.memory_bytes() + result_.size() * sizeof(float); }

    /// The executor, for those who look inside: states by name, single programs.
    [[nodiscard]] Executor& executor() { return executor_; }

    /// Writes a request to the input states, padded to the bucket. `forecast` does this first.
    void fill(const Series& series, const Bucket& request, std::uint64_t seed) noexcept {
        fill_series(series);
        fill_groups(series);
        fill_exogenous(series, request);
        if (auto* halves = integers(toto::states::seed); halves != nullptr) {
            halves[0] = static_cast<std::int32_t>(static_cast<std::uint32_t>(seed));
            halves[1] = static_cast<std::int32_t>(static_cast<std::uint32_t>(seed >> 32U));
            *integers(toto::states::first_series) = static_cast<std::int32_t>(series.first_series);
        }
    }

private:
    static int thread_count(ForecasterResources resources) {
        const int all = static_cast<int>(std::thread::hardware_concurrency());
        return is_eager ? 1 : resources.threads > 0 ? resources.threads : std::max(1, all);
    }

    static void check_fit(const Bucket& request) {
        if (request.context > bucket.context) {
            throw Error(ErrorCode::no_bucket, "forecast: a context of " + std::to_string(request.context) +
                                                  " steps does not fit this bucket's " +
                                                  std::to_string(bucket.context) +
                                                  "; give its newest steps, or compile a larger bucket.");
        }
        if (!bucket.holds(request)) {
            throw Error(ErrorCode::no_bucket, "forecast: a request of " + to_string(request) +
                                                  " does not fit the bucket " + to_string(bucket) +
                                                  "; ask for less, or compile a larger bucket.");
        }
    }

    void run(Index patches) noexcept {
        executor_.template run<0>();
        for (Index patch = has_cache ? 1 : 0; patch < patches; ++patch) {
            executor_.template run<1>();
        }
    }

    [[nodiscard]] float* floats(std::string_view name) const { return static_cast<float*>(executor_.state(name)); }
    [[nodiscard]] std::int32_t* integers(std::string_view name) const {
        return static_cast<std::int32_t*>(executor_.state(name));
    }

    /// Patches of the context first, the newest step at the end of the last one; then padding.
    void fill_series(const Series& series) noexcept {
        float* values = floats(toto::states::series);
        float* observed = floats(toto::states::observed);
        std::int32_t* length = integers(toto::states::length);
        const Index patches = divide_rounding_up(series.steps, sizes.patch_size);
        const Index padding = patches * sizes.patch_size - series.steps;
        const Index capacity = sizes.context_steps();
        std::fill_n(values, sizes.batch * sizes.variates * capacity, 0.0F);
        std::fill_n(observed, sizes.batch * sizes.variates * capacity, 0.0F);
        for (Index b = 0; b < sizes.batch; ++b) {
            length[b] = static_cast<std::int32_t>(b < series.batch ? patches : 1);
        }
        for (Index b = 0; b < series.batch; ++b) {
            for (Index v = 0; v < series.variates; ++v) {
                const auto from = static_cast<std::size_t>((b * series.variates + v) * series.steps);
                const Index to = (b * sizes.variates + v) * capacity + padding;
                for (Index step = 0; step < series.steps; ++step) {
                    const auto at = from + static_cast<std::size_t>(step);
                    const bool is_observed = series.observed.empty() || series.observed[at] != 0;
                    observed[to + step] = is_observed ? 1.0F : 0.0F;
                    // What the reference's caller leaves in a gap is read by the patch embedding, so it is kept.
                    values[to + step] = std::isfinite(series.values[at]) ? series.values[at] : 0.0F;
                }
            }
        }
    }

    /// One id for each patch; padded variates are alone in their group.
    void fill_groups(const Series& series) noexcept {
        std::int32_t* groups = integers(toto::states::groups);
        const Index patches = divide_rounding_up(series.steps, sizes.patch_size);
        const Index padding = patches * sizes.patch_size - series.steps;
        const auto rows = static_cast<std::size_t>(series.batch * series.variates);
        const bool per_step = series.groups.size() != rows && !series.groups.empty();
        for (Index b = 0; b < sizes.batch; ++b) {
            for (Index v = 0; v < sizes.variates; ++v) {
                for (Index p = 0; p < sizes.context_patches; ++p) {
                    auto& id = groups[(b * sizes.variates + v) * sizes.context_patches + p];
                    if (b >= series.batch || v >= series.variates) {
                        id = static_cast<std::int32_t>(-1 - v);
                    } else if (series.groups.empty()) {
                        id = 0;
                    } else {
                        const Index row = b * series.variates + v;
                        const Index newest = std::min((p + 1) * sizes.patch_size - padding, series.steps) - 1;
                        id = series.groups[static_cast<std::size_t>(per_step ? row * series.steps + newest : row)];
                    }
                }
            }
        }
    }

    void fill_exogenous(const Series& series, const Bucket& request) noexcept {
        const Index first = series.variates - series.exogenous;
        if (float* is_exogenous = floats(toto::states::is_exogenous); is_exogenous != nullptr) {
            for (Index row = 0; row < sizes.batch * sizes.variates; ++row) {
                const Index v = row % sizes.variates;
                is_exogenous[row] = v >= first && v < series.variates ? 1.0F : 0.0F;
            }
        }
        float* future = floats(toto::states::future);
        if (future == nullptr) {
            return;
        }
        float* is_known = floats(toto::states::is_known);
        const Index horizon = sizes.steps * sizes.patch_size;
        std::fill_n(future, sizes.batch * sizes.variates * horizon, 0.0F);
        std::fill_n(is_known, sizes.batch * sizes.variates, 0.0F);
        for (Index b = 0; b < series.batch && !series.future_exogenous.empty(); ++b) {
            for (Index x = 0; x < series.exogenous; ++x) {
                const Index row = b * sizes.variates + first + x;
                is_known[row] = 1.0F;
                std::copy_n(series.future_exogenous.data() + (b * series.exogenous + x) * request.horizon,
                            request.horizon, future + row * horizon);
            }
        }
    }

    /// From `[batch, samples, variates, steps]` to `[batch, variates, horizon, samples]`, without the padding.
    Forecast collect(const Bucket& request) noexcept {
        const float* values = floats(toto::states::forecast);
        const Index samples = std::max<Index>(1, request.samples);
        const Index horizon = sizes.steps * sizes.patch_size;
        std::size_t to = 0;
        for (Index b = 0; b < request.batch; ++b) {
            for (Index v = 0; v < request.variates; ++v) {
                for (Index step = 0; step < request.horizon; ++step) {
                    for (Index s = 0; s < samples; ++s) {
                        result_[to++] = values[((b * sizes.samples + s) * sizes.variates + v) * horizon + step];
                    }
                }
            }
        }
        return {{result_.data(), to}, request.batch, request.variates, request.horizon, request.samples};
    }

    Executor executor_;
    std::vector<float> result_;
};

}  // namespace totograph
