// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/program.hpp>

#include "tensor_sources.hpp"

namespace totograph::test {

inline bool begins_with(std::string_view text, std::string_view begin) {
    return text.substr(0, begin.size()) == begin;
}

template <class T, class Executor>
std::span<T> state_of(const Executor& executor, std::string_view name, int layer = -1) {
    const auto* entry = Executor::Layout::find(name, layer);
    REQUIRE_MESSAGE(entry != nullptr, "no program has the state ", std::string(name));
    REQUIRE(dtype_of<T> == entry->slot.dtype);
    return {static_cast<T*>(executor.state(name, layer)), static_cast<std::size_t>(entry->slot.shape.size())};
}

/// Fills all states by their names: "out..." with what must not be seen again, "at..." with positions 0 to 3,
/// "positive..." with numbers in [0.1, 2.1), integers with -20 to 20, and others with numbers in [-2, 2).
template <class Executor>
void fill_states(const Executor& executor, std::uint64_t seed) {
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        const StateSlot& slot = Executor::Layout::entries[i].slot;
        void* memory = executor.state(slot.name, slot.layer);
        for (Index at = 0; at < slot.shape.size(); ++at) {
            const double draw =
                uniform(seed * 1000003 + hash_of(slot.name) + static_cast<std::uint64_t>(slot.layer * 7919 + at));
            const double value = begins_with(slot.name, "positive") ? draw + 1.1 : 2.0 * draw;
            const bool is_poisoned = begins_with(slot.name, "out");
            constexpr double poison = std::numeric_limits<double>::quiet_NaN();
            if (slot.dtype == DType::f32) {
                static_cast<float*>(memory)[at] = static_cast<float>(is_poisoned ? poison : value);
            } else if (slot.dtype == DType::f64) {
                static_cast<double*>(memory)[at] = is_poisoned ? poison : value;
            } else {
                const double integer = begins_with(slot.name, "at") ? std::floor(2.0 * draw + 2.0) : 20.0 * draw;
                static_cast<std::int32_t*>(memory)[at] = is_poisoned ? -1234567 : static_cast<std::int32_t>(integer);
            }
        }
    }
}

/// How far two results may be apart: |a - b| <= absolute + relative |b|. NaN equals NaN alone.
struct Tolerance {
    double relative = 0;
    double absolute = 0;

    [[nodiscard]] bool accepts(double a, double b) const {
        if (std::isnan(a) || std::isnan(b)) {
            return std::isnan(a) && std::isnan(b);
        }
        return a == b || std::abs(a - b) <= absolute + relative * std::abs(b);
    }
};

/// Compares all states of two executors of the same layout. Of f64 and i32 states every bit counts: both executors
/// compute those one number at a time, in the same order.
template <class Executor, class Reference>
void check_same_states(const Executor& executor, const Reference& reference, Tolerance tolerance) {
    REQUIRE(Executor::Layout::count == Reference::Layout::count);
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        const StateSlot& slot = Executor::Layout::entries[i].slot;
        const void* ours = executor.state(slot.name, slot.layer);
        const void* theirs = reference.state(slot.name, slot.layer);
        Index different = 0;
        Index first = -1;
        for (Index at = 0; at < slot.shape.size(); ++at) {
            bool same = false;
            if (slot.dtype == DType::f32) {
                same = tolerance.accepts(static_cast<const float*>(ours)[at], static_cast<const float*>(theirs)[at]);
            } else if (slot.dtype == DType::f64) {
                same =
                    Tolerance{}.accepts(static_cast<const double*>(ours)[at], static_cast<const double*>(theirs)[at]);
            } else {
                same = static_cast<const std::int32_t*>(ours)[at] == static_cast<const std::int32_t*>(theirs)[at];
            }
            if (!same) {
                first = first < 0 ? at : first;
                ++different;
            }
        }
        double found = 0;
        double expected = 0;
        if (first >= 0) {
            const auto number = [&](const void* data) {
                return slot.dtype == DType::f32   ? static_cast<double>(static_cast<const float*>(data)[first])
                       : slot.dtype == DType::f64 ? static_cast<const double*>(data)[first]
                                                  : static_cast<double>(static_cast<const std::int32_t*>(data)[first]);
            };
            found = number(ours);
            expected = number(theirs);
        }
        CHECK_MESSAGE(different == 0, "state ", std::string(slot.name), " ", slot.layer, " of shape ",
                      to_string(slot.shape), ": ", different, " differ, the first at ", first, ": found ", found,
                      ", expected ", expected);
    }
}

template <class... Programs>
using Fused = cpu::FusedExecutor<float, Programs...>;
template <class... Programs>
using Eager = cpu::EagerExecutor<Programs...>;
/// A model as it was recorded, without a plan: an eager executor needs none.
template <class Model>
using Recorded = Program<Model, Passes::none(), false>;

inline std::shared_ptr<cpu::ThreadPool> one_thread() {
    return std::make_shared<cpu::ThreadPool>(1);
}

/// Runs a model on the fused executor with `passes` and, as recorded, on the eager one, from the same states; then
/// again, so that intermediates of the first run lie about and states are what the first run left.
template <class Model, Passes passes = Passes{}>
void check_against_eager(Tolerance tolerance, int threads = 1) {
    const Weights weights = made_up_weights();
    Fused<Program<Model, passes>> fused(weights, std::make_shared<cpu::ThreadPool>(threads));
    Eager<Recorded<Model>> eager(weights, one_thread());
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        fill_states(fused, seed);
        fill_states(eager, seed);
        fused.template run<0>();
        eager.template run<0>();
        check_same_states(fused, eager, tolerance);
    }
}

/// Runs a model once on both executors, from the same states, and calls `check(executor)` after each. For what the
/// states should hold then, see `made_up_weights` and the states that the model does not change.
template <class Model, class Prepare, class Check>
void run_on_both(Prepare&& prepare, Check&& check) {
    const Weights weights = made_up_weights();
    const auto run = [&](auto executor) {
        fill_states(executor, 7);
        prepare(executor);
        executor.template run<0>();
        check(executor);
    };
    SUBCASE("on the fused executor") {
        run(Fused<Program<Model>>(weights, one_thread()));
    }
    SUBCASE("on the eager executor") {
        run(Eager<Recorded<Model>>(weights, one_thread()));
    }
}

/// How far f32 results of a few dozen operations may be from a computation in double.
inline doctest::Approx near(double expected) {
    return doctest::Approx(expected).epsilon(1e-5).scale(1);
}

/// A made-up weight.
inline double weight(const std::string& name, Index at) {
    return static_cast<double>(MadeUpTensors::value(name, static_cast<std::size_t>(at)));
}

}  // namespace totograph::test
