// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

// Counts calls of the CUDA runtime by standing between this program and the shared library: definitions in the program
// itself come first, and forward to the library's. What the library calls within itself is not counted.

namespace calls {

/// How often each function has been called since the last `forget`; those that were not are left out.
std::map<std::string, int> counted();

/// Begins to count from 0.
void forget();

}  // namespace calls
