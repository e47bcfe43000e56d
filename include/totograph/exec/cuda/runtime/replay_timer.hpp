// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

/// Times replays of graphs on a stream, which must outlive it, as the device sees them. Throws `Error` when it fails.
class ReplayTimer {
public:
    explicit ReplayTimer(const Stream& stream) : stream_(stream) {}

    /// Replays a graph and waits: milliseconds from its beginning to its end.
    [[nodiscard]] float time(const ReplayableGraph& graph) const {
        begin_.record(stream_.get());
        graph.launch(stream_.get());
        end_.record(stream_.get());
        stream_.synchronize();
        return end_.since(begin_);
    }

private:
    const Stream& stream_;
    Event begin_{true};
    Event end_{true};
};

}  // namespace totograph::cuda
