// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/program.hpp>
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
