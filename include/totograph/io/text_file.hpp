// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include <totograph/core/error.hpp>

namespace totograph::io {

/// All that an open file holds from where it stands; `name` is the name that messages give it, `expected` how many
/// bytes it probably has. Throws `Error(io_failure)` when reading fails, and `Error(invalid_file)` when it holds more
/// than `most_bytes`.
std::string read_descriptor(int descriptor, const std::string& name, std::size_t most_bytes, std::size_t expected = 0);

/// The whole content of a file, which may be a pipe. Throws `Error(file_not_found)` when it cannot be opened or is a
/// directory, `Error(io_failure)` when reading fails, and `Error(invalid_file)` when it holds more than `most_bytes`.
std::string read_text_file(const std::string& path, std::size_t most_bytes);

/// The same for a file that must be a regular one: `Error(file_not_found)` for a pipe or a device, which might never
/// end, and for a pipe without a writer, which might never begin.
std::string read_regular_text_file(const std::string& path, std::size_t most_bytes);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/text_file.hpp>
#endif
