// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include <totograph/io/file_descriptor.hpp>

// Files that a process believes, such as those of a cache: only its own user and the superuser may have written them.

namespace totograph::io {

/// Who beside its owner may write to a file or a folder, as the end of a sentence; empty when nobody may. Where a
/// folder is sticky, as `/tmp` is, others may add files to it but not replace those of another.
std::string writers_beside_owner(const struct stat& status);

/// Why somebody else than `user` and the superuser could have written a file, or could replace what is in a folder, as
/// the end of a sentence; empty when nobody could. The folders above one are not asked: who may write there can put
/// other files in this one's place, but none of this owner.
std::string reason_to_distrust(const struct stat& status, ::uid_t user);

/// The same for the folder at a path; empty when there is none.
std::string reason_to_distrust_folder(const std::string& folder);

/// A sentence that says why nothing is kept in a folder, and what to do; empty when it can be trusted.
std::string distrusted_folder(const std::string& folder);

/// Makes a folder and those above it, where they are missing. Only their owner may write to them, whatever the umask.
std::error_code make_own_folders(const std::string& folder);

/// A file opened for reading, if its content can be believed.
struct TrustedFile {
    FileDescriptor file;    ///< None unless all is well.
    struct stat status {};  ///< What `fstat` says of it.
    bool exists = false;
    std::string wrong;  ///< Why it is not used, as the end of a sentence; empty when it is, or there is none.
};

/// Opens a file that only this process's user or the superuser can have written, in a folder that only they can change.
/// Never throws for what is wrong with it.
TrustedFile open_trusted(const std::string& path);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/cache/impl/trusted_file.hpp>
#endif
