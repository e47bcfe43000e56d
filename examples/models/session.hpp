// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/models/toto2/session/options.hpp>

namespace examples {

/// A context that grows at its end, by a model that goes on from what it has computed of it, such as
/// `totograph::toto2::Session`. One thread at a time may use it.
class AnySession {
public:
    AnySession() = default;
    AnySession(const AnySession&) = delete;
    AnySession& operator=(const AnySession&) = delete;
    virtual ~AnySession() = default;

    /// Forgets everything and begins with a history, whose last step ends a patch. Throws `Error`.
    virtual void start(const totograph::Series& history) = 0;
    /// Adds steps of the same variates, whole patches of them. Throws `Error`.
    virtual void append(const totograph::Series& steps) = 0;
    /// Forecasts the steps after the newest one. The result is a view, valid until the next forecast. Throws `Error`.
    virtual totograph::Forecast forecast(totograph::Index horizon) = 0;

    /// How often it could not go on for a reason, and computed its whole context again.
    [[nodiscard]] virtual totograph::Index recomputations(totograph::toto2::Recomputation reason) const = 0;
    /// Bytes that it holds beside the weights.
    [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
};

/// What makes sessions of a model, with its weights.
struct SessionMaker {
    totograph::Bucket most;  ///< That one holds.
    std::function<std::unique_ptr<AnySession>(const totograph::ForecasterResources& resources)> make;
};

}  // namespace examples
