# SPDX-License-Identifier: Apache-2.0
# Compiles and runs rust_program.rs, where there is a compiler of Rust.
find_program(RUSTC rustc)
if(NOT RUSTC)
    message("skipped: no rustc on this machine.")
    return()
endif()
execute_process(COMMAND "${RUSTC}" --edition 2021 -D warnings -o "${SCRATCH}/rust_program" "${SOURCE}"
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${SCRATCH}/rust_program" "${PACKAGE}" "${CHECKPOINT}" "${ABI}" COMMAND_ERROR_IS_FATAL ANY)
