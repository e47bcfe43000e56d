// SPDX-License-Identifier: Apache-2.0
// Skinny GEMMs of 17 to 64 rows, in tiles, in every precision, on the device against the eager executor
// on the CPU.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(is_skinny<Gated<48, 768, 3072>>() && !is_skinny<Gated<64, 768, 3072>>() &&
              is_skinny<Linear<17, 64, 40>>() && is_skinny<ActivatedWithOperands<50, 3072, 768>>());

/// How blocks compute their columns, of the GEMMs of one launch of a model.
template <class Model, Precision precision = Precision::bf16, std::size_t launch = 0>
constexpr auto cut_of() {
    constexpr bool is_bf16 = precision == Precision::bf16;
    using At = tg::cuda::LaunchAt<tg::Program<Model>, is_bf16, launch>;
    return []<int... i>(std::integer_sequence<int, i...>) {
        using Input = std::conditional_t<At::launch.gemm.input_is_bf16, tg::BFloat16, float>;
        return tg::cuda::SkinnyGroup<
            At::launch.next_begins, typename tg::cuda::NormAt<At, tg::cuda::NoReduction>::type,
            tg::cuda::SkinnyMember<typename At::template KernelAt<At::launch.norms() + i>, Input, At::launch.scales[i],
                                   At::launch.weights[i], At::launch.leaves_bf16, precision>...>::cut;
    }
    (std::make_integer_sequence<int, At::launch.gemms()>());
}
template <class Model, Precision precision = Precision::bf16>
constexpr bool is_cut(int groups, int turns) {
    constexpr auto cut = cut_of<Model, precision>();
    return cut.groups == groups && cut.turns == turns;
}
static_assert(is_cut<Gated<48, 768, 3072>>(3, 1) && is_cut<Residual<64, 3072, 768>>(1, 1));
static_assert(is_cut<ActivatedWithOperands<24, 96, 1600>>(2, 1) && is_cut<Linear<40, 64, 3584>>(4, 1));
static_assert(is_cut<Activated<20, 256, 8192>>(8, 1) && is_cut<WideAndNarrow<45, 160, 1024>>(4, 1));
// 173 groups of columns, which is prime: the last block has one turn of two. And what registers do not hold at a time.
static_assert(is_cut<Gated<24, 2048, 1384>>(1, 2) && is_cut<WideAndNarrow<19, 2048, 2048>>(2, 3));
static_assert(is_cut<Activated<20, 256, 8192>, Precision::f32>(8, 1));
static_assert(is_cut<WideAndNarrow<19, 2048, 2048>, Precision::tf32>(2, 3));
static_assert(is_skinny<ActivatedInFives<30, 64>>());
static_assert(is_skinny<IntoCaches<3, 16, 768>>() && is_skinny<NormsAndResiduals<40>>());
// Of more rows, GEMMs of one input go together: to small tiles, or to skinny ones where a block would read too much.
static_assert(kernel_of<IntoCaches<3, 21, 768>, 2> == tg::cuda::GemmKernel::sm90_small);
static_assert(is_skinny<WideAndNarrow<64, 1536, 1536>>());
static_assert(rounds_pointwise<PointwiseInput<40, 96, 64>>());

/// How the blocks of clusters share k of a model's GEMM in tf32; no groups where they do not.
template <class Model>
constexpr tg::cuda::SkinnyClusterCut cluster_cut_of() {
    constexpr const tg::cuda::GemmGroup& group = tg::cuda::LaunchAt<tg::Program<Model>, false, 0>::launch.gemm;
    return tg::cuda::select_tf32_gemm(group, tg::cuda::traits_of(90)).kernel == tg::cuda::GemmKernel::skinny_cluster
               ? tg::cuda::skinny_cluster_cut(group.m, group.members[0].n, group.k)
               : tg::cuda::SkinnyClusterCut{};
}
template <class Model>
constexpr bool shares_k(int groups, int turns, int clusters) {
    constexpr auto cut = cluster_cut_of<Model>();
    constexpr tg::Index n = tg::cuda::LaunchAt<tg::Program<Model>, false, 0>::launch.gemm.members[0].n;
    return cut == tg::cuda::SkinnyClusterCut{groups, turns} && cut.clusters(n) == clusters;
}
// The last cluster has columns of the one before it, too, but for the last of these. Those of one turn keep no inputs.
static_assert(shares_k<Residual<18, 5464, 2048>>(3, 6, 15) && shares_k<Linear<24, 4100, 1048>>(2, 5, 14));
static_assert(shares_k<ActivatedWithOperands<47, 5464, 1000>>(2, 5, 13));
static_assert(shares_k<ActivatedInFives<30, 5000>>(2, 1, 3) && shares_k<IntoCache<3, 11, 64, 5464>>(2, 1, 4));
static_assert(cluster_cut_of<Residual<64, 5464, 2048>>().groups == 0);

/// Whether a GEMM of a model leaves its result as bf16 to the launch behind.
template <class Model>
constexpr bool leaves_bf16() {
    using Launches = tg::cuda::Lowering<tg::Program<Model>, true>;
    bool result = false;
    for (std::size_t i = 0; i < Launches::count; ++i) {
        result = result || Launches::at(i).leaves_bf16;
    }
    return result;
}
static_assert(leaves_bf16<ResidualAndNorm<8, 64, 96, 64>>() &&
              leaves_bf16<ResidualAndNorm<13, 64, 96, 64, 832, true>>() &&
              leaves_bf16<ResidualAndRounding<16, 64, 96, 64>>());
static_assert(leaves_bf16<ResidualAndNorm<24, 64, 96, 11072, 1384, false, 1384>>() &&
              leaves_bf16<ResidualAndNorm<45, 64, 96, 64, 832, true, 88>>());
static_assert(!leaves_bf16<NormsAndResiduals<3>>());

}  // namespace

TEST_CASE("skinny GEMMs of 17 to 64 rows") {
    check_gemms<TiledRows>();
}
