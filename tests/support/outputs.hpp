// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

namespace totograph::test {

/// Stores results into states of their own: "out", numbered.
class Outputs {
public:
    constexpr explicit Outputs(Recorder& recorder) : recorder_(recorder) {}

    constexpr void operator()(Tensor value) {
        recorder_.store(recorder_.state("out", value.shape(), value.dtype(), count_++), value);
    }

private:
    Recorder& recorder_;
    int count_ = 0;
};

}  // namespace totograph::test
