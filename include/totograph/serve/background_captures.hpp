// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <totograph/serve/background_build.hpp>
#include <totograph/serve/builder.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/served_backend.hpp>

namespace totograph::serve::detail {

/// What the stance `eager_then_capture` builds: in the background, one thing at a time, once enough requests came for
/// it. One thread at a time may use it.
class BackgroundCaptures {
public:
    /// Begins nothing. Throws `Error` (`invalid_argument`) when `capture_after` is below 1.
    /// @param backends       whose slots it fills; they and `builder` must outlive this object
    /// @param capture_after  `ServiceOptions::capture_after`
    BackgroundCaptures(std::vector<ServedBackend>& backends, Builder& builder, int capture_after);

    /// Counts a request that was served in mode `eager` because a slot is empty. Begins to build what belongs there
    /// when so many came that it pays, and nothing else is being built; what failed is not tried again before the
    /// slot's `served_eagerly` is set back to 0.
    /// @param backend  its place among the backends
    /// @param which    the bucket's place in that
    void request(std::size_t backend, std::size_t which, Mode mode);

    /// Puts what was built into its slot, if it is done; or waits until it is. Whether a slot was filled. A build that
    /// failed is logged, and that is all: its requests have not failed.
    bool take(bool waits);

    /// Waits for what is being built, and drops it.
    void end() noexcept { build_.reset(); }

private:
    std::vector<ServedBackend>& backends_;
    Builder& builder_;
    int capture_after_;
    std::unique_ptr<BackgroundBuild> build_;
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/background_captures.hpp>
#endif
