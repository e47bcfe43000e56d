// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include <totograph/package/compile_model.hpp>
#include <totograph/serve/explain/cpu_page.hpp>
#include <totograph/serve/explain/explain_html.hpp>
#include <totograph/totograph.hpp>

#include "compiled_model.hpp"

namespace examples {

namespace detail {

template <class Forecaster>
ProgramDescription describe_forecaster() {
    return {Forecaster::explain(), Forecaster::template explain_dot<0>()};
}

/// What `about.template operator()<bucket>()` tells of the bucket that serves a request.
template <class Model, totograph::Bucket... buckets, class About>
auto of_bucket(const totograph::Series& series, const totograph::ForecastOptions& options, const About& about) {
    constexpr const auto& by_cost = totograph::buckets_by_cost<Model, buckets...>;
    const std::size_t which =
        totograph::choose_bucket(by_cost, series, options, totograph::samples_by_default(by_cost));
    decltype(about.template operator()<by_cost[0]>()) result;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((i == which ? void(result = about.template operator()<by_cost[i]>()) : void()), ...);
    }
    (std::make_index_sequence<sizeof...(buckets)>());
    return result;
}

/// The program of the bucket that serves a request.
template <class Model, totograph::Bucket... buckets>
ProgramDescription describe_model(const totograph::Series& series, const totograph::ForecastOptions& options) {
    return of_bucket<Model, buckets...>(series, options, []<totograph::Bucket bucket>() {
        return describe_forecaster<totograph::Forecaster<Model, bucket>>();
    });
}

/// A page about it.
template <class Model, totograph::Bucket... buckets>
std::string page_of_model(const std::filesystem::path& checkpoint, const totograph::Series& series,
                          const totograph::ForecastOptions& options, int threads) {
    const auto weights = totograph::load<Model>(checkpoint);
    return of_bucket<Model, buckets...>(series, options, [&]<totograph::Bucket bucket>() {
        return totograph::serve::explain_html(totograph::serve::cpu_page<Model, bucket>(weights, threads));
    });
}

}  // namespace detail

/// Compiles a model for buckets, on the CPU.
template <class Model, totograph::Bucket... buckets>
constexpr CompiledModel compile_model(const char* name, totograph::Index variates_at_once) {
    return {.model = totograph::package::compile_model<Model, buckets...>(name),
            .variates_at_once = variates_at_once,
            .check_weights =
                [](const std::filesystem::path& checkpoint) {
                    totograph::check_weights(totograph::load<Model>(checkpoint));
                },
            .describe = detail::describe_model<Model, buckets...>,
            .page = detail::page_of_model<Model, buckets...>};
}

}  // namespace examples
