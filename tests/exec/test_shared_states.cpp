// SPDX-License-Identifier: Apache-2.0
// States that recorded programs share.
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/shared_states.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/kv_cache.hpp>

#include "io/support.hpp"

using namespace totograph;

namespace {

Graph declaring(const Shape& shape, DType dtype = DType::f32) {
    Recorder r;
    (void)r.state("input", {4, 8});
    (void)r.state("shared", shape, dtype, 2);
    return r.graph();
}

}  // namespace

TEST_CASE("states that graphs share are one buffer") {
    const std::vector<Graph> graphs{declaring({4, 4}), declaring({4, 4})};
    const SharedStates states(graphs);
    REQUIRE(states.find("input", -1) != nullptr);
    REQUIRE(states.find("shared", 2) != nullptr);
    CHECK(states.find("input", -1)->bytes() == 128);
    CHECK(states.find("shared", 2)->bytes() == 64);
    CHECK(states.find("shared", 3) == nullptr);
    CHECK(states.bytes() == 128 + 64);
    CHECK(states.find("input", -1)->offset != states.find("shared", 2)->offset);
}

TEST_CASE("graphs that disagree about a state are an error") {
    const std::vector<Graph> shapes{declaring({4, 4}), declaring({16})};
    test::check_error(ErrorCode::invalid_argument, {"'shared' of layer 2", "f32 [4, 4]", "f32 [16]"},
                      [&] { (void)SharedStates(shapes); });
    const std::vector<Graph> dtypes{declaring({4, 4}), declaring({4, 4}, DType::i32)};
    test::check_error(ErrorCode::invalid_argument, {"f32 [4, 4]", "i32 [4, 4]"}, [&] { (void)SharedStates(dtypes); });
}

TEST_CASE("a KV cache is what declares itself one, whatever its name") {
    Recorder plain;
    (void)plain.state("past", {1, 1, 1, 16, 4}, DType::f32, 0);  // read, not as a cache
    (void)plain.state("some.keys", {16});
    Recorder r;
    const nn::KvCache<nn::KvCacheSize{.capacity = 16, .width = 4}> cache(r, {"past", "answers", "length"});
    (void)cache.keys(0);
    (void)cache.values(0);
    (void)cache.length();
    const std::vector<Graph> graphs{plain.graph(), r.graph()};
    CHECK(SharedStates(graphs).cache_bytes() == 2 * 16 * 4 * sizeof(float));
    CHECK(SharedStates(std::vector<Graph>{plain.graph()}).cache_bytes() == 0);
}
