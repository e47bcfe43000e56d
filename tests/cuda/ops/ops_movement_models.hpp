// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

#include "cuda/ops/ops_states.hpp"
#include "support/movements.hpp"
#include "support/outputs.hpp"

// Models of ops that say where elements are, and of those that move them.

namespace ops {

using tg::test::Outputs;

/// Every way to say where elements are, and to move them.
template <DType dtype>
struct Views {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 3, 10}, dtype);
        const Tensor y = r.state("y", {4, 3, 10}, dtype);
        tg::test::record_views(out, x, y);
    }
};

/// One index of an axis, at a position that is device data.
template <DType dtype>
struct Takes {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 3, 10}, dtype);
        const Tensor y = r.state("y", {4, 3, 10}, dtype);
        const Tensor position = r.state("at", {1}, DType::i32);
        const Tensor positions = r.state("at.each", {4}, DType::i32);
        tg::test::record_takes(out, x, y, position, positions);
    }
};

/// Parts of states; what lies beside them must stay as it was.
template <DType dtype>
struct Stores {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4, 3, 10}, dtype);
        const Tensor position = r.state("at", {1}, DType::i32);
        const Tensor positions = r.state("at.each", {4}, DType::i32);
        r.store(r.state("out.part", {4, 9, 10}, dtype), x, 1, 4);
        r.store(r.state("out.last", {4, 3, 30}, dtype), x + x, 2, 7);
        r.store(r.state("out.repeated", {4, 3, 10}, dtype), slice(x, 1, 0, 1), 0, 0);
        r.store_at(r.state("out.at", {4, 9, 10}, dtype), x, 1, position);
        r.store_at(r.state("out.each", {4, 9, 10}, dtype), x, 1, positions);
        r.store_at(r.state("out.computed", {4, 9, 10}, dtype), x, 1, position + 1.0);
        r.store_at(r.state("out.moved", {4, 9, 10}, dtype), permute(reshape(x, {4, 10, 3}), {0, 2, 1}), 1, position);
    }
};

struct LargePermute {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(permute(r.state("x", {16, 256, 256}), {0, 2, 1}));
    }
};
struct LargeConcatenate {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(concatenate(r.state("x", {64, 96, 128}), r.state("y", {64, 32, 128}), 1));
    }
};
struct LargeTakeAndStore {
    static constexpr void record(Recorder& r) {
        const Tensor position = r.state("at", {1}, DType::i32);
        const Tensor taken = take(r.state("x", {1024, 4, 256}), 1, position);
        r.store_at(r.state("out", {1024, 6, 256}), taken * 2.0, 1, position);
    }
};

/// What is made of weights alone is prepared before the run.
struct WeightViews {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 6});
        const Tensor weight = r.weight("w", {6, 4});
        const Tensor bias = r.weight("b", {18});
        const Tensor position = r.state("at", {1}, DType::i32);
        out(x + permute(weight, {1, 0}));
        out(x + slice(bias, 0, 6, 6, 2));
        out(x + reshape(slice(weight, 1, 3, 1), {6}));
        out(take(weight, 0, position));
        out(x * softmax(slice(bias, 0, 0, 6)) + cumsum(slice(bias, 0, 1, 6)));
        out(r.iota(6) * x);
    }
};

}  // namespace ops
