// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/cpu/evaluate/opaque_functions.hpp>
#include <totograph/exec/shared_states.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/check_states.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/forecast/out_of_memory.hpp>
#include <totograph/forecast/request_parts.hpp>
#include <totograph/forecast/results/collect.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/forecast/state_access.hpp>
#include <totograph/forecast/states.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/record/model_error.hpp>

namespace totograph {

/// The programs of a forecast as they were recorded.
struct RecordedForecast {
    ForecastPlan plan;
    std::vector<Graph> graphs;
    std::vector<int> recorded_nodes;  ///< Of each, before what nothing depends on was dropped.
    /// Of each, the code of its opaque nodes; empty where the model lists no operations of its own.
    std::vector<std::span<const cpu::BoundGraph::OpaqueFunction>> opaque;
};

namespace forecast_detail {

/// Throws `Error` for a program with a mistake, which `Program` would not compile.
inline void require_recorded(const ModelError& error) {
    if (error.kind != ModelErrorKind::none) {
        throw Error(ErrorCode::invalid_argument,
                    "A program of this model has a mistake: " + std::string(error.message()) +
                        ". A `totograph::Program` of it does not compile, with a sentence that says more.");
    }
}

/// Throws `Error` unless each opaque node of a graph has code.
inline void require_opaque(const Graph& graph, std::span<const cpu::BoundGraph::OpaqueFunction> functions) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (graph.nodes[i].op == Op::opaque && (i >= functions.size() || functions[i] == nullptr)) {
            throw Error(ErrorCode::invalid_argument,
                        "A program of this model records an opaque operation that its `operations` do not list; add it "
                        "to `using operations = totograph::OperationSet<...>`.");
        }
    }
}

/// Throws `Error` unless graphs declare the states of a forecast as `check_states` wants them.
inline void require_states(std::span<const Graph> graphs, const SharedStates& states, const ForecastSizes& sizes,
                           bool imputes) {
    const auto fail = [](const std::string& what) {
        throw Error(ErrorCode::invalid_argument, what + "; forecast/states.hpp lists the states of a forecast.");
    };
    const auto form = [](DType dtype, const Shape& shape) { return std::string(name(dtype)) + " " + to_string(shape); };
    for (const ListedState& listed : listed_states(sizes)) {
        const SharedStates::Entry* const entry = states.find(listed.name, -1);
        const bool is_read =
            listed.name == totograph::states::request || listed.name == totograph::states::forecast ||
            (listed.name == totograph::states::future && sizes.known_future) ||
            (imputes && (listed.name == totograph::states::series || listed.name == totograph::states::observed));
        const std::string expected = form(listed.form.dtype, listed.form.shape);
        if (entry == nullptr && is_read) {
            fail("No program of this family declares the state '" + std::string(listed.name) + "', " + expected);
        }
        if (entry != nullptr && !(StateForm{entry->node.dtype, entry->node.shape} == listed.form)) {
            fail("The state '" + std::string(listed.name) + "' is declared as " +
                 form(entry->node.dtype, entry->node.shape) + ", expected " + expected);
        }
    }
    if (std::none_of(graphs.begin(), graphs.end(),
                     [](const Graph& graph) { return stores_into(graph, totograph::states::forecast); })) {
        fail("No program of this family stores into the state 'forecast'");
    }
}

}  // namespace forecast_detail

/// Records the programs of a bucket, now and not when compiling: nothing about them is a constant, and a further bucket
/// costs the compiler next to nothing, but for programs that list operations of their own. Throws `Error`
/// (`invalid_argument`) for a model with a mistake.
template <class Model, Bucket bucket>
RecordedForecast record_forecast() {
    RecordedForecast recorded{forecast_plan<Model, bucket>(), {}, {}, {}};
    const auto add = [&]<class Recorded>(std::type_identity<Recorded>) {
        const Graph graph = record<Recorded>();
        forecast_detail::require_recorded(graph.error);
        recorded.graphs.push_back(rewrite(graph, Passes::none()));
        recorded.recorded_nodes.push_back(graph.size());
        if constexpr (OperationsOf<Recorded>::type::size > 0) {
            recorded.opaque.emplace_back(cpu::opaque_functions<Program<Recorded, Passes::none(), false>>);
        } else {
            recorded.opaque.emplace_back();
        }
        forecast_detail::require_opaque(recorded.graphs.back(), recorded.opaque.back());
    };
    const auto add_all = [&]<class... Programs>(ModelList<Programs...>) { (add(std::type_identity<Programs>()), ...); };
    add_all(typename FamilyOf<Model>::template Schedule<bucket>::Models{});
    return recorded;
}

