// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace toto2_fixture {

/// The quantiles of a case, `[batch, variates, horizon, levels]`, in f32 on the CPU, node by node, with matrices that
/// are rounded to so many significant bits.
std::vector<float> quantiles_of_rounded_weights(const std::string& name, int bits);

}  // namespace toto2_fixture
