// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/forecast/family.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/input_states.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/recorder.hpp>

#include "forecast/smallest_family.hpp"

// Families as the smallest one, of a program that a test gives them.
namespace one_program_family {

namespace tg = totograph;
using tg::Bucket;
using tg::Index;

/// The program of a bucket. `Recorded` has `template <Bucket> static constexpr void record(Recorder&)`, which leaves
/// the state `request` to this.
template <class Recorded, Bucket bucket>
struct Program {
    using operations = typename tg::OperationsOf<Recorded>::type;

    static constexpr void record(tg::Recorder& r) {
        (void)r.state(tg::states::request, {tg::states::request_size}, tg::DType::i32);
        Recorded::template record<bucket>(r);
    }
};

template <class Recorded, tg::Imputation how>
struct Config {
    template <class Model>
    struct Family : smallest_family::Family<Model> {
        static constexpr tg::CheckpointRules checkpoint{.family = "one program"};
        static constexpr tg::Imputation imputation = how;

        static void fill(tg::StateMemory memory, const tg::ForecastSizes& sizes, const tg::Series& series,
                         const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
            tg::InputStates(sizes, memory).fill(series, request, seed, first_sample, imputation);
        }

        template <Bucket bucket>
        struct Schedule {
            using Models = tg::ModelList<Program<Recorded, bucket>>;
            static constexpr std::array<std::string_view, 1> names{"forecast"};
            static constexpr std::array<std::string_view, 1> titles{"forecast: all steps"};
            static constexpr Index runs(std::size_t, Index) { return 1; }
        };
    };
};

template <class Recorded, tg::Imputation how = tg::Imputation::as_given>
struct Model {
    static constexpr Config<Recorded, how> config{};
};

}  // namespace one_program_family
