// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks a function that runs on the CPU and, compiled by nvcc, on the device.
#ifdef __CUDACC__
#define TOTOGRAPH_HOST_DEVICE __host__ __device__
#else
#define TOTOGRAPH_HOST_DEVICE
#endif
