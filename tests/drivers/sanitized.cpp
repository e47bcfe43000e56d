// SPDX-License-Identifier: Apache-2.0
// What a program with a forecaster instantiates, and bounded states and operations of a user's own beside it, for
// sanitized.cmake.
#include <memory>
#include <string_view>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

#include "forecast/smallest_family.hpp"

namespace tg = totograph;

struct Square {
    static constexpr std::string_view name = "square";
    template <class T>
    static T apply(T x) {
        return x * x;
    }
};

struct Twice {
    static constexpr std::string_view name = "twice";
    template <class T>
    static T apply(T x) {
        return x + x;
    }
};

struct Bounded {
    using operations = tg::OperationSet<Square, Twice>;

    static constexpr void record(tg::Recorder& r) {
        (void)r.state("used", {4}, tg::DType::i32, {}, tg::StateUse::bounds);
        const tg::Tensor x = r.state("x", {2, 3, 4, 5, 8});
        r.store(r.state("out", x.shape(), x.dtype(), {}, tg::StateUse::any, tg::AxisBounds{1, 2, 3, 4}),
                exp(tg::apply<Square>(x)) * tg::apply<Twice>(r.weight("scale", {8})));
    }
};

void run(const tg::Weights& weights) {
    using Executor = tg::cpu::FusedExecutor<float, tg::Program<Bounded>>;
    static_assert(Executor::Layout::has_bounds);
    Executor(weights, std::make_shared<tg::cpu::ThreadPool>(1)).run<0>();
}

float forecast(const tg::ModelWeights<smallest_family::Model>& weights, const std::vector<float>& history) {
    tg::Forecaster<smallest_family::Model, tg::Bucket{.context = 6, .horizon = 4}> forecaster(weights);
    return forecaster.forecast({.steps = static_cast<tg::Index>(history.size()), .values = history}).median()[0];
}
