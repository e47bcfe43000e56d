// SPDX-License-Identifier: Apache-2.0
// What a doctor says of a device, and what it measures.
#include <cstddef>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/diagnostics/verify/cuda_device.hpp>
#include <totograph/serve/explain/measure_cuda_speed.hpp>

namespace tg = totograph;
using tg::serve::Check;
using tg::serve::CheckResult;

namespace {

CheckResult result_of(const std::vector<Check>& checks, const std::string& what) {
    for (const Check& check : checks) {
        if (check.what == what) {
            CAPTURE(check.found);
            CHECK((check.result == CheckResult::ok || !check.remedy.empty()));
            return check.result;
        }
    }
    FAIL("no line " << what);
    return CheckResult::failed;
}

}  // namespace

TEST_CASE("a device that is fit") {
    const auto checks = tg::serve::check_cuda_device(0, 1 << 20);
    for (const char* what : {"driver", "cuBLASLt", "device", "device memory", "device speed"}) {
        CHECK(result_of(checks, what) == CheckResult::ok);
    }
    // Looking again leaves nothing behind: no memory, no error, no other device than before.
    std::size_t before = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
    (void)tg::serve::check_cuda_device(0);
    REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
    CHECK(after == before);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    int current = -1;
    REQUIRE(cudaGetDevice(&current) == cudaSuccess);
    CHECK(current == 0);
}

TEST_CASE("a device that is not there") {
    const auto checks = tg::serve::check_cuda_device(999);
    CHECK(result_of(checks, "driver") == CheckResult::ok);
    CHECK(result_of(checks, "device") == CheckResult::failed);
    CHECK(checks.back().what == "device");
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("buckets that want more memory than there is") {
    std::size_t free = 0;
    std::size_t total = 0;
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    CHECK(result_of(tg::serve::check_cuda_device(0, total), "device memory") == CheckResult::warning);
}

TEST_CASE("what a device reaches is measured in every precision") {
    // Loose on purpose: less than the slowest device that is supported, and more than any.
    for (const auto precision : {tg::cuda::Precision::f32, tg::cuda::Precision::tf32, tg::cuda::Precision::bf16}) {
        const tg::serve::DeviceSpeed speed = tg::serve::measure_cuda_speed(0, precision);
        CHECK(speed.bytes_per_second > 1e10);
        CHECK(speed.bytes_per_second < 1e14);
        CHECK(speed.flops_per_second > 1e11);
        CHECK(speed.flops_per_second < 1e17);
    }
}
