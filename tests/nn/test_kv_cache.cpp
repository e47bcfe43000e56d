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
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/kv_cache.hpp>

#include "io/support.hpp"
#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr nn::KvCacheSize size{.batch = 2, .samples = 1, .variates = 2, .capacity = 5, .width = 3};
constexpr nn::KvCacheNames names{"out.keys", "out.values", "length"};
constexpr Index rows = size.batch * size.samples * size.variates;

constexpr Tensor input(Recorder& r, const char* name, Index positions) {
    return r.state(name, {size.batch, size.samples, size.variates, positions, size.width});
}

struct Begin {
    static constexpr void record(Recorder& r) {
        nn::KvCache<size> cache(r, names);
        const Tensor x = input(r, "x", 2);
        for (int layer = 0; layer < 2; ++layer) {
            cache.fill(layer, x + static_cast<double>(layer), -x);
        }
        cache.reset();
        cache.advance(2);
    }
};

struct Append {
    static constexpr void record(Recorder& r) {
        nn::KvCache<size> cache(r, names);
        const Tensor y = input(r, "y", 1);
        for (int layer = 0; layer < 2; ++layer) {
            cache.append(layer, y + static_cast<double>(layer), -y);
        }
        cache.advance(1);
    }
};

template <class Executor>
void check_cache(Executor executor) {
    fill_states(executor, 3);
    executor.template run<0>();
    const auto length = state_of<std::int32_t>(executor, "length");
    CHECK(length[0] == 2);
    const auto x = state_of<float>(executor, "x");
    const auto y = state_of<float>(executor, "y");
    // Three more positions fill the cache to the last.
    for (Index step = 0; step < 3; ++step) {
        for (float& value : y) {
            value = static_cast<float>(step) + 0.25F;
        }
        executor.template run<1>();
        CHECK(length[0] == 3 + step);
    }
    for (int layer = 0; layer < 2; ++layer) {
        const auto keys = state_of<float>(executor, "out.keys", layer);
        const auto values = state_of<float>(executor, "out.values", layer);
        for (Index at = 0; at < rows * size.capacity * size.width; ++at) {
            const Index column = at % size.width;
            const Index position = at / size.width % size.capacity;
            const Index row = at / size.width / size.capacity;
            const float filled = position < 2 ? x[static_cast<std::size_t>((row * 2 + position) * size.width + column)]
                                              : static_cast<float>(position - 2) + 0.25F;
            CHECK(keys[static_cast<std::size_t>(at)] == filled + static_cast<float>(layer));
            CHECK(values[static_cast<std::size_t>(at)] == -filled);
        }
    }
}

}  // namespace

TEST_CASE("a cache is filled, then grows by what is appended") {
    check_cache(Fused<Program<Begin>, Program<Append>>(made_up_weights(), one_thread()));
    check_cache(Eager<Recorded<Begin>, Recorded<Append>>(made_up_weights(), one_thread()));
}

namespace {

/// A cache between two states that nothing should touch.
struct Guarded {
    using Cache = nn::KvCache<nn::KvCacheSize{.capacity = 4, .width = 3}>;

    static constexpr void record(Recorder& r) {
        Cache cache(r, {"b.keys", "d.values", "length"});
        const Tensor before = r.state("a.guard", {64});
        const Tensor y = r.state("y", {1, 1, 1, 1, 3});
        cache.append(0, y, -y);
        const Tensor between = r.state("c.guard", {64});
        const Tensor after = r.state("e.guard", {64});
        r.store(r.state("sum", {64}), before + between + after);
        cache.advance(1);
    }
};

template <class Executor>
void check_overflow(Executor executor) {
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        const StateSlot& slot = Executor::Layout::entries[i].slot;
        std::memset(executor.state(slot.name, slot.layer), 0, Executor::Layout::entries[i].bytes());
    }
    const auto y = state_of<float>(executor, "y");
    std::fill(y.begin(), y.end(), 2.0F);
    const auto length = state_of<std::int32_t>(executor, "length");
    for (int step = 0; step < 4; ++step) {
        executor.template run<0>();  // fills it
    }
    const std::string expected = "positions 0 to 3";
    for (const std::int32_t wrong : {4, 5, 1 << 30, -1, -(1 << 30)}) {
        CAPTURE(wrong);
        length[0] = wrong;
        const auto keys = state_of<float>(executor, "b.keys", 0);
        std::fill(keys.begin(), keys.end(), 1.0F);
        // Of the keys or of the values: a plan may store either first.
        check_error(ErrorCode::position_out_of_bounds,
                    {"Position " + std::to_string(wrong) + " of '", "' of layer 0", "capacity of 4", expected},
                    [&] { executor.template run<0>(); });
        for (const char* guard : {"a.guard", "c.guard", "e.guard"}) {
            for (const float value : state_of<float>(executor, guard)) {
                CHECK(value == 0.0F);
            }
        }
        // What is written lies inside: at the nearest position, or nowhere.
        for (std::size_t at = 3; at < 9; ++at) {
            CHECK(keys[at] == 1.0F);
        }
    }
    length[0] = 3;
    executor.template run<0>();  // a fault is told once
    CHECK(length[0] == 4);
}

}  // namespace

TEST_CASE("a cache that is full in a later run is an error that names it, and nothing beside it is written") {
    check_overflow(Fused<Program<Guarded>>(made_up_weights(), one_thread()));
    check_overflow(Eager<Recorded<Guarded>>(made_up_weights(), one_thread()));
}

TEST_CASE("appending writes straight into the cache") {
    using P = Program<Append>;
    static_assert(P::arena_bytes <= 64, "Only the new length takes a buffer.");
    CHECK(P::steps.size() == 6);  // two layers of keys and values, the new length, and its store
}

TEST_CASE("more positions than the capacity are a mistake") {
    Recorder r;
    nn::KvCache<size> cache(r, names);
    cache.append(0, input(r, "x", size.capacity + 1), input(r, "y", size.capacity + 1));
    CHECK(r.graph().error.kind == ModelErrorKind::cache_overflows);
    Recorder full;
    nn::KvCache<size>(full, names).fill(0, input(full, "x", size.capacity), input(full, "y", size.capacity));
    CHECK(full.graph().error.kind == ModelErrorKind::none);
    static_assert(nn::KvCache<size>::capacity == 5 && nn::KvCache<size>::bytes_per_layer == 2 * 4 * 2 * 2 * 5 * 3);
    constexpr nn::KvCacheSize wider{.capacity = 5, .width = 3, .value_width = 7};
    static_assert(nn::KvCache<wider>::bytes_per_layer == 4 * 5 * (3 + 7));
}

TEST_CASE("keys of more positions than values are a mistake") {
    Recorder r;
    nn::KvCache<size> cache(r, names);
    cache.append(0, input(r, "x", 3), input(r, "y", 2));
    CHECK(r.graph().error.kind == ModelErrorKind::attention_shapes_differ);
    CHECK(r.graph().error.message() == "KV cache 'out.keys': keys of 3 positions with values of 2");
}

TEST_CASE("keys and values of one name would be one memory, which is a mistake") {
    Recorder r;
    nn::KvCache<size> cache(r, {.keys = "cache", .values = "cache", .length = "length"});
    CHECK(r.graph().error.kind == ModelErrorKind::state_declared_twice);
    CHECK(r.graph().error.message() == "KV cache: keys and values are both named 'cache', and would be one memory");
}
