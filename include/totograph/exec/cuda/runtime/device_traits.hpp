// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

// What kernels are chosen and cut by: sizes of a device, as constants or asked of one. Nothing here needs CUDA.

namespace totograph::cuda {

/// Blocks of a cluster that has whole rows of a GEMM together.
inline constexpr int row_cluster_blocks = 8;

/// Sizes and instruction sets of a device.
struct DeviceTraits {
    int major = 0;  ///< Of its compute capability.
    int minor = 0;
    int multiprocessors = 0;
    std::size_t shared_bytes = 0;           ///< Shared memory of a multiprocessor.
    std::size_t shared_bytes_of_block = 0;  ///< As much of it as one block can ask for.
    /// Thread-block clusters and programmatic dependent launch.
    bool has_clusters = false;
    /// `wgmma`, whose tiles the Tensor Memory Accelerator brings (code for `sm_90a`).
    bool has_wgmma = false;
    /// Clusters of `row_cluster_blocks` blocks that run at once, each block on a multiprocessor of its own; 0 without
    /// `wgmma`, whose kernels alone ask.
    int row_clusters = 0;

    /// As in `sm_90`.
    [[nodiscard]] constexpr int architecture() const { return major * 10 + minor; }
};

/// `sm_90 with 132 multiprocessors`.
inline std::string to_string(const DeviceTraits& device) {
    return "sm_" + std::to_string(device.architecture()) + " with " + std::to_string(device.multiprocessors) +
           " multiprocessors";
}

/// The largest common device of each architecture: A100, GeForce RTX 3090, L40S, H100 SXM and H200 (on the one that was
/// measured 15 clusters of eight run at once; the driver tells others), B200, and GeForce RTX 5090.
inline constexpr std::array<DeviceTraits, 6> known_devices{{
    {8, 0, 108, 164 << 10, 163 << 10, false, false, 0},
    {8, 6, 82, 100 << 10, 99 << 10, false, false, 0},
    {8, 9, 142, 100 << 10, 99 << 10, false, false, 0},
    {9, 0, 132, 228 << 10, 227 << 10, true, true, 15},
    {10, 0, 148, 228 << 10, 227 << 10, true, false, 0},
    {12, 0, 170, 100 << 10, 99 << 10, true, false, 0},
}};

/// The traits of a known device: 80, 86, 89, 90, 100 or 120. Another number does not compile.
consteval DeviceTraits traits_of(int architecture) {
    for (const DeviceTraits& device : known_devices) {
        if (device.architecture() == architecture) {
            return device;
        }
    }
    throw "totograph: known architectures are 80, 86, 89, 90, 100 and 120.";
}

/// What every known device has, or more. What is chosen by it when a program is compiled runs on each of them.
inline constexpr DeviceTraits least_device = [] {
    DeviceTraits least = known_devices[0];
    for (const DeviceTraits& device : known_devices) {
        least.multiprocessors = std::min(least.multiprocessors, device.multiprocessors);
        least.shared_bytes = std::min(least.shared_bytes, device.shared_bytes);
        least.shared_bytes_of_block = std::min(least.shared_bytes_of_block, device.shared_bytes_of_block);
    }
    return least;
}();

/// Shared memory that a block can ask for on every known device.
inline constexpr std::size_t least_shared_bytes_of_block = least_device.shared_bytes_of_block;

/// The device that a program is cut for: its launches are put together when it is compiled, for whatever device it may
/// run on, and what depends on a device's size then follows from this one.
inline constexpr DeviceTraits compiled_for = traits_of(90);

}  // namespace totograph::cuda
