// SPDX-License-Identifier: Apache-2.0
// What launches know before they run. Nothing here runs on a device.
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/graph/program.hpp>

#include "cuda/ops_products_models.hpp"

using namespace ops;

namespace {

/// The launch of the first cached attention of a program; as many as there are launches when it has none.
template <class Program>
constexpr std::size_t cached_attention_of() {
    using Lowered = tg::cuda::Lowering<Program, true>;
    std::size_t found = Lowered::count;
    for (std::size_t i = Lowered::count; i-- > 0;) {
        const auto& kernel = tg::cuda::lowering_detail::kernel_of<Program>(Lowered::at(i).first);
        const bool is_attention = kernel.kind == tg::KernelKind::structural && kernel.op == tg::Op::cached_attention;
        found = is_attention ? i : found;
    }
    return found;
}

template <class Program>
constexpr bool prefix_is_settled() {
    constexpr std::size_t launch = cached_attention_of<Program>();
    static_assert(launch < tg::cuda::Lowering<Program, true>::count, "the program has a cached attention");
    return tg::cuda::Lowering<Program, true>::at(launch).prefix_is_settled;
}

inline constexpr AttentionSize size{
    .series = 2, .samples = 5, .variates = 3, .positions = 45, .heads = 4, .head_dim = 16};

/// A launch before the attention writes the suffix, as a block does, or the prefix.
template <bool writes_prefix>
struct AfterStore {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor query = r.state("q", size.rows(size.samples, 1));
        const Tensor key = r.state("prefix.key", size.rows(1, size.positions));
        const Tensor value = r.state("prefix.value", size.rows(1, size.positions));
        const Tensor own_key = r.state("suffix.key", size.rows(size.samples, 4));
        const Tensor own_value = r.state("suffix.value", size.rows(size.samples, 4));
        const Tensor position = r.state("at", {1}, DType::i32);
        if constexpr (writes_prefix) {
            r.store_at(key, r.state("new", size.rows(1, 1)), 3, position);
        } else {
            r.store_at(own_key, r.state("new", size.rows(size.samples, 1)), 3, position);
        }
        out(tg::nn::cached_attention(query, key, value, r.state("prefix.length", {size.series}, DType::i32), own_key,
                                     own_value, r.state("suffix.length", {1}, DType::i32), size.heads));
    }
};

}  // namespace

TEST_CASE("a prefix is settled when the launch right before the attention does not write it") {
    constexpr tg::Bucket bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256};
    using Model = tg::toto::open_base_1_0;
    CHECK(prefix_is_settled<tg::Program<tg::toto::Decode<Model, bucket, tg::toto::Rewrites{}>>>());
    CHECK(prefix_is_settled<tg::Program<AfterStore<false>>>());
    CHECK(!prefix_is_settled<tg::Program<AfterStore<true>>>());
    // Nothing is known of what ran before a program.
    CHECK(!prefix_is_settled<tg::Program<Cached<small_cached, true, 3>>>());
}
