// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace totograph {

class Recorder;

/// Which layer a weight or a state belongs to: a number, -1 for none of them, or the layer of an iteration of `repeat`.
///
/// It does not convert to a number, so the body of a loop cannot ask which iteration it is: what is recorded of a few
/// of them stands for all. `group * 6 + 2` is the third of six layers that an iteration has. It ends with its
/// iteration, as all does that the body records.
class LayerIndex {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): a number is a layer
    constexpr LayerIndex(int number = -1) : number_(number) {}

    friend constexpr LayerIndex operator*(LayerIndex index, int layers) {
        index.number_ *= layers;
        index.step_ *= layers;
        return index;
    }
    friend constexpr LayerIndex operator+(LayerIndex index, LayerIndex more) {
        index.number_ += more.number_;
        index.step_ += more.step_;
        const bool has_both = index.oldest_ != 0 && more.oldest_ != 0;
        index.oldest_ = has_both ? std::min(index.oldest_, more.oldest_) : index.oldest_ + more.oldest_;
        index.newest_ = std::max(index.newest_, more.newest_);
        return index;
    }

private:
    friend class Recorder;

    /// @param step       from one iteration to the next
    /// @param iteration  which of all iterations that the recorder has begun, from 1 on
    constexpr LayerIndex(int number, int step, int iteration)
        : number_(number), step_(step), oldest_(iteration), newest_(iteration) {}

    int number_;
    int step_ = 0;
    // The first and the last of the iterations that it is made of; 0 for none.
    int oldest_ = 0;
    int newest_ = 0;
};

}  // namespace totograph
