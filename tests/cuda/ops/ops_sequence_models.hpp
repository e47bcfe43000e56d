// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

#include "cuda/ops/ops_states.hpp"
#include "support/outputs.hpp"

// Models whose steps run one after the other in one kernel.

namespace ops {

using tg::test::Outputs;

/// Small steps, each of which reads what those before it made: they run as one kernel (test_ops.cu asserts it).
struct SmallSteps {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        Tensor x = r.state("x", {3, 40});
        for (int i = 0; i < 4; ++i) {
            const Tensor centred = x - mean(x);
            const Tensor weights = softmax(centred);
            const Tensor turned = permute(reshape(weights * centred, {3, 4, 10}), {0, 2, 1});
            x = reshape(turned, {3, 40}) + exp(sum(centred * centred) * -0.01) * r.state("row", {40});
            out(x);
        }
        out(concatenate(x, reshape(cumsum(r.state("positive", {3, 7})), {3, 7}), 1));
        out(take(x, 1, r.state("at", {1}, DType::i32)));
    }
};

/// Steps of which a thread takes several turns, in one block or in a cluster of them (test_ops.cu asserts which).
template <DType dtype, Index width>
struct TurnsOfSteps {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("positive", {3, width}, dtype);
        const Tensor sums = cumsum(x);
        const Tensor middle = mean(sums);
        const Tensor centred = sums - middle;
        const Tensor moved = concatenate(slice(centred, 1, 1, width - 1), middle, 1);
        const Tensor at = r.state("at", {1}, DType::i32);
        out(moved * centred + x);
        out(cumsum(moved) / middle);
        out(take(reshape(moved, {3, width / 4, 4}), 2, at));
        r.store(r.state("out.part", {3, width + 9}, dtype), moved, 1, 4);
        r.store_at(r.state("out.at", {3, width + 9}, dtype), centred, 1, at);
    }
};

/// Running moments of rows, of which some have no value that counts, and some few.
template <Index rows, Index steps, Index group>
struct Moments {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape one{2, rows, 1};
        const Tensor x = r.state("x", {2, rows, steps});
        const Tensor marks = less(r.state("draws", x.shape()), r.state("share", one));
        const Tensor x_apart = slice(r.state("pairs", {2, rows, 2 * steps}), 2, 1, steps, 2);
        const Tensor count = floor(r.state("positive count", one, DType::f64) * 3.0);
        const Tensor any = minimum(count, 1.0);  // of no value, all three are 0
        const tg::RunningMoments before{count, r.state("total", one, DType::f64) * any,
                                        r.state("positive", one, DType::f64) * any};
        out(running_moments(x, nullptr, group));
        out(running_moments(x, &marks, group, 9));
        out(running_moments(x_apart, &marks, group, 0, &before));
        out(running_moments(x_apart, nullptr, group, 9, &before));
        out(running_moments(x, &marks, group, steps, &before));
        out(running_moments(where(marks, x, sqrt(x * 0.0 - 1.0)), &marks, group, 3));  // NaN where nothing counts
        const tg::RunningMoments parts{before.count + any * 0.5, before.total, before.spread};
        out(running_moments(x, &marks, group, 9, &parts));
    }
};

/// The same op alone: a block has 256 threads.
struct MomentsAlone {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(running_moments(r.state("x", {40, 9000}), nullptr, 100, 11));
    }
};

/// Steps of 701 rows, each of which makes a row from the same row of what those before it made: they run as one kernel,
/// whose blocks have some rows each, the last one fewer (test_ops.cu asserts it). What is made is read until the end,
/// so that nothing else takes its memory.
template <DType dtype, Index width, Index row_count = 701>
struct RowSteps {
    static constexpr Index rows = row_count;
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("positive", {rows, width}, dtype);
        const Tensor sums = cumsum(x);
        const Tensor middle = mean(sums);
        const Tensor centred = sums - middle;
        const Tensor moved = concatenate(middle, slice(centred, 1, 0, width - 1), 1);
        const Tensor spread = sum(centred * centred) + 1.0;
        const Tensor again = cumsum(moved * centred / spread);
        out(again + slice(moved, 1, width - 1, 1));
        out(sums + moved + again);
        out(spread * r.state("row", {width}, dtype));
    }
};

/// As `RowSteps`, with parts of 2,804 rows, four for each of 701 positions: of an input, at a position that all rows
/// share; of what was made, at one that four rows share; and stored between what is beside them, which must stay as it
/// was.
template <DType dtype>
struct RowParts {
    static constexpr Index outer = 701;
    static constexpr Index rows = 4 * outer;
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("positive", {outer, 4, 12}, dtype);
        const Tensor sums = cumsum(x);
        const Tensor shared = take(x, 1, r.state("at", {1}, DType::i32));
        const Tensor own = take(sums, 2, r.state("at.each", {outer}, DType::i32));
        r.store(r.state("out.part", {outer, 9, 12}, dtype), sums * 2.0, 1, 4);
        r.store(r.state("out.columns", {outer, 1, 30}, dtype), shared, 2, 7);
        r.store(r.state("out.each", {outer, 4, 3}, dtype), own + slice(shared, 2, 5, 1), 2, 2);
        r.store_at(r.state("out.own", {outer, 7, 12}, dtype), sums, 1, r.state("at.each", {outer}, DType::i32));
        r.store_at(r.state("out.at", {outer, 6, 12}, dtype), shared - 1.0, 1, r.state("at.other", {1}, DType::i32));
    }
};

/// Steps of rows, and small ones between them that have nothing to do with those: they have a block of their own
/// (test_ops.cu asserts it).
template <Index width, Index row_count>
struct RowStepsAndOthers {
    static constexpr Index rows = row_count;
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("positive", {rows, width});
        const Tensor few = r.state("few", {5, 9}, DType::f64);
        const Tensor sums = cumsum(x);
        const Tensor centred = few - mean(few);
        out(centred);
        out(sums - mean(sums));
        out(cumsum(centred * centred));
        r.store_at(r.state("out.at", {5, 30}, DType::f64), centred, 1, r.state("at", {1}, DType::i32));
        out(x * 0.5 + sums);
    }
};

}  // namespace ops
