// SPDX-License-Identifier: Apache-2.0
// Skinny GEMMs of 17 to 64 rows, in tiles, in every precision, on the device against the eager executor
// on the CPU.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(is_skinny<Gated<64, 768, 3072>>() && is_skinny<Linear<17, 64, 40>>() &&
              is_skinny<ActivatedWithOperands<50, 3072, 768>>());

/// Groups of columns that a block has, of the GEMMs of one launch of a model.
template <class Model, std::size_t launch = 0>
constexpr int column_groups() {
    using At = LaunchOf<Model, launch>;
    return []<int... i>(std::integer_sequence<int, i...>) {
        using Input = std::conditional_t<At::launch.gemm.input_is_bf16, tg::BFloat16, float>;
        return tg::cuda::SkinnyGroup<
            At::launch.next_begins, typename tg::cuda::ReductionAt<At>::type,
            tg::cuda::SkinnyMember<typename At::template KernelAt<At::launch.norms() + i>, Input, At::launch.scales[i],
                                   At::launch.weights[i], Precision::bf16>...>::groups;
    }
    (std::make_integer_sequence<int, At::launch.gemms()>());
}
static_assert(column_groups<Gated<64, 768, 3072>>() == 3 && column_groups<Residual<64, 3072, 768>>() == 1);
static_assert(column_groups<ActivatedWithOperands<24, 96, 1600>>() == 2 && column_groups<Linear<40, 64, 3584>>() == 4);
static_assert(column_groups<Activated<20, 256, 8192>>() == 8 && column_groups<WideAndNarrow<45, 160, 1024>>() == 4);
static_assert(is_skinny<ActivatedInFives<30, 64>>());
static_assert(is_skinny<IntoCaches<3, 21, 768>>() && is_skinny<NormsAndResiduals<40>>());
static_assert(rounds_pointwise<PointwiseInput<40, 96, 64>>());

}  // namespace

TEST_CASE("skinny GEMMs of 17 to 64 rows") {
    check_gemms<TiledRows>();
}
