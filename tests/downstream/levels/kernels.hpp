// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// The vectors that this was compiled for, as `totograph::serve::BuildIdentity` names them.
std::string vectors();

/// A product of matrices.
std::vector<float> compute();
