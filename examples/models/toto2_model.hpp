// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/toto2/session.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/backends/cpu_backend.hpp>

#include "compile_model.hpp"
#include "session.hpp"
#include "sizes.hpp"

namespace examples {

namespace detail {

template <class Model, totograph::Bucket bucket>
class Toto2Session final : public AnySession {
public:
    Toto2Session(const totograph::WeightsOf<Model>& weights, const totograph::ForecasterResources& resources)
        : session_(weights, resources) {}

    void start(const totograph::Series& history) override { session_.start(history); }
    void append(const totograph::Series& steps) override { session_.append(steps); }
    totograph::Forecast forecast(totograph::Index horizon) override {
        return session_.forecast({.horizon = horizon, .pending = totograph::toto2::Pending::leave_out});
    }
    [[nodiscard]] totograph::Index recomputations(totograph::toto2::Recomputation reason) const override {
        return session_.recomputations(reason);
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return session_.memory_bytes(); }

private:
    totograph::toto2::Session<Model, bucket> session_;
};

template <class Model, totograph::Bucket bucket>
SessionMaker toto2_sessions(const totograph::WeightsOf<Model>& weights) {
    return {.most = bucket,
            .make = [weights](const totograph::ForecasterResources& resources) -> std::unique_ptr<AnySession> {
                return std::make_unique<Toto2Session<Model, bucket>>(weights, resources);
            }};
}

template <class Model>
std::vector<SessionMaker> add_toto2_backend_and_sessions(totograph::serve::BackendRegistry& registry,
                                                         const std::filesystem::path& checkpoint) {
    const auto weights = totograph::load<Model>(checkpoint);
    totograph::serve::add_cpu_backend<Model, toto2_lone, toto2_short, toto2_long>(registry, weights);
    return {toto2_sessions<Model, toto2_short_session>(weights), toto2_sessions<Model, toto2_long_session>(weights)};
}

}  // namespace detail

/// A model of the Toto 2.0 kind, compiled for the CPU.
template <class Model>
constexpr CompiledModel compile_toto2(const char* name) {
    CompiledModel compiled = compile_model<Model, toto2_lone, toto2_short, toto2_long>(name, most_variates);
    compiled.add_backend_and_sessions = detail::add_toto2_backend_and_sessions<Model>;
    return compiled;
}

}  // namespace examples
