// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/io/random_access_file.hpp>

// What people put where a checkpoint's files are expected, known by how it begins.

namespace totograph::io {

/// How many bytes of a file's start `foreign_content` looks at.
inline constexpr std::size_t foreign_content_bytes = 512;

namespace detail {

bool begins_as_html(std::string_view start);

/// Whether all of it is UTF-8 without control characters, but for a character that its end cuts.
bool is_text(std::string_view start);

}  // namespace detail

/// What a file that begins like this is, and what to do about it, as the end of a sentence that begins with its name:
/// a Git LFS pointer, a page of HTML, a checkpoint of torch, an archive, a file of zeros... Empty when it is none of
/// those.
std::string foreign_content(std::string_view start);

/// The same where a safetensors file was expected: text is told as well, with its first words.
std::string foreign_content_of_safetensors(std::string_view start);

/// What a file or a tensor of an adapter is, and what to do about it, as a part of a sentence.
inline constexpr std::string_view adapter_and_advice =
    "an adapter such as LoRA, which only changes the weights of a model: merge it into its model (of peft, "
    "merge_and_unload)";

/// Throws `Error(invalid_file)` for a file that is empty or that `foreign` recognizes.
/// @param foreign  `foreign_content`, or where a safetensors file is expected `foreign_content_of_safetensors`
void refuse_foreign(const RandomAccessFile& file, std::string (*foreign)(std::string_view start));

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/checkpoint/impl/foreign_file.hpp>
#endif
