// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <totograph/core/language.hpp>

namespace totograph {

/// What kind of thing went wrong. The program `examples/forecast` maps each to an exit code.
enum class ErrorCode {
    invalid_argument,   ///< A value given by the caller cannot be used.
    invalid_series,     ///< A series is empty, entirely missing, or holds NaN or infinity where it claims observations.
    no_bucket,          ///< No compiled bucket serves the request.
    file_not_found,     ///< A file cannot be opened.
    io_failure,         ///< Reading or writing a file failed half way.
    invalid_file,       ///< A file's content breaks its format.
    config_mismatch,    ///< A checkpoint's configuration differs from the compiled one.
    missing_tensor,     ///< A checkpoint lacks a tensor that the model needs.
    unexpected_tensor,  ///< A checkpoint holds a tensor that the model does not know.
    tensor_mismatch,  ///< A checkpoint's tensor has another shape, an unsupported dtype, or values that are not finite.
    not_finite,       ///< A forecast has values that the model gave no finite number for.
    position_out_of_bounds,  ///< A position that is data reached beyond the axis it counts along, such as a full cache.
    device_failure,          ///< There is no usable device, or a call of its driver failed.
    out_of_memory,           ///< There is not as much memory as is needed, of a device or of the machine.
    recapture,               ///< A request needs what was not built at warm-up, and the stance forbids to build it.
};

/// The name of an error code, as it is spelled in C++.
constexpr std::string_view name(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::invalid_argument: return "invalid_argument";
        case ErrorCode::invalid_series: return "invalid_series";
        case ErrorCode::no_bucket: return "no_bucket";
        case ErrorCode::file_not_found: return "file_not_found";
        case ErrorCode::io_failure: return "io_failure";
        case ErrorCode::invalid_file: return "invalid_file";
        case ErrorCode::config_mismatch: return "config_mismatch";
        case ErrorCode::missing_tensor: return "missing_tensor";
        case ErrorCode::unexpected_tensor: return "unexpected_tensor";
        case ErrorCode::tensor_mismatch: return "tensor_mismatch";
        case ErrorCode::not_finite: return "not_finite";
        case ErrorCode::position_out_of_bounds: return "position_out_of_bounds";
        case ErrorCode::device_failure: return "device_failure";
        case ErrorCode::out_of_memory: return "out_of_memory";
        case ErrorCode::recapture: return "recapture";
    }
    return "unknown";
}

/// The one exception type of the library. Its message is a sentence: what is wrong, where, what was expected, what was
/// found, and what to do.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }

private:
    ErrorCode code_;
};

}  // namespace totograph
