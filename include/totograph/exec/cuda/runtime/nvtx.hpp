// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>

#include <nvtx3/nvToolsExt.h>

namespace totograph::cuda {

/// Whether ranges are wanted: `TOTOGRAPH_NVTX` is set to anything but 0 or nothing. Asked of the environment once.
inline bool wants_nvtx() noexcept {
    static const bool wanted = [] {
        const char* value = std::getenv("TOTOGRAPH_NVTX");
        return value != nullptr && *value != '\0' && std::string_view(value) != "0";
    }();
    return wanted;
}

/// A range of NVTX, which profilers draw above what happens in it, until the end of a scope. Does nothing when ranges
/// are not wanted.
class NvtxRange {
public:
    explicit NvtxRange(const char* name) noexcept : is_open_(wants_nvtx()) {
        if (is_open_) {
            nvtxRangePushA(name);
        }
    }
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;
    ~NvtxRange() {
        if (is_open_) {
            nvtxRangePop();
        }
    }

private:
    bool is_open_;
};

}  // namespace totograph::cuda
