// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include <totograph/totograph.hpp>

#include "models/properties.hpp"
#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"
#include "models/toto2/padding_model.hpp"

// The properties of all families, of block decode: one pass is its first pass. Everything that a forecaster does about
// padding, blocks and groups is in it.

namespace {

using namespace properties;
using toto2_padding::largest;
using toto2_padding::Model;
namespace tg = totograph;

const auto& weights() {
    static const auto loaded = tg::load<Model::Checkpoint>(toto2_fixture::folder("leading_gaps_blocks"));
    return loaded;
}

auto& large() {
    static tg::Forecaster<Model, largest> forecaster(weights(), {.threads = 2});
    return forecaster;
}

using Programs = tg::SchedulePrograms<Model, largest, tg::ForecasterOptions{}.passes>;

/// Of a program's steps of a kind and an op, the bound of the axis of tokens or patches, where that has `extent`
/// places.
template <class Program>
std::vector<int> bounds_along(tg::KernelKind kind, tg::Op op, tg::Index extent, int axis = 3) {
    std::vector<int> found;
    for (const auto& step : tg::tables_of<Program>().steps) {
        const tg::Kernel& kernel = Program::kernels[static_cast<std::size_t>(step.kernel)];
        const bool is_meant = kernel.kind == kind && (kind != tg::KernelKind::structural || kernel.op == op);
        if (is_meant && kernel.bounds.axes.rank > axis && kernel.bounds.axes[axis] == extent) {
            found.push_back(kernel.bounds.bound[axis]);
        }
    }
    return found;
}

}  // namespace

TEST_CASE(
    "the first pass goes through tokens of the first block alone, and statistics through patches that are asked for") {
    // Patches of 8 steps: 8 of context, blocks of 2, of which the last token is read by nobody; 48 steps of forecast.
    const auto gemms = bounds_along<Programs::At<0>>(tg::KernelKind::gemm, tg::Op::linear, 8 + 2 - 1);
    REQUIRE(gemms.size() > 4);
    CHECK(gemms == std::vector<int>(gemms.size(), tg::states::asked_first_tokens));
    for (const auto& sums :
         {bounds_along<Programs::At<0>>(tg::KernelKind::structural, tg::Op::running_moments, 8 + 6, 4),
          bounds_along<Programs::At<1>>(tg::KernelKind::structural, tg::Op::running_moments, 8 + 6, 4)}) {
        CHECK(sums == std::vector<int>{tg::states::asked_tokens});
    }
}

TEST_CASE("a smaller request, of a horizon that ends inside a block, by a bucket of its size") {
    constexpr tg::Bucket bucket{.batch = 2, .variates = 3, .context = 35, .horizon = 22};
    tg::Forecaster<Model, bucket> exact(weights(), {.threads = 1});
    padding_changes_nothing(exact, large(), requests(2, 3, 35), bucket.horizon);
    padding_changes_nothing(exact, large(), requests(1, 2, 5), 9);
}

TEST_CASE("whole blocks of a shorter horizon begin a longer one") {
    // What ends inside a block has another centre of xPos in its last pass, in the reference as here.
    shorter_horizon_begins_a_longer_one(large(), requests(3, 4, 64).back(), {16, 32});
}

TEST_CASE("a series has the forecast that it has inside a batch") {
    series_do_not_see_each_other(large(), requests(3, 4, 64).back());
}

TEST_CASE("what an earlier request left behind has no part in the next") {
    tg::Forecaster<Model, largest> fresh(weights(), {.threads = 1});
    nothing_is_left_behind(fresh, large(), waves(1, 2, 11), waves(3, 4, 64), 30);
}
