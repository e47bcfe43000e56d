// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include <totograph/serve/backends/cpu_backend.hpp>
#include <totograph/totograph.hpp>

#include "compiled_model.hpp"

namespace examples {

namespace detail {

template <class Forecaster>
ProgramDescription describe_forecaster() {
    return {Forecaster::explain(), Forecaster::template explain_dot<0>()};
}

/// The program of the bucket that serves a request.
template <class Model, totograph::Bucket... buckets>
ProgramDescription describe_model(const totograph::Series& series, const totograph::ForecastOptions& options) {
    constexpr const auto& by_cost = totograph::buckets_by_cost<Model, buckets...>;
    const std::size_t which =
        totograph::choose_bucket(by_cost, series, options, totograph::samples_by_default(by_cost));
    ProgramDescription result;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((i == which ? void(result = describe_forecaster<totograph::Forecaster<Model, by_cost[i]>>()) : void()), ...);
    }
    (std::make_index_sequence<sizeof...(buckets)>());
    return result;
}

}  // namespace detail

/// Compiles a model for buckets, on the CPU.
template <class Model, totograph::Bucket... buckets>
constexpr CompiledModel compile_model(std::string_view name, totograph::Index variates_at_once) {
    return {.name = name,
            .patch_size = Model::config.patch_size,
            .buckets = totograph::buckets_by_cost<Model, buckets...>,
            .variates_at_once = variates_at_once,
            .levels = totograph::FamilyOf<Model>::results.levels,
            .add_backends =
                [](totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
                    totograph::serve::add_cpu_backend<Model, buckets...>(registry, totograph::load<Model>(checkpoint));
                },
            .check_weights =
                [](const std::filesystem::path& checkpoint) {
                    totograph::check_weights(totograph::load<Model>(checkpoint));
                },
            .describe = detail::describe_model<Model, buckets...>};
}

}  // namespace examples
