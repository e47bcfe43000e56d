// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/runtime/state_placement.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/programs.hpp>

namespace {

namespace tg = totograph;

struct SmallToto {
    static constexpr tg::toto1::Toto1Config config{.patch_size = 4,
                                                   .embed_dim = 16,
                                                   .num_layers = 2,
                                                   .num_heads = 2,
                                                   .mlp_hidden_dim = 16,
                                                   .spacewise_every_n_layers = 2,
                                                   .k_components = 2};
};
constexpr tg::Bucket bucket{.variates = 2, .context = 16, .horizon = 8, .samples = 3};
using Prefill = tg::Program<tg::toto1::Prefill<SmallToto, bucket, tg::toto1::Rewrites{}>>;
using Decode = tg::Program<tg::toto1::Decode<SmallToto, bucket, tg::toto1::Rewrites{}>>;

/// Adds 1 to its input in place, and counts up from a state that it sets.
struct ChangesItsInput {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor series = r.state("series", {4});
        r.store(series, series + 1.0);
        const tg::Tensor count = r.state("count", {4});
        r.store(count, expand(r.constant(0, tg::DType::f32), tg::Shape{4}));
        r.store(count, count + r.state("first", {4}));
    }
};
struct Tells {
    static constexpr void record(tg::Recorder& r) {
        r.store(r.state("told", {4}), r.state("series", {4}) + r.state("second", {4}));
    }
};

/// Whether a state of two programs is one of the inputs, which lie first.
template <class First, class Second>
bool is_input(std::string_view name) {
    using Placed = tg::cuda::StatePlacement<tg::cuda::Bf16States<false, First, Second>, First, Second>;
    const auto* entry = Placed::Layout::find(name);
    REQUIRE(entry != nullptr);
    return Placed::offset(static_cast<std::size_t>(entry - &Placed::Layout::entries[0])) < Placed::input_bytes;
}

template <class StateStorage>
std::size_t rounded() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < StateStorage::Layout::count; ++i) {
        count += StateStorage::at(i) ? 1 : 0;
        CHECK(StateStorage::bytes(i) <= StateStorage::Layout::entries[i].bytes());
    }
    return count;
}

}  // namespace

TEST_CASE("keys and values that GEMMs write and attention alone reads are stored as bf16") {
    // One layer attends over time: keys and values of the context, and of the samples' own patches.
    CHECK(rounded<tg::cuda::Bf16States<true, Prefill, Decode>>() == 4);
    CHECK(rounded<tg::cuda::Bf16States<false, Prefill, Decode>>() == 0);
}

TEST_CASE("an attention whose prefix is an input keeps its suffix as it is: all its keys are of one type") {
    CHECK(rounded<tg::cuda::Bf16States<true, Decode>>() == 0);
}

TEST_CASE("inputs are what no program writes, and what the first one reads before it writes it") {
    const auto is_one = is_input<tg::Program<ChangesItsInput>, tg::Program<Tells>>;
    CHECK(is_one("series"));
    CHECK(is_one("first"));
    CHECK(is_one("second"));
    CHECK(!is_one("count"));
    CHECK(!is_one("told"));
    CHECK(is_input<Prefill, Decode>("series"));
    CHECK(!is_input<Prefill, Decode>("forecast"));
}
