// SPDX-License-Identifier: Apache-2.0
// Every op that is neither a product nor an attention, on the device against the eager executor on the CPU.
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "cuda/ops_device.hpp"
#include "cuda/ops_models.hpp"

using namespace ops;

namespace {

struct Row {
    const char* name;
    Bound bound;
};

// A uniform number at the boundary of two components, or at that of a rejection, may fall on either side after another
// rounding: then the draw is another one. Not more than one in a thousand may.
constexpr Bound draws{1e-4, 0, 0.999};

constexpr Row table[] = {
    {"rounded once, f32", exact},
    {"rounded once, f64", exact},
    {"rounded once, i32", exact},
    {"functions, f32", in_f32},
    {"functions, f64", in_f32},
    {"add a number, large", exact},
    {"exponential, large", in_f32},
    {"silu, multiply, add, large", in_f32},
    {"rotate_pairs, large", exact},
    {"select, large", exact},
    {"cast to f64 and back, large", exact},
    {"broadcasts", in_f32},
    {"casts and pairs", in_f32},
    {"long chains", in_f32},
    {"operations of the user", in_f32},
    {"views, f32", exact},
    {"views, f64", exact},
    {"views, i32", exact},
    {"take, f32", exact},
    {"take, f64", exact},
    {"take, i32", exact},
    {"store, f32", exact},
    {"store, f64", exact},
    {"store, i32", exact},
    {"permute, large", exact},
    {"concatenate, large", exact},
    {"take and store, large", exact},
    {"views of weights", in_f32},
    {"sum and mean, f32", in_f32},
    {"sum and mean, f64", in_f32},
    {"sums of views", in_f32},
    {"mean of squares, many rows", in_f32},
    {"mean of squares, long rows", in_f32},
    {"mean of squares, rows of 60", in_f32},
    {"mean of squares, rows of 28", in_f32},
    {"cumulative_sum, f32", in_f32},
    {"cumulative_sum, f64", in_f32},
    {"cumulative_sum, f32, long rows", in_f32},
    {"cumulative_sum, f64, long rows", in_f32},
    {"cumulative_sum, f32, rows of 5001", in_f32},
    {"cumulative_sum, f64, rows of 700", in_f32},
    {"softmax", in_f32},
    {"softmax, large", in_f32},
    {"softmax, rows of 700", in_f32},
    {"softmax, rows of 33", in_f32},
    {"softmax, rows of 12", in_f32},
    {"small steps together", in_f32},
    {"steps of several turns, one block", in_f32},
    {"steps of several turns, a cluster", in_f32},
    {"steps of several turns, a cluster, f64", in_f32},
    {"steps of 701 rows, f32", in_f32},
    {"steps of 701 rows, f32, odd", in_f32},
    {"steps of 701 rows, f64, long", in_f32},
    {"steps of 7 rows of 4096, f64", in_f32},
    {"steps of 9 rows of 2999, f32", in_f32},
    {"steps of 701 rows, and others", in_f32},
    {"steps of 8 rows of 3000, and others", in_f32},
    {"parts of 2804 rows, f32", in_f32},
    {"parts of 2804 rows, f64", in_f32},
    {"samples of one mixture", draws},
    {"samples of a mixture each", draws},
};
static_assert(std::size(table) == std::tuple_size_v<Models>, "a row of the table for each model");

static_assert(tg::cuda::Executor<Precision::f32, tg::Program<SmallSteps>>::launches<0>() == 1,
              "small steps run together");

template <class Model>
constexpr int blocks_of_segment() {
    using Lowered = tg::cuda::Lowering<tg::Program<Model>, false>;
    return Lowered::count == 1 && Lowered::at(0).kind == tg::cuda::LaunchKind::segment ? Lowered::at(0).blocks : 0;
}
static_assert(blocks_of_segment<TurnsOfSteps<DType::f64, 300>>() == 1);
static_assert(blocks_of_segment<TurnsOfSteps<DType::f32, 5000>>() == tg::cuda::cluster_blocks);
static_assert(blocks_of_segment<TurnsOfSteps<DType::f64, 5000>>() == tg::cuda::cluster_blocks);

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
    check_row(table[place].name, [] {
        using Model = std::tuple_element_t<place, Models>;
        check_on_device<Precision::f32, Model>(table[place].name, eager_states(place), table[place].bound);
    });
}

}  // namespace

TEST_CASE("every op") {
    []<std::size_t... place>(std::index_sequence<place...>) {
        (check_place<place>(), ...);
    }
    (std::make_index_sequence<std::size(table)>());
}
