// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/file_descriptor.hpp>

namespace totograph::io {

/// Whether a mapped file stays readable and as it is for as long as it is mapped, whoever removes or replaces it under
/// its name. On a local disk it does, when nobody may write to it, its owner included: a program that opens it to
/// overwrite it, such as `cp`, or to shorten it, is refused (unless the superuser runs it). The server of a network's
/// file system may forget the file, and the next read of a page that is not in memory then ends the process with a
/// signal. `false` when it is not known.
bool keeps_mapped_files(const FileDescriptor& file) noexcept;

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/impl/file_system.hpp>
#endif
