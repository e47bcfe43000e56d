// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace totograph::toto1 {

/// Exact rewrites of the reference's algorithm. Each can be switched off, which tests use to prove it.
struct Rewrites {
    bool kv_cache = true;      ///< Keys and values of earlier patches are kept instead of computed at each step.
    bool share_prefix = true;  ///< The context is processed once and shared by all samples.
    /// What follows the keys and values of the last time-wise layer runs for the last patch alone.
    bool last_patch_only = true;
    bool incremental_scaler = true;   ///< The scaler carries running sums instead of reading the whole series again.
    bool skip_lone_variate = true;    ///< Space-wise attention over one variate is the identity on its values.
    bool keep_intermediates = false;  ///< Writes intermediate tensors to states of their own, for inspection.

    friend constexpr bool operator==(const Rewrites&, const Rewrites&) = default;
};

}  // namespace totograph::toto1
