// SPDX-License-Identifier: Apache-2.0
#include "models/toto1/modes.hpp"

// Each pass over the graph, switched off, gives the same forecast up to rounding.

using namespace modes;
using tg::ForecasterOptions;

namespace {

const std::vector<float>& with_all() {
    static const auto values = forecast<mean_bucket, ForecasterOptions{}>();
    return values;
}

}  // namespace

TEST_CASE("equal nodes are computed twice") {
    check_same("mean", forecast<mean_bucket, ForecasterOptions{.passes = {.merge_equal_nodes = false}}>(), with_all());
}

TEST_CASE("scales stay out of the weights") {
    check_same("mean", forecast<mean_bucket, ForecasterOptions{.passes = {.fold_scales = false}}>(), with_all());
}

TEST_CASE("rows are scaled before GEMMs") {
    check_same("mean", forecast<mean_bucket, ForecasterOptions{.passes = {.defer_row_scales = false}}>(), with_all());
}

TEST_CASE("linear layers stay apart") {
    check_same("mean", forecast<mean_bucket, ForecasterOptions{.passes = {.compose_linears = false}}>(), with_all());
}

TEST_CASE("every elementwise node is a kernel") {
    check_same("mean", forecast<mean_bucket, ForecasterOptions{.passes = {.fuse_elementwise = false}}>(), with_all());
}
