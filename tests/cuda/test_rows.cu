// SPDX-License-Identifier: Apache-2.0
// Which steps run by rows in one kernel, and that no row of such steps touches what another one writes: found out from
// every element that they touch. No device is needed; test_ops.cu runs such steps on one.
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/exec/cuda/row_local.hpp>

#include "cuda/ops_models.hpp"
#include "cuda/replay_requests.hpp"

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
    static constexpr int together = run_of_rows<TwoSteps>(0, 2, 256).count;
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
        const tg::Tensor y = cumulative_sum(r.state("x", {300, 128}));
        out(y - slice(y, 0, 5, 1));
    }
};
/// Reads columns as rows.
struct Turned {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumulative_sum(r.state("x", {200, 200}));
        out(y - permute(y, {1, 0}));
    }
};
/// Puts the last row first.
struct RowsMoved {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumulative_sum(r.state("x", {300, 128}));
        out(concatenate(slice(y, 0, 299, 1), slice(y, 0, 0, 299), 0));
    }
};
/// Reads a ring of columns after a place in it was written.
struct Ring {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor ring = r.state("ring", {300, 4, 128});
        const tg::Tensor at = r.state("at", {1}, tg::DType::i32);
        r.store_at(ring, cumulative_sum(r.state("x", {300, 1, 128})), 1, at);
        out(take(ring, 1, at) * 2.0);
    }
};
/// What the models above do with rows, with columns: each row reads its own.
template <tg::Index rows, tg::Index columns>
struct OwnColumn {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumulative_sum(r.state("x", {rows, columns}));
        out(y - slice(y, 1, 5, 1));
    }
};
/// Few rows, of many columns.
struct FewRows {
    static constexpr void record(tg::Recorder& r) {
        tg::test::Outputs out(r);
        const tg::Tensor y = cumulative_sum(r.state("x", {16, 4096}));
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
static_assert(LoweringOf<Ring>::at(LoweringOf<Ring>::count - 1).kind == LaunchKind::step);

// The decode program begins with running statistics of each sample's patch.

struct Full {
    using Model = tg::toto::open_base_1_0;
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
    int running_sums = 0;
    for (int i = launch.first; i < launch.first + launch.count; ++i) {
        const tg::Kernel& kernel = kernel_of<Program>(i);
        running_sums += kernel.kind == tg::KernelKind::structural && kernel.op == tg::Op::cumulative_sum ? 1 : 0;
    }
    const bool is_as_expected = launch.kind == LaunchKind::rows &&
                                launch.rows == Case::bucket.variates * Case::bucket.samples && running_sums == 2;
    return is_as_expected ? launch.count : 0;
}
// What step 11 makes takes the memory of what step 7 made for other rows.
static_assert(rows_begin_decode<Full>() == 11);
static_assert(rows_begin_decode<Small>() == 11);

/// What rows do with four bytes of memory.
struct Touched {
    Index row = -1;
    bool by_several = false;
    bool is_written = false;
};

/// Looks at every element that the steps of a launch touch.
template <class Program>
class RowTouches {
public:
    explicit RowTouches(const tg::cuda::Launch& launch) : rows_(launch.rows) {
        // What is read or written at a position counts against every step, before it and after.
        for (int step = launch.first; step < launch.first + launch.count; ++step) {
            add_moving(step_of<Program>(step), kernel_of<Program>(step));
        }
        for (int step = launch.first; step < launch.first + launch.count; ++step) {
            add(step_of<Program>(step), kernel_of<Program>(step));
        }
    }

    /// Places that a row writes and another one touches.
    [[nodiscard]] std::size_t conflicts() const {
        std::size_t count = moving_conflicts_;
        for (const int state : written_somewhere_) {
            count += accesses_.at(state) > 1 ? 1U : 0U;
        }
        for (const auto& [key, memory] : memories_) {
            for (const Touched& touched : memory) {
                count += touched.is_written && touched.by_several ? 1U : 0U;
            }
        }
        return count;
    }

private:
    /// Whether a step takes or stores at positions of its own.
    static bool has_positions(const tg::Kernel& kernel) {
        return kernel.kind == tg::KernelKind::structural &&
               (kernel.op == tg::Op::take || (kernel.op == tg::Op::store && kernel.operand_count == 2));
    }

    void add_moving(const tg::Step& step, const tg::Kernel& kernel) {
        if (has_positions(kernel)) {
            REQUIRE(step.operands[1].space == tg::Space::state);
            read_whole_.push_back(step.operands[1].index);  // positions, which all rows may read
        }
        for (int i = -1; i < kernel.operand_count; ++i) {
            const tg::Reference& reference = i < 0 ? step.output : step.operands[static_cast<std::size_t>(i)];
            if (reference.position >= 0) {
                if (i >= 0) {
                    read_whole_.push_back(reference.space == tg::Space::arena ? -1 : reference.index);
                }
                read_whole_.push_back(reference.position);
            }
        }
    }

    void add(const tg::Step& step, const tg::Kernel& kernel) {
        const bool is_reduction = kernel.kind == tg::KernelKind::reduction;
        const bool is_structural = kernel.kind == tg::KernelKind::structural;
        const bool is_store = is_structural && kernel.op == tg::Op::store;
        REQUIRE((!is_structural || is_store || kernel.op == tg::Op::take || kernel.op == tg::Op::cumulative_sum ||
                 kernel.op == tg::Op::concatenate));
        const tg::Shape row_shape = leading(kernel.iteration, kernel.row_rank);
        if (is_store && has_positions(kernel)) {
            add_somewhere(step.output.space == tg::Space::arena, step.output.index, true);
        } else {
            tg::Reference output = step.output;
            if (is_store) {
                output.offset +=
                    kernel.attributes[1] * kernel.output_strides[static_cast<std::size_t>(kernel.attributes[0])];
            }
            add(output, kernel.dtype, is_reduction ? row_shape : kernel.iteration, kernel.output_strides, true);
        }
        const auto operands = static_cast<std::size_t>(has_positions(kernel) ? 1 : kernel.operand_count);
        for (std::size_t i = 0; i < operands; ++i) {
            const tg::Operand& operand = kernel.operands[i];
            const bool is_of_rows = is_reduction && i >= static_cast<std::size_t>(kernel.prologue_operands);
            add(step.operands[i], operand.dtype,
                is_structural ? operand.shape
                : is_of_rows  ? row_shape
                              : kernel.iteration,
                operand.strides, false);
        }
    }

    void add(const tg::Reference& reference, tg::DType dtype, const tg::Shape& shape, const tg::Strides& strides,
             bool writes) {
        if (reference.space != tg::Space::arena && reference.space != tg::Space::state) {
            return;
        }
        const bool in_arena = reference.space == tg::Space::arena;
        const int key = in_arena ? -1 : reference.index;
        if (reference.position >= 0) {
            return add_somewhere(in_arena, key, writes);
        }
        accesses_[key] += in_arena ? 0 : 1;
        for (const int whole : read_whole_) {
            moving_conflicts_ += writes && whole == key ? 1 : 0;
        }
        auto& memory = memories_[key];
        const std::size_t width = tg::size_in_bytes(dtype) / 4;
        const std::size_t begin = in_arena ? Program::buffers[static_cast<std::size_t>(reference.index)].offset / 4 : 0;
        REQUIRE(shape.size() % rows_ == 0);
        for (Index item = 0; item < shape.size(); ++item) {
            Index left = item;
            Index element = reference.offset;
            for (int axis = shape.rank - 1; axis >= 0; --axis) {
                element += left % shape[axis] * strides[static_cast<std::size_t>(axis)];
                left /= shape[axis];
            }
            touch(memory, begin + static_cast<std::size_t>(element) * width, width, item / (shape.size() / rows_),
                  writes);
        }
    }

    /// Somewhere in a state that is read, nothing of the launch may write; one that is written, nothing else may touch.
    void add_somewhere(bool in_arena, int key, bool writes) {
        moving_conflicts_ += in_arena ? 1 : 0;
        accesses_[key] += in_arena ? 0 : 1;
        if (writes && !in_arena) {
            written_somewhere_.push_back(key);
        }
    }

    static void touch(std::vector<Touched>& memory, std::size_t first, std::size_t width, Index row, bool writes) {
        if (memory.size() < first + width) {
            memory.resize(first + width);
        }
        for (std::size_t at = first; at < first + width; ++at) {
            Touched& touched = memory[at];
            touched.by_several = touched.by_several || (touched.row >= 0 && touched.row != row);
            touched.row = row;
            touched.is_written = touched.is_written || writes;
        }
    }

    Index rows_;
    std::map<int, std::vector<Touched>> memories_;  ///< The arena, and each state.
    std::map<int, int> accesses_;                   ///< Of each state, by how many operands and results.
    std::vector<int> read_whole_;
    std::vector<int> written_somewhere_;
    std::size_t moving_conflicts_ = 0;
};

/// Checks the launches by rows of a program, of which there are so many.
template <class Program, bool streams>
void check_rows(std::size_t expected) {
    using Lowered = tg::cuda::Lowering<Program, streams>;
    std::size_t found = 0;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        if (Lowered::at(i).kind == LaunchKind::rows) {
            CAPTURE(i);
            CHECK(RowTouches<Program>(Lowered::at(i)).conflicts() == 0);
            ++found;
        }
    }
    CHECK(found == expected);
}

template <class Case>
void check_decode() {
    check_rows<DecodeOf<Case>, true>(3);
}

/// The first steps of a program, as if they ran by rows.
template <class Program>
std::size_t conflicts_by(Index rows, int steps = 2) {
    tg::cuda::Launch launch;
    launch.kind = LaunchKind::rows;
    launch.rows = rows;
    launch.count = steps;
    return RowTouches<Program>(launch).conflicts();
}

}  // namespace

TEST_CASE("no row of steps that run by rows touches what another one writes") {
    check_decode<Full>();
    check_decode<Small>();
    check_rows<tg::Program<ops::RowSteps<tg::DType::f32, 60>>, false>(1);
    check_rows<tg::Program<ops::RowSteps<tg::DType::f64, 160>>, false>(1);
    check_rows<tg::Program<ops::RowParts<tg::DType::f32>>, false>(1);
}

TEST_CASE("rows that touch others' are found") {
    CHECK(conflicts_by<TwoSteps<far>>(256) == 0);
    CHECK(conflicts_by<TwoSteps<0>>(256) == 0);
    CHECK(conflicts_by<TwoSteps<64>>(256) > 0);
    CHECK(conflicts_by<TwoSteps<far, true>>(256) > 0);
    CHECK(conflicts_by<TwoSteps<far, false, true>>(256) > 0);
    CHECK(conflicts_by<tg::Program<Ring>>(300, 3) > 0);
    CHECK(conflicts_by<tg::Program<OneRowForAll>>(300) > 0);
    CHECK(conflicts_by<tg::Program<Turned>>(200) > 0);
}
