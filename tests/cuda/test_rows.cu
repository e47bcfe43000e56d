// SPDX-License-Identifier: Apache-2.0
// Which steps run by rows in one kernel, and that no row of such steps touches what another one writes: found out from
// every element that they touch. No device is needed; test_ops.cu runs such steps on one.
#include <array>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/exec/cuda/lowering/row_local.hpp>

#include "cuda/ops/ops_models.hpp"
#include "cuda/replay_requests.hpp"
#include "cuda/row_touches.hpp"

namespace {

namespace tg = totograph;
using tg::Index;
using tg::cuda::LaunchKind;
using namespace tg::cuda::lowering_detail;

// What rows look like.

static_assert(row_stride({1792, 64}, {64, 1}, 0, 1792) == 64);
static_assert(row_stride({114688}, {1}, 0, 1792) == 64, "an axis may be rows and what is in them");
static_assert(row_stride({1, 256, 7, 64}, {114688, 448, 64, 1}, 0, 1792) == 64, "rows may be several axes");
static_assert(row_stride({1, 256, 7, 63}, {114688, 448, 64, 1}, 0, 1792) == 64, "a part of each row");
static_assert(row_stride({1792}, {64}, 63, 1792) == 64, "the last column");
static_assert(row_stride({1792}, {64}, 64, 1792) == 0, "the first column of the next row");
static_assert(row_stride({1792, 63}, {64, 1}, 2, 1792) == 0, "beyond the end of the row");
static_assert(row_stride({1792, 64}, {0, 1}, 0, 1792) == 0, "one row for all");
static_assert(row_stride({64, 1792}, {1, 64}, 0, 1792) == 0, "turned");
static_assert(row_stride({1792, 64}, {1, 1792}, 0, 1792) == 0, "columns first in memory");
static_assert(row_stride({256, 7, 64}, {64, 16384, 1}, 0, 1792) == 0, "rows in another order");
static_assert(row_stride({256, 7}, {0, 1}, 0, 1792) == 0, "a row for every seventh");
static_assert(row_stride({100, 64}, {64, 1}, 0, 1792) == 0);
static_assert(row_stride({}, {}, 0, 1792) == 0);

// What keeps steps apart: two pointwise steps on rows of 64 numbers, written by hand.

constexpr tg::Reference in_arena(int buffer) {
    tg::Reference reference;
    reference.space = tg::Space::arena;
    reference.index = buffer;
    return reference;
}

/// @tparam second     where the buffer of the second result begins
/// @tparam is_turned  the second step reads columns of the first one's result
/// @tparam moves      it reads it at a position
template <std::size_t second, bool is_turned = false, bool moves = false>
struct TwoSteps {
    static constexpr std::size_t bytes = 256 * 256 * sizeof(float);
    static constexpr std::array<tg::Buffer, 3> buffers{{{0, bytes, 0}, {0, bytes, bytes}, {0, bytes, second}}};
    static constexpr std::array<tg::Kernel, 2> kernels = [] {
        tg::Kernel kernel;
        kernel.kind = tg::KernelKind::pointwise;
        kernel.iteration = {256, 256};
        kernel.row_rank = 1;
        kernel.output_strides = {256, 1};
        kernel.operand_count = 1;
        kernel.operands[0].strides = {256, 1};
        std::array<tg::Kernel, 2> result{kernel, kernel};
        result[1].operands[0].strides = is_turned ? tg::Strides{1, 256} : tg::Strides{256, 1};
        return result;
    }();
    static constexpr std::array<tg::Step, 2> steps = [] {
        std::array<tg::Step, 2> result{};
        for (int i = 0; i < 2; ++i) {
            tg::Step& step = result[static_cast<std::size_t>(i)];
            step.kernel = i;
            step.operands[0] = in_arena(i);
            step.output = in_arena(i + 1);
        }
        result[1].operands[0].position = moves ? 0 : -1;
        return result;
    }();
    static constexpr int together = run_of_rows<TwoSteps>(0, 2, 256, tg::cuda::widest_row).count;
};
constexpr std::size_t far = 2 * TwoSteps<0>::bytes;
static_assert(TwoSteps<far>::together == 2);
static_assert(TwoSteps<0>::together == 2, "the memory that the first one read, row by row");
static_assert(TwoSteps<64>::together == 1, "a part of the memory that the first one read, in other rows");
static_assert(TwoSteps<far, true>::together == 1, "columns of what was written");
static_assert(TwoSteps<far, false, true>::together == 1, "a place in what was written that is not known");

// The same of models as they are planned.

/// Reads one row in all others.
struct OneRowForAll {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(r.state("x", {300, 128}));
        out(y - slice(y, 0, 5, 1));
    }
};
/// Reads columns as rows.
struct Turned {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(r.state("x", {200, 200}));
        out(y - permute(y, {1, 0}));
    }
};
/// Puts the last row first.
struct RowsMoved {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(r.state("x", {300, 128}));
        out(concatenate(slice(y, 0, 299, 1), slice(y, 0, 0, 299), 0));
    }
};
/// Reads a ring of columns after a place in it was written.
struct Ring {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor ring = r.state("ring", {300, 4, 128});
        const tg::Tensor at = r.state("at", {1}, tg::DType::i32);
        r.store_at(ring, cumsum(r.state("x", {300, 1, 128})), 1, at);
        out(take(ring, 1, at) * 2.0);
    }
};
/// Stores at places that a store before it wrote.
struct WrittenPositions {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor places = r.state("places", {300}, tg::DType::i32);
        const tg::Tensor at = r.state("at", {1}, tg::DType::i32);
        r.store_at(places, r.state("others", {300}, tg::DType::i32) + 1.0, 0, at);
        r.store_at(r.state("kept", {300, 4, 128}), r.state("x", {300, 1, 128}), 1, places);
    }
};
/// Stores columns of which some are those of the next row, as it lies in memory.
struct Overlapping {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor x = r.state("x", {300, 64});
        const tg::Tensor rows = r.state("rows", {301, 64});
        r.store(rows, x * 2.0, 0, 0);
        r.store(rows, x * 3.0, 0, 1);
    }
};
/// What the models above do with rows, with columns: each row reads its own.
template <tg::Index rows, tg::Index columns>
struct OwnColumn {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(r.state("x", {rows, columns}));
        out(y - slice(y, 1, 5, 1));
    }
};
/// Few rows, of many columns.
struct FewRows {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(r.state("x", {16, 4096}));
        out(y - mean(y));
    }
};

