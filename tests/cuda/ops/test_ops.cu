// SPDX-License-Identifier: Apache-2.0
// Every op that is neither a GEMM nor an attention, on the device against the eager executor on the CPU.
#include <cstddef>
#include <tuple>
#include <utility>

#include "cuda/ops/ops_device.hpp"
#include "cuda/ops/ops_models.hpp"

using namespace ops;

namespace {

// A uniform number at the boundary of two components, or at that of a rejection, may fall on either side after another
// rounding: then the draw is another one. Not more than one in a thousand may.
constexpr Bound draws{1e-4, 0, 0.999};

constexpr Bound bound_of(Agreement agreement) {
    return agreement == Agreement::to_the_bit ? exact : agreement == Agreement::to_rounding ? in_f32 : draws;
}

static_assert(tg::cuda::Executor<Precision::f32, tg::Program<SmallSteps>>::launches<0>() == 1,
              "small steps run together");

template <class Model>
constexpr int blocks_of_segment() {
    using Lowered = tg::cuda::Lowering<tg::Program<Model>, false>;
    return Lowered::count == 1 && Lowered::at(0).kind == tg::cuda::LaunchKind::segment ? Lowered::at(0).blocks : 0;
}
/// Whether a model begins with steps in one kernel whose blocks are wide.
template <class Model>
constexpr bool is_wide() {
    return tg::cuda::Lowering<tg::Program<Model>, false>::at(0).is_wide;
}
static_assert(blocks_of_segment<TurnsOfSteps<DType::f64, 300>>() == 1);
static_assert(blocks_of_segment<TurnsOfSteps<DType::f64, 1000>>() == 1);
static_assert(is_wide<TurnsOfSteps<DType::f64, 1000>>() && !is_wide<TurnsOfSteps<DType::f64, 300>>());
static_assert(is_wide<TurnsOfSteps<DType::f64, 5000>>());
static_assert(is_wide<RowSteps<DType::f64, 4096, 7>>() && !is_wide<RowSteps<DType::f64, 160>>());
static_assert(blocks_of_segment<TurnsOfSteps<DType::f32, 5000>>() == tg::cuda::cluster_blocks);
static_assert(blocks_of_segment<TurnsOfSteps<DType::f64, 5000>>() == tg::cuda::cluster_blocks);

/// A search of rows, and a step after it.
template <Index rows, Index columns>
struct Search {
    static constexpr void record(tg::Recorder& r) {
        Outputs out(r);
        out(argmax(r.state("x", {rows, columns})) + 1.0);
    }
};
static_assert(is_wide<Search<4, 5001>>() &&
              tg::cuda::Executor<Precision::f32, tg::Program<Search<4, 5001>>>::launches<0>() == 1);
static_assert(!is_wide<MomentsAlone>() && is_wide<Moments<1, 9000, 100>>() && !is_wide<Moments<3, 64, 8>>());
// One cluster would search many long rows one after the other.
static_assert(tg::cuda::Executor<Precision::f32, tg::Program<Search<64, 2048>>>::launches<0>() == 2);

/// Whether a model is one launch by rows, with so many steps aside.
template <class Model>
constexpr bool runs_by_rows(int aside = 0) {
    using Lowered = tg::cuda::Lowering<tg::Program<Model>, false>;
    for (const bool is_aside : Lowered::at(0).aside) {
        aside -= is_aside ? 1 : 0;
    }
    return Lowered::count == 1 && Lowered::at(0).kind == tg::cuda::LaunchKind::rows &&
           Lowered::at(0).rows == Model::rows && aside == 0;
}
static_assert(runs_by_rows<RowSteps<DType::f32, 60>>());
static_assert(runs_by_rows<RowSteps<DType::f32, 61>>());
static_assert(runs_by_rows<RowSteps<DType::f64, 160>>());
static_assert(runs_by_rows<RowSteps<DType::f64, 4096, 7>>());
static_assert(runs_by_rows<RowSteps<DType::f32, 2999, 9>>());
static_assert(runs_by_rows<RowStepsAndOthers<60, 701>>(7));
static_assert(runs_by_rows<RowParts<DType::f32>>());
static_assert(runs_by_rows<RowParts<DType::f64>>());

template <std::size_t place>
void check_place() {
    using Tested = std::tuple_element_t<place, Rows>;
    check_row(Tested::name, [] {
        check_on_device<Precision::f32, typename Tested::Model>(Tested::name, eager_states(place),
                                                                bound_of(Tested::agreement));
    });
}

}  // namespace

TEST_CASE("every op") {
    []<std::size_t... place>(std::index_sequence<place...>) {
        (check_place<place>(), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Rows>>());
}
