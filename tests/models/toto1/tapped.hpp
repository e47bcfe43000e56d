// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/models/toto1/family.hpp>

namespace fixture {

/// A model that keeps every intermediate tensor, of every patch.
template <class Model>
using Tapped = totograph::toto1::WithRewrites<Model, totograph::toto1::Rewrites{.last_patch_only = false,
                                                                                .keep_intermediates = true}>;

}  // namespace fixture