/// Running sums of running sums, all added up: none gives its memory to another one.
constexpr tg::Tensor sums_of_sums(tg::Tensor x, int count) {
    tg::Tensor y = cumsum(x);
    tg::Tensor all = y;
    for (int i = 1; i < count; ++i) {
        y = cumsum(y);
        all = all + y;
    }
    return all;
}
/// Several steps of rows that are wider than others may be, and where the largest of each lies.
template <tg::Index rows, tg::Index columns, int sums>
struct WideRows {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        out(argmax(sums_of_sums(r.state("x", {rows, columns}), sums)));
    }
};
/// Small steps of few rows that all read what two others make.
struct OneForAllRows {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor x = r.state("x", {7, 4096}) + sum(cumsum(r.state("few", {256})));
        out(x + sums_of_sums(x, 4));
    }
};
/// Takes from each row at a place that a step before it makes.
struct TakesByRow {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(cumsum(r.state("x", {300, 8, 128})));
        const tg::Tensor place = r.state("length", {300}, tg::DType::i32) - 1.0;
        out(cumsum(take(y, 1, place)));
    }
};

/// Small steps, of few rows.
template <tg::Index rows>
struct FewSmallRows {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(r.state("x", {rows, 4096}));
        out(y - mean(y));
    }
};
/// Small steps, and then one of many rows that cannot run by rows.
struct OthersFirst {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        tg::Tensor few = r.state("few", {3, 5});
        for (int i = 0; i < 4; ++i) {
            few = cumsum(few);
        }
        out(few);
        out(cumsum(softmax(r.state("x", {300, 128}))));
    }
};
/// A small step that reads what others make of one row.
template <tg::Index rows>
struct OneRowAlone {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumsum(r.state("x", {rows, 128}));
        out(slice(y, 0, 5, 1) * 2.0);
        out(y - mean(y));
    }
};

