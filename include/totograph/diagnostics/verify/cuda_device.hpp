// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/verify/check.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/explain/measure_cuda_speed.hpp>

// Include it from files that nvcc compiles. For `VerifyOptions::further`.

namespace totograph::serve {

namespace detail {

/// 13020 as `13.2`.
inline std::string cuda_version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

inline Check check_cuda_driver() {
    int driver = 0;
    int runtime = 0;
    cuda::check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    cuda::check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    Check check{"driver", CheckResult::ok,
                driver == 0 ? "there is no CUDA driver"
                            : "for CUDA " + cuda_version_text(driver) + "; this program runs CUDA " +
                                  cuda_version_text(runtime) + ", compiled for " + cuda_version_text(CUDART_VERSION)};
    if (driver / 1000 < runtime / 1000) {
        check.result = CheckResult::failed;
        check.remedy = "Install a driver for CUDA " + cuda_version_text(runtime) + " or later.";
    }
    return check;
}

inline Check check_cublas() {
    const std::size_t loaded = cublasLtGetVersion();
    const auto text = [](std::size_t version) {
        return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
               std::to_string(version % 100);
    };
    const bool is_same = loaded / 10000 == CUBLAS_VERSION / 10000;
    return {"cuBLASLt", is_same ? CheckResult::ok : CheckResult::failed,
            "version " + text(loaded) + ", compiled for " + text(CUBLAS_VERSION),
            is_same ? "" : "Install the library of the CUDA toolkit that the program is compiled with."};
}

inline Check check_cuda_memory(std::size_t wanted) {
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
    // Half of what is free: cuBLASLt and the driver take their part, and so does whoever else uses the device.
    const bool is_enough = wanted <= free / 2;
    return {"device memory", is_enough ? CheckResult::ok : CheckResult::warning,
            totograph::detail::bytes_text(free) + " of " + totograph::detail::bytes_text(total) + " free" +
                (wanted == 0 ? "" : ", the compiled sizes take " + totograph::detail::bytes_text(wanted)),
            is_enough ? "" : "Compile for smaller sizes, or give the device to fewer programs."};
}

inline Check check_cuda_speed(int index) {
    try {
        const DeviceSpeed speed = measure_cuda_speed(index);
        return {"device speed", CheckResult::ok,
                totograph::detail::number_text(speed.bytes_per_second * 1e-9, 4) + " GB/s copied, " +
                    totograph::detail::number_text(speed.flops_per_second * 1e-12, 4) + " TFLOP/s of GEMMs in bf16"};
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) {
            throw;
        }
        return {"device speed", CheckResult::warning, "not measured: " + std::string(error.what()),
                "Free memory of the device to have it measured."};
    }
}

}  // namespace detail

/// Says line by line whether the driver, cuBLASLt and a device are fit to serve: `wanted` bytes of memory, code for its
/// architecture, and what it reaches, measured in about a tenth of a second. Throws nothing for what it finds.
inline std::vector<Check> check_cuda_device(int index, std::size_t wanted = 0) {
    std::vector<Check> checks;
    const auto add = [&](const char* what, const char* remedy, auto&& make_check) {
        try {
            checks.push_back(make_check());
        } catch (const std::exception& error) {
            cudaGetLastError();
            checks.push_back({what, CheckResult::failed, error.what(), remedy});
        }
        return checks.back().result != CheckResult::failed;
    };
    if (!add("driver", "Install the driver of the device.", detail::check_cuda_driver)) {
        return checks;
    }
    checks.push_back(detail::check_cublas());
    const bool is_usable = add("device", "Choose another device, or the CPU.", [&]() -> Check {
        const cuda::CurrentDevice current(index);
        const cuda::Device device = cuda::describe_device(index);
        const bool is_older = device.major >= 9 && !device.has_clusters;
        const bool lacks_warpgroups = device.major == 9 && !device.has_wgmma;
        return {"device", is_older || lacks_warpgroups ? CheckResult::warning : CheckResult::ok,
                "'" + device.name + "', compute capability " + std::to_string(device.major) + "." +
                    std::to_string(device.minor) + ", " + std::to_string(device.multiprocessors) + " multiprocessors",
                is_older           ? "The program holds code of an older architecture for it: compile it with this "
                                     "device's architecture in CMAKE_CUDA_ARCHITECTURES."
                : lacks_warpgroups ? "The program holds no code for its warpgroups: compile it with 90a in "
                                     "CMAKE_CUDA_ARCHITECTURES."
                                   : ""};
    });
    if (!is_usable) {
        return checks;
    }
    const cuda::CurrentDevice current(index);
    if (add("device memory", "Free memory of the device.", [&] { return detail::check_cuda_memory(wanted); })) {
        add("device speed", "See the line above; the device may be in use.",
            [&] { return detail::check_cuda_speed(index); });
    }
    return checks;
}

}  // namespace totograph::serve
