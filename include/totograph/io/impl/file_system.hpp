// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/file_system.hpp>

#if defined(__linux__)
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cstdint>
#endif

#include <totograph/core/inline.hpp>
#include <totograph/io/file_descriptor.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE bool keeps_mapped_files([[maybe_unused]] const FileDescriptor& file) noexcept {
#if defined(__linux__)
    struct stat status {};
    struct statfs system {};
    if (::fstat(file.get(), &status) != 0 || (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) != 0 ||
        ::fstatfs(file.get(), &system) != 0) {
        return false;
    }
    // As linux/magic.h numbers them: ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs, tmpfs, ramfs, overlayfs, squashfs,
    // erofs, reiserfs, jfs.
    switch (static_cast<std::uint32_t>(system.f_type)) {
        case 0x0000ef53U:
        case 0x58465342U:
        case 0x9123683eU:
        case 0xf2f52010U:
        case 0x2fc12fc1U:
        case 0xca451a4eU:
        case 0x01021994U:
        case 0x858458f6U:
        case 0x794c7630U:
        case 0x73717368U:
        case 0xe0f5e1e2U:
        case 0x52654973U:
        case 0x3153464aU: return true;
        default: return false;
    }
#else
    return false;
#endif
}

}  // namespace totograph::io