template <class Lowered>
constexpr bool has_rows() {
    bool result = false;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        result = result || Lowered::at(i).kind == LaunchKind::rows;
    }
    return result;
}
template <class Model>
using LoweringOf = tg::cuda::Lowering<tg::Program<Model>, false>;
// Beside each model that may not, one of its size that may.
static_assert(!has_rows<LoweringOf<OneRowForAll>>() && has_rows<LoweringOf<OwnColumn<300, 128>>>());
static_assert(!has_rows<LoweringOf<Turned>>() && has_rows<LoweringOf<OwnColumn<200, 200>>>());
static_assert(!has_rows<LoweringOf<RowsMoved>>());
static_assert(!has_rows<LoweringOf<FewRows>>() && has_rows<LoweringOf<OwnColumn<512, 128>>>());
static_assert(!has_rows<LoweringOf<OwnColumn<128, 2 * tg::cuda::widest_row>>>(), "rows that are too wide for a block");
static_assert(has_rows<LoweringOf<FewSmallRows<tg::cuda::fewest_small_rows>>>());
static_assert(!has_rows<LoweringOf<FewSmallRows<tg::cuda::fewest_small_rows - 1>>>());
static_assert(!has_rows<LoweringOf<OneRowAlone<100>>>() && has_rows<LoweringOf<OwnColumn<100, 128>>>());
static_assert(LoweringOf<OneRowAlone<300>>::at(0).count == 1);
constexpr tg::Index fewest = tg::cuda::fewest_wide_rows;
constexpr tg::Index widest = tg::cuda::widest_of_few_rows;
static_assert(LoweringOf<WideRows<fewest, widest, 2>>::at(0).count >= tg::cuda::fewest_wide_steps);
static_assert(!has_rows<LoweringOf<WideRows<fewest, widest, 1>>>() && tg::cuda::fewest_wide_steps > 3);
static_assert(!has_rows<LoweringOf<WideRows<fewest, 2 * widest, 2>>>());
static_assert(!has_rows<LoweringOf<WideRows<fewest - 1, widest, 2>>>());
static_assert(LoweringOf<OneForAllRows>::at(0).kind == LaunchKind::segment);
static_assert(LoweringOf<OneForAllRows>::at(0).count == 2);
static_assert(LoweringOf<OneForAllRows>::at(1).kind == LaunchKind::rows);
static_assert(LoweringOf<TakesByRow>::at(1).count == 4, "the places, what is taken there, and what follows");
static_assert(LoweringOf<OthersFirst>::at(0).kind == LaunchKind::segment && LoweringOf<OthersFirst>::at(0).count == 5);
static_assert(LoweringOf<Ring>::at(LoweringOf<Ring>::count - 1).kind == LaunchKind::step);

// The decode program begins with running statistics of each sample's patch.

struct Full {
    using Model = tg::toto1::open_base_1_0;
    static constexpr tg::Bucket bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256};
};
struct Small {
    using Model = replay::Model;
    static constexpr tg::Bucket bucket{.variates = 7, .context = 48, .horizon = 24, .samples = 700};
};
template <class Case>
using DecodeOf =
    typename tg::cuda::Forecaster<typename Case::Model, Case::bucket,
                                  tg::cuda::ForecasterOptions{
                                      .precision = tg::cuda::Precision::bf16}>::Executor::template ProgramAt<1>;

