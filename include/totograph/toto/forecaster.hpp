// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
#include <totograph/toto/collect.hpp>
#include <totograph/toto/input_states.hpp>
#include <totograph/toto/programs.hpp>
#include <totograph/toto/request_parts.hpp>
#include <totograph/toto/resources.hpp>
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
    /// Who runs the programs.
    ExecutorKind executor = ExecutorKind::fused;
    DType weights = DType::f32;  ///< How products store their weights: f32, or bf16 (half the memory; f32 arithmetic).
    /// Which rewrites of the graph are done; all by default.
    Passes passes{};
    /// Which rewrites of the algorithm are done; all by default.
    toto::Rewrites rewrites{};

    friend constexpr bool operator==(const ForecasterOptions&, const ForecasterOptions&) = default;
};

/// Forecasts with one bucket, whatever the batch, samples and context of a request: what is larger runs in parts. Cheap
/// to make beside the weights, which all forecasters share. One thread at a time may use it; several forecasters over
/// the same weights may run at the same time.
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
    /// The program that begins a forecast.
    using Begin = Program<std::conditional_t<has_cache, toto::Prefill<Model, bucket, options.rewrites>,
                                             toto::BeginHistory<Model, bucket, options.rewrites>>,
                          passes, !is_eager>;
    /// The program that each further patch takes.
    using Continue = Program<std::conditional_t<has_cache, toto::Decode<Model, bucket, options.rewrites>,
                                                toto::Recompute<Model, bucket, options.rewrites>>,
                             passes, !is_eager>;
    /// What runs both.
    using Executor = std::conditional_t<
        is_eager, cpu::EagerExecutor<Begin, Continue>,
        std::conditional_t<options.weights == DType::bf16, cpu::FusedExecutor<BFloat16, Begin, Continue>,
                           cpu::FusedExecutor<float, Begin, Continue>>>;

    /// The sizes of the programs: of the bucket, in whole patches.
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

    /// Prepares the weights (once for all forecasters that share them) and all memory that forecasts need. Throws
    /// `Error` (`invalid_argument`) when the number of threads is negative.
    explicit Forecaster(const toto::ModelWeights<Model>& weights, const ForecasterResources& resources = {})
        : executor_(weights.weights, threads_of(resources)), result_(toto::result_size(sizes, bucket)) {}

    /// Forecasts the steps after the series. The result is a view of this forecaster's memory, valid until its next
    /// forecast. Of a context that is longer than the bucket's, the newest steps are used; a batch and samples beyond
    /// the bucket run in parts, with the draws of one piece; the horizon goes beyond it only where the options extend
    /// it. Allocates nothing for a request that fits (the eager executor does). Throws `Error` (before anything runs)
    /// when the request is malformed, or asks for what parts cannot give.
    Forecast forecast(const Series& series, const ForecastOptions& request_options = {}) {
        return toto::forecast_in_parts(
            series, request_options, bucket, sizes.patch_size, parts_,
            [this](const Series& part, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
                fill(part, request, seed, first_sample);
                run(divide_rounding_up(request.horizon, sizes.patch_size));
                return toto::collect_forecast(static_cast<const float*>(executor_.state(toto::states::forecast)), sizes,
                                              request, result_);
            });
    }

    /// Both programs as tables: memory, steps, kernels. An eager forecaster has no plan to tell of.
    static std::string explain() requires(!is_eager) {
        ExplainOptions explain_options;
        explain_options.storage = options.weights;
        return "sizes " + to_string(bucket) + "\n" + "  weights    " + detail::bytes_text(weight_bytes) + " (" +
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

    /// Bytes that this forecaster holds beside the shared weights. An eager one counts the weights of its programs as
    /// its own (see `cpu::EagerExecutor::memory_bytes`).
    [[nodiscard]] std::size_t memory_bytes() const {
        return executor_.memory_bytes() + result_.size() * sizeof(float) + parts_.bytes();
    }

    /// The executor, for those who look inside: states by name, single programs.
    [[nodiscard]] Executor& executor() { return executor_; }

    /// Writes a request to the input states, padded to the bucket. `forecast` does this, after it has checked the
    /// request: here nothing is checked.
    void fill(const Series& series, const Bucket& request, std::uint64_t seed,
              std::uint32_t first_sample = 0) noexcept {
        const auto state = [this](std::string_view name) { return executor_.state(name); };
        toto::InputStates(sizes, state).fill(series, request, seed, first_sample);
    }

private:
    /// The eager executor runs on the caller's thread, and needs no other.
    static std::shared_ptr<cpu::ThreadPool> threads_of(const ForecasterResources& resources) {
        const bool needs_none = is_eager && resources.threads >= 0;
        return thread_pool_of(needs_none ? ForecasterResources{.threads = 1} : resources);
    }

    void run(Index patches) {
        executor_.template run<0>();
        for (Index patch = has_cache ? 1 : 0; patch < patches; ++patch) {
            executor_.template run<1>();
        }
    }

    Executor executor_;
    std::vector<float> result_;
    toto::PartsMemory parts_;
};

}  // namespace totograph
