// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/error.hpp>

namespace examples {

/// What the program was doing when something went wrong: one error code means different things to a user before and
/// after the input was read.
enum class Stage { arguments, input, checkpoint, forecast, output };

/// The program's exit codes, as `--help` documents them.
enum ExitCode : int {
    exit_ok = 0,
    exit_other = 1,
    exit_usage = 2,
    exit_input = 3,
    exit_checkpoint = 4,
    exit_no_bucket = 5,
    exit_output = 6,
    exit_not_finite = 8,  // 7 is what `verify` and `stress` end with when they have something against it
};

/// The exit code for an error of the library (or of this program, which throws the same type).
constexpr int exit_code(totograph::ErrorCode code, Stage stage) {
    using totograph::ErrorCode;
    switch (code) {
        case ErrorCode::no_bucket: return exit_no_bucket;
        case ErrorCode::config_mismatch:
        case ErrorCode::missing_tensor:
        case ErrorCode::unexpected_tensor:
        case ErrorCode::tensor_mismatch: return exit_checkpoint;
        case ErrorCode::invalid_series: return exit_input;
        case ErrorCode::not_finite: return exit_not_finite;
        case ErrorCode::invalid_argument:
        case ErrorCode::position_out_of_bounds:
        case ErrorCode::file_not_found:
        case ErrorCode::io_failure:
        case ErrorCode::invalid_file:
        case ErrorCode::device_failure:
        case ErrorCode::out_of_memory:
        case ErrorCode::recapture: break;
    }
    switch (stage) {
        case Stage::arguments: return exit_usage;
        // A column that the file lacks is the command line's mistake; a file that cannot be read is the file's.
        case Stage::input: return code == ErrorCode::invalid_argument ? exit_usage : exit_input;
        case Stage::checkpoint: return exit_checkpoint;
        case Stage::forecast: return code == ErrorCode::invalid_argument ? exit_usage : exit_other;
        case Stage::output: return exit_output;
    }
    return exit_other;
}

}  // namespace examples