/// The steps that begin the decode program of a case, all rows of one launch.
template <class Case>
constexpr int rows_begin_decode() {
    using Program = DecodeOf<Case>;
    constexpr tg::cuda::Launch launch = tg::cuda::Lowering<Program, true>::at(0);
    int running_moments = 0;
    for (int i = launch.first; i < launch.first + launch.count; ++i) {
        const tg::Kernel& kernel = kernel_of<Program>(i);
        running_moments += kernel.kind == tg::KernelKind::structural && kernel.op == tg::Op::running_moments ? 1 : 0;
    }
    const bool is_as_expected = launch.kind == LaunchKind::rows &&
                                launch.rows == Case::bucket.variates * Case::bucket.samples && running_moments == 1;
    return is_as_expected ? launch.count : 0;
}
// Two steps of the context's scales, which are aside, among them.
static_assert(rows_begin_decode<Full>() == 4);
static_assert(rows_begin_decode<Small>() == 4);

/// Checks the launches by rows of a program, of which there are so many.
template <class Program, bool streams>
void check_rows(std::size_t expected) {
    using Lowered = tg::cuda::Lowering<Program, streams>;
    std::size_t found = 0;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        if (Lowered::at(i).kind == LaunchKind::rows) {
            CAPTURE(i);
            CHECK(rows::RowTouches<Program>(Lowered::at(i)).conflicts() == 0);
            ++found;
        }
    }
    CHECK(found == expected);
}

template <class Case>
void check_decode(std::size_t expected) {
    check_rows<DecodeOf<Case>, true>(expected);
}

/// The first steps of a program, as if they ran by rows.
template <class Program>
std::size_t conflicts_by(Index rows, int steps = 2, bool is_last_aside = false) {
    tg::cuda::Launch launch;
    launch.kind = LaunchKind::rows;
    launch.rows = rows;
    launch.count = steps;
    for (int i = 0; i < steps; ++i) {
        launch.order[static_cast<std::size_t>(i)] = i;
    }
    launch.aside[static_cast<std::size_t>(steps - 1)] = is_last_aside;
    return rows::RowTouches<Program>(launch).conflicts();
}

}  // namespace

TEST_CASE("no row of steps that run by rows touches what another one writes") {
    check_decode<Full>(2);
    check_decode<Small>(2);
    check_rows<tg::Program<ops::RowSteps<tg::DType::f32, 60>>, false>(1);
    check_rows<tg::Program<ops::RowSteps<tg::DType::f64, 160>>, false>(1);
    check_rows<tg::Program<ops::RowSteps<tg::DType::f64, 4096, 7>>, false>(1);
    check_rows<tg::Program<ops::RowStepsAndOthers<60, 701>>, false>(1);
    check_rows<tg::Program<ops::RowStepsAndOthers<3000, 8>>, false>(1);
    check_rows<tg::Program<ops::RowParts<tg::DType::f32>>, false>(1);
    check_rows<tg::Program<WideRows<fewest, widest, 2>>, false>(1);
    check_rows<tg::Program<OneForAllRows>, false>(1);
    check_rows<tg::Program<TakesByRow>, false>(2);
}

TEST_CASE("rows that touch others' are found") {
    CHECK(conflicts_by<TwoSteps<far>>(256) == 0);
    CHECK(conflicts_by<TwoSteps<0>>(256) == 0);
    CHECK(conflicts_by<TwoSteps<64>>(256) > 0);
    CHECK(conflicts_by<TwoSteps<far, true>>(256) > 0);
    CHECK(conflicts_by<TwoSteps<far, false, true>>(256) > 0);
    CHECK(conflicts_by<tg::Program<Ring>>(300, 3) > 0);
    CHECK(conflicts_by<tg::Program<WrittenPositions>>(300) > 0);
    CHECK(conflicts_by<tg::Program<Overlapping>>(300) > 0);
    CHECK(conflicts_by<tg::Program<OneRowForAll>>(300) > 0);
    CHECK(conflicts_by<tg::Program<Turned>>(200) > 0);
    CHECK(conflicts_by<tg::Program<OneRowAlone<300>>>(300, 2, true) > 0);
}
