// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace mixer {

/// The result of `PlainMixer` on the CPU. It has a source file of its own, as nvcc does not compile that executor.
std::vector<float> run_on_cpu();

}  // namespace mixer
