// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/nanovlm/inputs.hpp>
#include <totograph/models/nanovlm/language.hpp>
#include <totograph/models/nanovlm/parts.hpp>

namespace totograph::nanovlm {

/// Chooses the token behind the newest one of each sample, and keeps it. A bucket without samples takes the likeliest
/// one, the first of several; one with samples draws.
///
/// @param x     what the layers give for the newest token, `[batch, 1 or samples, 1, 1, lm_hidden_dim]`
/// @param step  how many tokens were chosen before, i32 `[1]`
template <class Parts>
constexpr void record_next_token(const Inputs<Parts>& in, Tensor x, Tensor step) {
    using Language = nanovlm::Language<Parts::config.lm>;
    constexpr ForecastSizes sizes = Parts::sizes;
    Recorder& r = x.recorder();
    const Tensor normed = Language::norm(x);
    Parts::tap("tap.step_hidden", normed);
    const Tensor logits = Language::logits(normed);
    Parts::tap("tap.step_logits", logits);
    const Tensor token =
        sizes.is_sampled ? sample_categorical(logits, sizes.samples, in.filter(), in.draw_names(step)) : argmax(logits);
    const Shape one_each{sizes.batch, sizes.samples, 1, 1, 1};
    r.store_at(in.drawn(), cast(reshape(token, one_each), DType::f32), 3, step);
    r.store(in.step(), step + 1.0);
}

}  // namespace totograph::nanovlm
