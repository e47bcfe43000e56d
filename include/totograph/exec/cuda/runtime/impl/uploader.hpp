// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/uploader.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE std::span<std::byte> Uploader::room(std::byte* to, std::size_t wanted) {
    const std::byte* const end = begin_ + used_;
    const bool follows = used_ != 0 && to >= end && to < end + alignment;
    const std::size_t gap = follows ? static_cast<std::size_t>(to - end) : 0;
    if (!follows || used_ + gap >= size_) {
        send();
        begin_ = to;
    } else {
        std::memset(buffer().data() + used_, 0, gap);
        used_ += gap;
    }
    if (used_ == 0) {
        check(cudaEventSynchronize(sent_[which_].get()), "copying weights");
        if (buffer().size() == 0) {
            buffers_[which_] = PinnedMemory(size_);
        }
    }
    return {buffer().data() + used_, std::min(wanted, size_ - used_)};
}

TOTOGRAPH_CUDA_INLINE void Uploader::send() {
    if (used_ == 0) {
        return;
    }
    check(cudaMemcpyAsync(begin_, buffer().data(), used_, cudaMemcpyHostToDevice, stream_.get()), "copying weights");
    sent_[which_].record(stream_.get());
    which_ = 1 - which_;
    used_ = 0;
}

TOTOGRAPH_CUDA_INLINE void Uploader::finish() {
    send();
    stream_.synchronize();
}

}  // namespace totograph::cuda
