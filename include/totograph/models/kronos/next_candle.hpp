// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/ids.hpp>
#include <totograph/models/kronos/inputs.hpp>
#include <totograph/models/kronos/parts.hpp>
#include <totograph/models/kronos/predictor.hpp>
#include <totograph/models/kronos/tokenizer.hpp>

namespace totograph::kronos {

/// Draws the next candle of each path: the first id, and given that, the second one.
template <class Parts>
class NextCandle {
public:
    constexpr explicit NextCandle(const Inputs<Parts>& inputs) : in_(inputs) {}

    /// @param context  the normed row of the newest candle, `[batch, 1 or samples, 1, 1, d_model]`
    /// @param step     how many candles were drawn before, i32 `[1]`
    /// @param attend   from the dependency layer's queries, `[batch, samples, 1, 1, heads * width]`, to what they find
    template <class Attend>
    constexpr void record(Tensor context, Tensor step, const Attend& attend) const {
        using Predictor = kronos::Predictor<Parts>;
        const Tensor s1 = draw(Predictor::s1_logits(context), step, 0);
        const Tensor attended = attend(Predictor::dependency_query(s1));
        const Tensor s2 = draw(Predictor::s2_logits(context, attended), step, 1);
        IdStates<Parts>(in_).keep_drawn({s1, s2}, step);
        in_.recorder().store(in_.step(), step + 1.0);
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;

    /// Ids of one level, `[batch, samples, 1, 1]`.
    [[nodiscard]] constexpr Tensor draw(Tensor logits, Tensor step, Index level) const {
        Recorder& r = in_.recorder();
        const Shape of_paths = with_axis(logits.shape(), 1, sizes.samples);
        Parts::tap(level == 0 ? "tap.s1_logits" : "tap.s2_logits",
                   logits.shape() == of_paths ? logits : expand(logits, of_paths));
        const Tensor seed = in_.seed();
        const DrawNames names{seed, in_.first_draw(), step};
        const Tensor drawn = sample_categorical(logits, sizes.samples, in_.filter(), names, level);
        if constexpr (Parts::is_inspected) {
            const Tensor forced = r.state(level == 0 ? "forced.s1" : "forced.s2", drawn.shape(), DType::i32);
            return where(less(forced, 0), drawn, forced);
        } else {
            return drawn;
        }
    }

    Inputs<Parts> in_;
};

}  // namespace totograph::kronos
