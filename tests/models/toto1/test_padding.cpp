// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/properties.hpp"
#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"
#include "models/toto1/shared_forecasters.hpp"

// A request that is smaller than its bucket is padded: that changes no bit of its forecast. The kernels compute each
// row the same way wherever it stands and whatever stands around it.

using namespace made_up;
using Model = fixture::models::Small;

namespace {

constexpr tg::Bucket largest{.batch = 3, .variates = 4, .context = 64, .horizon = 32};

const auto& weights() {
    static const auto loaded = tg::load<Model>(fixture::folder("mixture"));
    return loaded;
}

auto& large() {
    static tg::Forecaster<Model, largest> forecaster(weights(), {.threads = 2});
    return forecaster;
}

/// Requests of the bucket's size, plain, with gaps, with groups, and with gaps and groups that change.
std::vector<Request> requests(const tg::Bucket& bucket) {
    std::vector<Request> all(4, waves(bucket.batch, bucket.variates, bucket.context));
    make_gaps(all[1]);
    make_groups(all[2], 2);
    make_gaps(all[3]);
    make_groups(all[3], 2);
    change_groups(all[3], Model::config.patch_size);
    return all;
}

/// Compares a bucket that fits a request exactly with the large one.
template <tg::Bucket bucket>
void check_against_large() {
    tg::Forecaster<Model, bucket> exact(weights(), {.threads = 1});
    properties::padding_changes_nothing(exact, large(), requests(bucket), bucket.horizon);
}

}  // namespace

TEST_CASE("shorter contexts and horizons of whole patches, and fewer series") {
    constexpr tg::Bucket bucket = shared::mean_bucket;
    static_assert(bucket.batch < largest.batch && bucket.context < largest.context && bucket.horizon < largest.horizon);
    const auto exact = shared::make_forecaster<bucket>(weights().weights, 1);
    properties::padding_changes_nothing(*exact, large(), requests(bucket), bucket.horizon);
}

TEST_CASE("contexts that end inside a patch, and fewer variates") {
    check_against_large<tg::Bucket{.batch = 1, .variates = 3, .context = 19, .horizon = 20}>();
}

TEST_CASE("one variate, a context of less than a patch, one step") {
    check_against_large<tg::Bucket{.batch = 1, .variates = 1, .context = 3, .horizon = 1}>();
}

TEST_CASE("a shorter horizon begins a longer one") {
    properties::shorter_horizon_begins_a_longer_one(large(), requests(largest).back(), {1, 7, 8, 9, 24, 31});
}

TEST_CASE("a series has the forecast that it has inside a batch") {
    properties::series_do_not_see_each_other(large(), requests(largest).back());
}

TEST_CASE("steps that are not observed, before the first that is, are padding") {
    // The newest 43 steps, and the same with five zeros before them that fill up the first patch.
    Request shorter = part_of(waves(1, 2, 64), {.batch = 1, .variates = 2, .steps = 43});
    shorter.observed.assign(shorter.values.size(), 1);
    Request padded{.batch = 1, .variates = 2, .steps = 48};
    for (std::size_t row = 0; row < 2; ++row) {
        padded.values.insert(padded.values.end(), 5, 0.0F);
        padded.observed.insert(padded.observed.end(), 5, 0);
        for (std::size_t step = 0; step < 43; ++step) {
            padded.values.push_back(shorter.values[row * 43 + step]);
            padded.observed.push_back(1);
        }
    }
    const auto expected = large().forecast(shorter.series()).keep();
    CHECK(different_bits(expected, large().forecast(padded.series())) == 0);
}

TEST_CASE("what an earlier request left behind has no part in the next") {
    tg::Forecaster<Model, largest> fresh(weights(), {.threads = 1});
    properties::nothing_is_left_behind(fresh, large(), waves(1, 2, 11), waves(3, 4, 64), 10);
}

TEST_CASE("what is padding alone is not computed") {
    constexpr Index patch = Model::config.patch_size;
    constexpr Index width = Model::config.embed_dim;
    constexpr tg::Bucket request{.batch = 2, .variates = 3, .context = 2 * patch, .horizon = 2 * patch};
    const auto rows_written = [&](const char* name, Index capacity) {
        const auto all = static_cast<std::size_t>(largest.batch * largest.variates * capacity * width);
        large().write_state(name, std::vector<float>(all, std::numeric_limits<float>::quiet_NaN()), 0);
        const Request small = waves(request.batch, request.variates, request.context);
        (void)large().forecast(small.series(), {.horizon = request.horizon});
        const auto found = large().read_state<float>(name, 0);
        return static_cast<Index>(std::count_if(found.begin(), found.end(), [](float x) { return !std::isnan(x); })) /
               width;
    };
    // Rows of the request: of each series and variate its patches of context, and one patch that was decoded.
    CHECK(rows_written("prefix.keys", largest.context / patch) == 2 * 3 * 2);
    CHECK(rows_written("prefix.values", largest.context / patch) == 2 * 3 * 2);
    CHECK(rows_written("suffix.keys", largest.horizon / patch - 1) == 2 * 3 * 1);
}
