// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace totograph::toto2 {

/// Exact rewrites of the reference's algorithm. Each can be switched off, which tests use to prove it.
struct Rewrites {
    /// What is added to the residual stream is divided by the factors that the stream has been multiplied by so far, so
    /// that it is never multiplied.
    bool plain_residuals = true;
    bool scale_in_queries = true;    ///< The scales of queries and of attention go into the weights of the queries.
    bool joined_projections = true;  ///< The second and the skip projection of each two-layer projection are one GEMM.
    bool constant_unknown = true;    ///< A patch of which nothing is known is embedded once, when weights are prepared.
    bool read_rows_only = true;      ///< What nobody reads is left out: the last token, and rows of the last layers.
    bool skip_lone_variate = true;   ///< Attention over one variate is the identity on its values.
    /// Values and output of attention over one variate are one GEMM. Off, for it rounds otherwise than attention
    /// does, and a forecast of one variate would depend on whether its bucket has room for more.
    bool lone_variate_matrix = false;
    bool keep_intermediates = false;  ///< Writes intermediate tensors to states of their own, for inspection.

    friend constexpr bool operator==(const Rewrites&, const Rewrites&) = default;
};

}  // namespace totograph::toto2
