// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/row_local.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// What steps that run by rows touch, element by element.

namespace rows {

namespace tg = totograph;
using tg::Index;
using namespace tg::cuda::lowering_detail;

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
        for (std::size_t i = 0; i < static_cast<std::size_t>(launch.count); ++i) {
            if (launch.aside[i]) {
                aside_.push_back(launch.first + launch.order[i]);
            }
        }
        // What is read or written at a position counts against every step, before it and after.
        for (int step = launch.first; step < launch.first + launch.count; ++step) {
            add_moving(step_of<Program>(step), kernel_of<Program>(step));
        }
        for (int step = launch.first; step < launch.first + launch.count; ++step) {
            is_aside_ = std::find(aside_.begin(), aside_.end(), step) != aside_.end();
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

    /// Whether a step takes at a place that each row has for itself.
    [[nodiscard]] bool takes_by_row(const tg::Kernel& kernel) const {
        return has_positions(kernel) && kernel.op == tg::Op::take && kernel.operands[1].shape.rank == 1 &&
               kernel.operands[1].shape[0] == rows_;
    }

    void add_moving(const tg::Step& step, const tg::Kernel& kernel) {
        if (has_positions(kernel) && !takes_by_row(kernel)) {
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
        REQUIRE((!is_structural || is_store || kernel.op == tg::Op::take || kernel.op == tg::Op::cumsum ||
                 kernel.op == tg::Op::running_moments || kernel.op == tg::Op::concatenate ||
                 kernel.op == tg::Op::argmax || kernel.op == tg::Op::sort));
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
        const auto operands =
            static_cast<std::size_t>(has_positions(kernel) && !takes_by_row(kernel) ? 1 : kernel.operand_count);
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
        REQUIRE((is_aside_ || shape.size() % rows_ == 0));
        for (Index item = 0; item < shape.size(); ++item) {
            Index left = item;
            Index element = reference.offset;
            for (int axis = shape.rank - 1; axis >= 0; --axis) {
                element += left % shape[axis] * strides[static_cast<std::size_t>(axis)];
                left /= shape[axis];
            }
            const Index row = is_aside_ ? rows_ : item / (shape.size() / rows_);  // what is aside is like another row
            touch(memory, begin + static_cast<std::size_t>(element) * width, width, row, writes);
        }
    }

    /// Somewhere in a state that is read, nothing of the launch may write; one that is written, nothing else may touch.
    void add_somewhere(bool in_arena, int key, bool writes) {
        moving_conflicts_ += in_arena ? 1 : 0;
        accesses_[key] += in_arena ? 0 : 1;
        if (writes && !in_arena) {
            written_somewhere_.push_back(key);
            moving_conflicts_ += static_cast<std::size_t>(std::count(read_whole_.begin(), read_whole_.end(), key));
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
    std::vector<int> aside_;
    bool is_aside_ = false;                         ///< The step that is looked at.
    std::map<int, std::vector<Touched>> memories_;  ///< The arena, and each state.
    std::map<int, int> accesses_;                   ///< Of each state, by how many operands and results.
    std::vector<int> read_whole_;
    std::vector<int> written_somewhere_;
    std::size_t moving_conflicts_ = 0;
};

}  // namespace rows
