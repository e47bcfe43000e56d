// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <totograph/io/checkpoint/checkpoint_files.hpp>

namespace totograph::serve::detail {

/// Whether others than its owner may write to what stands at a path, links followed, as a sentence without its stop;
/// empty when nobody may.
std::string open_to_others(const std::filesystem::path& path);

/// The first of a checkpoint's files, and of the folders that they and what they link to are in, that others than its
/// owner may write to, and so could change every forecast; empty when there is none.
std::string open_to_others(const io::CheckpointFiles& files);

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/verify/impl/permissions.hpp>
#endif
