// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "models/kronos/cases.hpp"
#include "models/kronos/fixture.hpp"
#include "models/kronos/parity.hpp"

// The cases of Kronos' reference, on the CUDA executor.

namespace kronos_fixture {

using tg::cuda::Precision;

template <class Case, Precision precision>
using InspectedOnDevice = tg::cuda::Forecaster<kronos_cases::Inspected<Case>, Case::bucket,
                                               tg::cuda::ForecasterOptions{.precision = precision}>;

/// Ids, forecasts, and every tensor on the way there, in f32.
template <class Case>
void check_cuda(const std::string& name) {
    using Forecaster = InspectedOnDevice<Case, Precision::f32>;
    Forecaster forecaster(load<Case>(name));
    Parity<Case, Forecaster> parity(forecaster, name);
    parity.check_greedy();
    parity.check_drawn();
}

/// The tokenizer's part is exact, and logits are within `bound` of the largest of their row. A message tells how many
/// ids come out as others.
template <class Case, Precision precision>
void check_cuda_rounded(const std::string& name, double bound) {
    using Forecaster = InspectedOnDevice<Case, precision>;
    Forecaster forecaster(load<Case>(name));
    Parity<Case, Forecaster> parity(forecaster, name);
    const auto rounded = parity.check_rounded();
    const double logits = std::max(rounded.s1_logits, rounded.s2_logits);
    MESSAGE(name << " in " << tg::cuda::name(precision) << ": logits within " << logits << ", " << rounded.others
                 << " of " << rounded.ids << " likeliest ids are others");
    CHECK(logits <= bound);
    CHECK(logits > 0);
}

}  // namespace kronos_fixture
