// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace totograph::toto2 {

// Constants of unit scaling (https://arxiv.org/abs/2407.17465), by which the reference multiplies layers when it runs
// them. Here they go into weights.

/// The square root, for constant expressions.
constexpr double constexpr_sqrt(double x) {
    double root = x < 1 ? 1 : x;  // Newton's iteration from above
    double next = 0.5 * (root + x / root);
    while (next < root) {
        root = next;
        next = 0.5 * (root + x / root);
    }
    return root;
}

/// Of a layer that reads rows of so many numbers.
constexpr double unit_scale(double fan_in) {
    return 1 / constexpr_sqrt(fan_in);
}

/// Of silu in the two-layer projections: 2^0.2 (2 / (1 - 1/pi))^0.4.
inline constexpr double silu_scale = 1.7667829483123283;
/// Of the sum of a projection and its skip connection.
inline constexpr double skip_sum_scale = 0.70710678118654752440;
/// softplus(0), by which learned scales are divided.
inline constexpr double ln_2 = 0.69314718055994530942;

}  // namespace totograph::toto2