/// Forecasts by the recorded nodes, one by one: slow, readable, the reference for other executors. Its programs are
/// recorded when it is made: one class for all models and buckets. One thread at a time may use it. Forecasts allocate.
class EagerForecaster {
public:
    /// Prepares weights, unless other eager forecasters of these have them, and memory. Throws `Error`
    /// (`invalid_argument`) where the programs do not declare the states of a forecast as forecast/states.hpp lists
    /// them, and (`out_of_memory`) where there is no memory; and what reading weights throws.
    EagerForecaster(const Weights& weights, RecordedForecast recorded)
        : recorded_(std::move(recorded)),
          states_(recorded_.graphs),
          memory_(with_memory([&] { return Arena(states_.bytes()); })),
          result_(with_memory([&] { return std::vector<float>(recorded_.plan.result_size()); })) {
        forecast_detail::require_states(recorded_.graphs, states_, recorded_.plan.sizes, recorded_.plan.imputes());
        const auto memory_of = [this](const Node& node) { return state(node.name, node.layer); };
        for (std::size_t i = 0; i < recorded_.graphs.size(); ++i) {
            const GraphView nodes{recorded_.graphs[i].nodes};
            with_memory([&] { bound_.emplace_back(nodes, weights, memory_of, recorded_.opaque[i]); });
        }
    }
    EagerForecaster(const EagerForecaster&) = delete;
    EagerForecaster& operator=(const EagerForecaster&) = delete;
    ~EagerForecaster() = default;

    /// As `Forecaster::forecast`.
    Forecast forecast(const Series& series, const ForecastOptions& options = {}) {
        return forecast_in_parts(
            series, options, recorded_.plan, parts_,
            [this](const Series& part, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
                return forecast_part(part, request, seed, first_sample);
            });
    }

    /// Writes a request to the input states, padded to the bucket. `forecast` does this, after it has checked the
    /// request: here nothing is checked.
    void fill(const Series& series, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample = 0) {
        const auto memory_of = [this](std::string_view name) { return state(name, -1); };
        recorded_.plan.fill(memory_of, recorded_.plan.sizes, series, request, seed, first_sample);
    }

    /// Runs one program alone, for those who look inside.
    template <std::size_t which>
    void run() {
        bound_.at(which).run();
    }

    /// A copy of the content of a state. Throws `Error` when no program has a state of this name, or it is of another
    /// type.
    template <class T>
    [[nodiscard]] std::vector<T> read_state(std::string_view name, int layer = -1) const {
        const Node& declared = forecast_detail::require_state(states_.find(name, layer), name, layer).node;
        const auto count = static_cast<std::size_t>(declared.shape.size());
        forecast_detail::check_state(name, declared.dtype, declared.shape, dtype_of<T>, count);
        const T* const from = static_cast<const T*>(state(name, layer));
        return {from, from + count};
    }
    /// Overwrites a state. Throws `Error` when no program has a state of this name, or it has another size or type.
    template <class T>
    void write_state(std::string_view name, const std::vector<T>& values, int layer = -1) {
        const Node& declared = forecast_detail::require_state(states_.find(name, layer), name, layer).node;
        forecast_detail::check_state(name, declared.dtype, declared.shape, dtype_of<T>, values.size());
        std::copy(values.begin(), values.end(), static_cast<T*>(state(name, layer)));
    }

    /// Bytes that it holds: states, intermediates, the result, and the weights of each program, which are counted as if
    /// nothing else read them (see `cpu::EagerExecutor::memory_bytes`).
    [[nodiscard]] std::size_t memory_bytes() const {
        std::size_t bytes = memory_.size() + result_.size() * sizeof(float) + parts_.bytes();
        for (const cpu::BoundGraph& bound : bound_) {
            bytes += bound.intermediate_bytes() + bound.weight_bytes();
        }
        return bytes;
    }

private:
    /// What `make` gives, a part of the memory.
    template <class Make>
    std::invoke_result_t<const Make&> with_memory(const Make& make) const {
        const ForecastPlan& plan = recorded_.plan;
        return forecast_detail::made_with_memory(plan.bucket, states_.bytes() + plan.result_size() * sizeof(float),
                                                 make);
    }

    /// A request that was checked and fits.
    Forecast forecast_part(const Series& series, const Bucket& request, std::uint64_t seed,
                           std::uint32_t first_sample) {
        const ForecastPlan& plan = recorded_.plan;
        fill(series, request, seed, first_sample);
        for (std::size_t program = 0; program < bound_.size(); ++program) {
            for (Index left = plan.runs(program, request.horizon); left > 0; --left) {
                bound_[program].run();
            }
        }
        return collect_forecast(static_cast<const float*>(state(states::forecast, -1)), plan, request, result_);
    }

    [[nodiscard]] void* state(std::string_view name, int layer) const noexcept {
        const auto* entry = states_.find(name, layer);
        return entry == nullptr ? nullptr : memory_.data() + entry->offset;
    }

    RecordedForecast recorded_;
    SharedStates states_;
    Arena memory_;
    std::vector<cpu::BoundGraph> bound_;
    std::vector<float> result_;
    PartsMemory parts_;
};

}  // namespace totograph
