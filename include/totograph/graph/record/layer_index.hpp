// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace totograph {

class Recorder;

/// Which layer a weight or a state belongs to: a number, -1 for none of them, or the layer of an iteration of `repeat`.
///
/// It does not convert to a number, so the body of a loop cannot ask which iteration it is: what is recorded of a few
/// of them stands for all. `group * 6 + 2` is the third of six layers that an iteration has.
class LayerIndex {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): a number is a layer
    constexpr LayerIndex(int number = -1) : number_(number) {}

    friend constexpr LayerIndex operator*(LayerIndex index, int layers) {
        return {index.number_ * layers, index.step_ * layers};
    }
    friend constexpr LayerIndex operator+(LayerIndex index, LayerIndex more) {
        return {index.number_ + more.number_, index.step_ + more.step_};
    }

private:
    friend class Recorder;

    constexpr LayerIndex(int number, int step) : number_(number), step_(step) {}

    int number_;
    int step_ = 0;  ///< From one iteration to the next.
};

}  // namespace totograph
