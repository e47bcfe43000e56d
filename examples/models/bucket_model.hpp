// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

#include <totograph/serve/backends/cpu_backend.hpp>
#include <totograph/totograph.hpp>

#include "model.hpp"

namespace examples {

/// A model compiled for some buckets.
template <class Model, totograph::Bucket... buckets>
struct BucketModel {
    /// Adds the backend `cpu`, with weights from a checkpoint.
    static void add_backends(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
        totograph::serve::add_cpu_backend<Model, buckets...>(registry, totograph::load<Model>(checkpoint));
    }

    /// Throws `Error` unless all weights of a checkpoint are finite.
    static void check_weights(const std::filesystem::path& checkpoint) {
        totograph::check_weights(totograph::load<Model>(checkpoint));
    }

    /// The program of the bucket that serves a request.
    static ProgramDescription describe(const totograph::Series& series, const totograph::ForecastOptions& options) {
        constexpr const auto& by_cost = totograph::buckets_by_cost<Model, buckets...>;
        const std::size_t which =
            totograph::choose_bucket(by_cost, series, options, totograph::samples_by_default(by_cost));
        ProgramDescription result;
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            ((i == which ? void(result = describe_forecaster<totograph::Forecaster<Model, by_cost[i]>>()) : void()),
             ...);
        }
        (std::make_index_sequence<sizeof...(buckets)>());
        return result;
    }

private:
    template <class Forecaster>
    static ProgramDescription describe_forecaster() {
        return {Forecaster::explain(), Forecaster::template explain_dot<0>()};
    }
};

}  // namespace examples
