// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/program.hpp>

#include "cuda/ops/ops_states.hpp"
#include "support/tensor_sources.hpp"

// Models as recorded, run by the eager executor: what a device's results are compared with.

namespace ops {

template <class Model>
std::vector<StateContent> run_eager() {
    using Executor = tg::cpu::EagerExecutor<tg::Program<Model, tg::Passes::none(), false>>;
    Executor executor(tg::test::made_up_weights(), std::make_shared<tg::cpu::ThreadPool>(1));
    std::vector<StateContent> states;
    for (std::size_t i = 0; i < Executor::Layout::count; ++i) {
        const tg::StateSlot& slot = Executor::Layout::entries[i].slot;
        states.push_back({std::string(slot.name), slot.layer, content_of<Model>(slot)});
        const Bytes& bytes = states.back().bytes;
        std::memcpy(executor.state(slot.name, slot.layer), bytes.data(), bytes.size());
    }
    for (int run = 0; run < runs_of<Model>(); ++run) {
        executor.template run<0>();
    }
    for (StateContent& state : states) {
        std::memcpy(state.bytes.data(), executor.state(state.name, state.layer), state.bytes.size());
    }
    return states;
}

/// The states after a run of the model of a row of `Rows`, a tuple.
template <class Rows>
std::vector<StateContent> run_eager_row(std::size_t row) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        std::vector<StateContent> (*const runs[])() = {&run_eager<typename std::tuple_element_t<i, Rows>::Model>...};
        return runs[row]();
    }
    (std::make_index_sequence<std::tuple_size_v<Rows>>());
}

}  // namespace ops
