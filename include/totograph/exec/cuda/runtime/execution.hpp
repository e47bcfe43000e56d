// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace totograph::cuda {

/// How the launches of a forecast reach the device.
enum class Capture : std::uint8_t {
    /// A graph of the whole forecast, its further patches one after the other; shorter forecasts replay one of the
    /// beginning, one for each further patch, and one of the end.
    whole,
    /// A graph for each transformer layer and for what lies before and after them. Those of a further patch serve all
    /// further patches. More replays, and less to build.
    regional,
    /// One graph whose further patches are a loop on the device, of as many rounds as a request needs.
    device_loop,
    /// No graph: the host launches every kernel of every forecast.
    none,
};

/// How an executor and a forecaster run. None of it changes what is computed, but for `tunes` and `fuses`: another
/// algorithm of a GEMM may round in another way.
struct Execution {
    Capture capture = Capture::whole;
    /// GEMMs are measured, alone and where that does not decide within their programs, and the fastest algorithm is
    /// kept; else they use cuBLASLt's first choice.
    bool tunes = true;
    bool overlaps = true;  ///< A kernel may begin before the one before it has ended (programmatic dependent launch).
    /// GEMMs of many rows run in one kernel with their epilogues, or with the norm that follows, where `gemm_choices`
    /// says so; else cuBLASLt computes them, and other kernels the rest.
    bool fuses = true;
    /// The host waits after each launch, so that an error shows where it happens. Not while capturing.
    bool waits = false;

    friend constexpr bool operator==(const Execution&, const Execution&) = default;
};

}  // namespace totograph::cuda
