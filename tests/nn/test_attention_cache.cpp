// SPDX-License-Identifier: Apache-2.0
// A context and then blocks against its cache, beside all positions in one pass.
#include <cstddef>
#include <cstring>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/kv_cache.hpp>

#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr Index positions = 13;
constexpr Index context = 5;
constexpr Index block = 4;
constexpr Index heads = 8;
constexpr Index kv_heads = 2;
constexpr Index head_dim = 20;
constexpr Index value_dim = 12;

constexpr Tensor rows(Recorder& r, std::string_view name, Index width) {
    return r.state(name, {2, 1, 3, positions, width});
}
constexpr Tensor part(Tensor of, Index begin, Index count) {
    return slice(of, 3, begin, count);
}
constexpr nn::QueryKeyValue inputs(Recorder& r) {
    return {rows(r, "q", heads * head_dim), rows(r, "k", kv_heads * head_dim), rows(r, "v", kv_heads * value_dim)};
}
using Cache = nn::KvCache<nn::KvCacheSize{
    .batch = 2, .variates = 3, .capacity = positions, .width = kv_heads* head_dim, .value_width = kv_heads* value_dim}>;
constexpr nn::KvCacheNames names{"keys", "values", "length"};
constexpr Tensor number(Recorder& r, Index value) {
    return expand(r.constant(static_cast<double>(value), DType::i32), Shape{1});
}

struct OnePass {
    static constexpr void record(Recorder& r) {
        const auto [query, key, value] = inputs(r);
        r.store(rows(r, "out.once", heads * value_dim),
                nn::attention(query, {key, value, number(r, positions)}, {.heads = heads, .kv_heads = kv_heads}));
    }
};

struct Context {
    static constexpr void record(Recorder& r) {
        const auto [query, key, value] = inputs(r);
        Cache cache(r, names);
        cache.fill(0, part(key, 0, context), part(value, 0, context));
        r.store(cache.length(), number(r, context));
        r.store(rows(r, "out.parts", heads * value_dim),
                nn::attention(part(query, 0, context), {cache.keys(0), cache.values(0), number(r, context)},
                              {.heads = heads, .kv_heads = kv_heads}),
                3, 0);
    }
};

template <Index first>
struct Block {
    static constexpr void record(Recorder& r) {
        const auto [query, key, value] = inputs(r);
        Cache cache(r, names);
        cache.append(0, part(key, first, block), part(value, first, block));
        const Tensor length = cache.length() + static_cast<double>(block);
        r.store(rows(r, "out.parts", heads * value_dim),
                nn::attention(part(query, first, block), {cache.keys(0), cache.values(0), length},
                              {.heads = heads, .kv_heads = kv_heads, .queries = QueryPlaces::last}),
                3, first);
        cache.advance(block);
    }
};

template <class Executor>
void check_parts(Executor&& executor) {
    fill_states(executor, 5);
    executor.template run<0>();
    executor.template run<1>();
    executor.template run<2>();
    executor.template run<3>();
    const auto once = state_of<float>(executor, "out.once");
    const auto parts = state_of<float>(executor, "out.parts");
    REQUIRE(once.size() == parts.size());
    CHECK(std::memcmp(once.data(), parts.data(), once.size() * sizeof(float)) == 0);
    CHECK(state_of<float>(executor, "keys", 0).size() == 2 * 3 * positions * kv_heads * head_dim);
    CHECK(state_of<float>(executor, "values", 0).size() == 2 * 3 * positions * kv_heads * value_dim);
}

}  // namespace

TEST_CASE("a context and blocks of four against its cache give the bits of one pass") {
    check_parts(Fused<Program<OnePass>, Program<Context>, Program<Block<5>>, Program<Block<9>>>(made_up_weights(),
                                                                                                one_thread()));
    check_parts(Eager<Program<OnePass>, Program<Context>, Program<Block<5>>, Program<Block<9>>>(made_up_weights(),
                                                                                                one_thread()));
}
