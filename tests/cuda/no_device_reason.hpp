// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include <cuda_runtime_api.h>

#include <totograph/core/error.hpp>

/// Whether `error` says in a sentence why a program cannot forecast on this machine: it has no device, or no driver of
/// one, or an old driver; or its device is none of `majors`, the compute capabilities that the program was compiled
/// for. With such a device every error is one too many.
inline bool is_no_device_reason(const totograph::Error& error, std::initializer_list<int> majors) {
    const std::string_view text = error.what();
    const auto says = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
    if (error.code() != totograph::ErrorCode::device_failure) {
        return false;
    }
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        cudaGetLastError();
        return says("no CUDA device") || says("driver");
    }
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
        return false;
    }
    const bool is_compiled_for = std::find(majors.begin(), majors.end(), properties.major) != majors.end();
    return !is_compiled_for && (says("compute capability") || says("holds no code for this device"));
}
