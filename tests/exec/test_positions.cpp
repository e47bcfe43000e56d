// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/program.hpp>

#include "io/support.hpp"
#include "support/executors.hpp"
#include "support/position_models.hpp"

// Positions and lengths that are data, beyond what they index: each executor says so, and reads and writes nothing
// else. `nn/test_kv_cache.cpp` does the same for a cache.

using namespace totograph;
using namespace totograph::test;

namespace {

template <class Executor>
void clear(const Executor& executor) {
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        const StateSlot& slot = Executor::Layout::entries[i].slot;
        std::memset(executor.state(slot.name, slot.layer), 0, Executor::Layout::entries[i].bytes());
    }
}

/// Runs a model at the last position that is possible, which works, and at others, which do not.
template <class Model>
void check_positions() {
    constexpr PositionCase expected = Model::expected;
    const std::int32_t last = expected.last;
    const auto check = [&](auto executor) {
        clear(executor);
        const auto at = state_of<std::int32_t>(executor, expected.positions);
        std::fill(at.begin(), at.end(), last);
        executor.template run<0>();
        std::fill(at.begin(), at.end(), 0);
        executor.template run<0>();
        for (const std::int32_t wrong : {last + 1, expected.capacity + 100, 1 << 30, -1, -(1 << 30)}) {
            CAPTURE(wrong);
            at.back() = wrong;
            check_error(ErrorCode::position_out_of_bounds,
                        {std::string("Position ").append(std::to_string(wrong)),
                         std::string("of '").append(expected.name).append("'"),
                         std::string("capacity of ").append(std::to_string(expected.capacity)),
                         std::string("positions 0 to ").append(std::to_string(last))},
                        [&] { executor.template run<0>(); });
        }
        at.back() = last;
        executor.template run<0>();
    };
    SUBCASE("on the fused executor") {
        check(Fused<Program<Model>>(made_up_weights(), one_thread()));
    }
    SUBCASE("on the eager executor") {
        check(Eager<Recorded<Model>>(made_up_weights(), one_thread()));
    }
}

}  // namespace

TEST_CASE("a view at a position") {
    check_positions<TakenView>();
}

TEST_CASE("a copy from a position of each series") {
    check_positions<TakenBySeries>();
}

TEST_CASE("a store at a position of each series") {
    check_positions<StoredBySeries>();
}

TEST_CASE("a GEMM that is stored at a position") {
    check_positions<StoredGemm>();
}

TEST_CASE("the lengths of a cached attention's prefix") {
    check_positions<CachedPrefix>();
}

TEST_CASE("the length of a cached attention's suffix") {
    check_positions<CachedSuffix>();
}

TEST_CASE("what is read beyond the bounds is the nearest there is") {
    Fused<Program<TakenView>> executor(made_up_weights(), one_thread());
    clear(executor);
    const auto source = state_of<float>(executor, "source");
    for (std::size_t at = 0; at < source.size(); ++at) {
        source[at] = static_cast<float>(at);
    }
    state_of<std::int32_t>(executor, "at")[0] = 77;
    CHECK_THROWS_AS(executor.run<0>(), Error);
    const auto out = state_of<float>(executor, "out");
    CHECK(out[0] == 32.0F);  // [0, 4, 0], twice
    CHECK(out[4] == 72.0F);  // [1, 4, 0]
}
