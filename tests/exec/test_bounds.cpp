// SPDX-License-Identifier: Apache-2.0
// The fused executor leaves out what lies beyond bounds that are data, and computes the rest with the same bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/program.hpp>

#include "exec/bounded_model.hpp"
#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

using Executor = Fused<Program<Bounded<2, 3, 4, 5, 8>>>;

/// Positions of an attention's keys have to be below the bound, and groups different beyond it.
void fill(Executor& executor, const std::array<std::int32_t, 4>& used) {
    fill_states(executor, 5);
    std::copy(used.begin(), used.end(), state_of<std::int32_t>(executor, "used").begin());
    const auto length = state_of<std::int32_t>(executor, "at.length");
    std::fill(length.begin(), length.end(), 2);
    const auto groups = state_of<std::int32_t>(executor, "groups");
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto variate = static_cast<std::int32_t>(i / 5 % 4);
        groups[i] = variate < 2 ? 0 : variate;
    }
}

/// Compares rows below the bounds with those of a run without bounds, bit by bit, and counts the elements that were
/// written beyond them.
template <class T>
void compare(const Executor& bounded, const Executor& whole, const char* name,
             const std::array<std::int32_t, 4>& used) {
    CAPTURE(name);
    const auto ours = state_of<T>(bounded, name);
    const auto all = state_of<T>(whole, name);
    const Shape shape = Executor::Layout::find(name)->slot.shape;
    Index columns = 1;
    for (int axis = 4; axis < shape.rank; ++axis) {
        columns *= shape[axis];
    }
    Index different = 0;
    Index written = 0;
    for (std::size_t at = 0; at < ours.size(); ++at) {
        auto left = static_cast<Index>(at) / columns;
        bool is_used = true;
        for (int axis = 3; axis >= 0; --axis) {
            is_used = is_used && left % shape[axis] < used[static_cast<std::size_t>(axis)];
            left /= shape[axis];
        }
        different += is_used && std::memcmp(&ours[at], &all[at], sizeof(T)) != 0 ? 1 : 0;
        written += !is_used && !std::isnan(ours[at]) ? 1 : 0;
    }
    CHECK(different == 0);
    CHECK(written == 0);
    CHECK(std::none_of(all.begin(), all.end(), [](T value) { return std::isnan(value); }));
}

void check(const std::array<std::int32_t, 4>& used, int threads) {
    const auto pool = std::make_shared<cpu::ThreadPool>(threads);
    Executor bounded(made_up_weights(), pool);
    Executor whole(made_up_weights(), pool);
    fill(bounded, used);
    fill(whole, {});
    bounded.run<0>();
    whole.run<0>();
    for (const char* name : {"out.gemm", "out.gated", "out.pointwise", "out.permuted", "out.cumsum", "out.softmax",
                             "out.sorted", "out.joined", "out.causal", "out.last", "out.masked", "out.variates",
                             "out.largest", "out.amax", "out.taken"}) {
        compare<float>(bounded, whole, name, used);
    }
    compare<float>(bounded, whole, "out.all", {2, 3, 4, 5});
    compare<double>(bounded, whole, "out.f64", used);
    compare<double>(bounded, whole, "out.sum", used);
    compare<double>(bounded, whole, "out.moments", used);
    compare<double>(bounded, whole, "out.grouped", used);
}

/// Pairs of neighbours along a bounded axis: of what a step reads, of what it computes, and behind a GEMM that is
/// split.
struct BoundedPairs {
    static constexpr void record(Recorder& r) {
        (void)r.state("used", {1}, DType::i32, {}, StateUse::bounds);
        const Tensor x = r.state("x", {2, 8});
        const auto keep = [&](const char* name, Tensor value, const AxisBounds& bounds) {
            r.store(r.state(name, value.shape(), DType::f32, {}, StateUse::any, bounds), value);
        };
        keep("out.read", rotate_pairs(x), {0, 1});
        keep("out.computed", exp(x) + rotate_pairs(exp(x)), {0, 1});
        const Tensor heads = reshape(linear(x, r.weight("w", {16, 8})), {2, 2, 8});
        keep("out.split", heads + rotate_pairs(heads), {0, 0, 1});
    }
};

}  // namespace

TEST_CASE("rows beyond the bounds are not computed, the others have the same bits") {
    check({1, 2, 2, 3}, 1);
    check({2, 3, 2, 5}, 3);
    check({2, 1, 4, 2}, 1);
    check({1, 3, 4, 5}, 2);
}

TEST_CASE("bounds of the whole extents, and beyond them, compute all") {
    check({2, 3, 4, 5}, 1);
    Executor executor(made_up_weights(), one_thread());
    fill(executor, {100, 100, 100, 100});
    executor.run<0>();
    const auto gemm = state_of<float>(executor, "out.gemm");
    CHECK(std::none_of(gemm.begin(), gemm.end(), [](float value) { return std::isnan(value); }));
}

TEST_CASE("a bound parts no pairs") {
    for (const std::int32_t used : {1, 3, 4, 7}) {
        CAPTURE(used);
        Fused<Program<BoundedPairs>> bounded(made_up_weights(), one_thread());
        Eager<Recorded<BoundedPairs>> whole(made_up_weights(), one_thread());
        fill_states(bounded, 1);
        fill_states(whole, 1);
        state_of<std::int32_t>(bounded, "used")[0] = used;
        bounded.run<0>();
        whole.run<0>();
        for (const char* name : {"out.read", "out.computed", "out.split"}) {
            CAPTURE(name);
            const auto ours = state_of<float>(bounded, name);
            const auto all = state_of<float>(whole, name);
            for (std::size_t at = 0; at < ours.size(); ++at) {
                if (at % 8 < static_cast<std::size_t>(used)) {
                    CHECK(ours[at] == near(static_cast<double>(all[at])));
                }
            }
        }
    }
}
