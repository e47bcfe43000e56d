// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/cache/weight_file.hpp>

#include <unistd.h>
#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>

namespace totograph::io::weight_file_detail {

TOTOGRAPH_INLINE std::string head_of(std::string_view identity, std::size_t block_bytes) {
    Header header;
    header.identity_bytes = identity.size();
    header.block_begin =
        (sizeof header + identity.size() + weight_file_alignment - 1) / weight_file_alignment * weight_file_alignment;
    header.block_bytes = block_bytes;
    std::string head(reinterpret_cast<const char*>(&header), sizeof header);
    head += identity;
    head.resize(header.block_begin, '\0');
    return head;
}

}  // namespace totograph::io::weight_file_detail
