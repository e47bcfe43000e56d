// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "models/nanovlm/parity.hpp"

// The cases of nanoVLM's reference, on the CUDA executor.

namespace nanovlm_fixture {

using tg::cuda::Precision;

template <class Case, Precision precision>
using InspectedOnDevice = tg::cuda::Forecaster<nanovlm_cases::Inspected<Case>, Case::bucket,
                                               tg::cuda::ForecasterOptions{.precision = precision}>;

/// Tokens, and every tensor on the way there, in f32.
template <class Case>
void check_cuda(const std::string& name) {
    using Forecaster = InspectedOnDevice<Case, Precision::f32>;
    Forecaster forecaster(load<Case>(name));
    Parity<Case, Forecaster>(forecaster, name).check_greedy();
}

/// Logits are within `bound` of the largest of their row. A message tells how many tokens come out as others.
template <class Case, Precision precision>
void check_cuda_rounded(const std::string& name, double bound) {
    using Forecaster = InspectedOnDevice<Case, precision>;
    Forecaster forecaster(load<Case>(name));
    const auto rounded = Parity<Case, Forecaster>(forecaster, name).check_rounded();
    MESSAGE(name << " in " << tg::cuda::name(precision) << ": logits within " << rounded.logits << ", "
                 << rounded.others << " of " << rounded.tokens << " likeliest tokens are others");
    CHECK(rounded.logits <= bound);
    CHECK(rounded.logits > 0);
}

}  // namespace nanovlm_fixture
