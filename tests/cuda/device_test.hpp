// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

// What tests of forecasts on a device share.

namespace device_test {

namespace tg = totograph;

/// A stream of the test's own.
struct CallersStream {
    cudaStream_t stream = nullptr;
    CallersStream() { REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess); }
    CallersStream(const CallersStream&) = delete;
    CallersStream& operator=(const CallersStream&) = delete;
    ~CallersStream() { cudaStreamDestroy(stream); }
    void wait() const { REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess); }
};

/// The error that a call throws: its code's name and its message. Empty when it throws none.
template <class Call>
std::string error_of(Call&& call) {
    try {
        call();
    } catch (const tg::Error& error) {
        return std::string(tg::name(error.code())) + ": " + error.what();
    }
    return {};
}

/// Fails unless a text holds a part.
inline void check_has(const std::string& text, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, "'", part, "' is not in: ", text);
}

inline std::size_t free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
    return free;
}

/// All values of a forecast.
inline std::vector<float> values_of(const tg::Forecast& forecast) {
    return {forecast.values().begin(), forecast.values().end()};
}

/// Whether two results are the same to the bit.
inline bool is_same(const std::vector<float>& left, const std::vector<float>& right) {
    return left.size() == right.size() && std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
}

}  // namespace device_test
