// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/categorical.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/movement.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

/// Which logits can be drawn, each a tensor of one element, so that a request can say it. First the temperature divides
/// all logits, unless it comes last. Then the `top_k` largest stay, and those equal to the last of them; 0 keeps all.
/// Of their softmax, from the largest down, those stay before which the sum is at most `top_p`: the one that crosses it
/// stays, too, and 1 keeps all.
struct CategoricalFilter {
    Tensor temperature;  ///< f32, above 0.
    Tensor top_k;        ///< i32; 1 draws the largest.
    Tensor top_p;        ///< f32.
    /// Whether the temperature divides the logits that the others let stay, and not all of them before.
    bool temperature_last = false;
    /// Whether the one that crosses `top_p` goes, and not only those after it; the largest stays.
    bool drops_crossing = false;
};

/// What names the draws (see `SampleKey`).
struct DrawNames {
    Tensor seed;   ///< `[2]` i32: its low and its high half.
    Tensor first;  ///< `[2]` i32: added to the index of a series and to that of a sample.
    Tensor time;   ///< `[1]` i32: added to the index of a position.
};

/// One id for each of `samples`, `[batch, samples, variates, positions]` i32, of logits that are `[series, 1 or
/// samples, variates, positions, vocabulary]` f32: the first whose share, added to those of all ids below it, is above
/// a uniform number. Where no logit can be drawn, as where all are NaN or -infinity, the id is -1, which `embedding`
/// knows.
///
/// @param word  which of the four independent words of a draw's name is used, so that several tokens of one time can be
///              drawn: 0 to 3
constexpr Tensor sample_categorical(Tensor logits, Index samples, const CategoricalFilter& filter,
                                    const DrawNames& names, Index word = 0) {
    Recorder& recorder = logits.recorder();
    const Shape& shape = logits.shape();
    if (logits.dtype() != DType::f32 || shape.rank != 5 || (shape[1] != 1 && shape[1] != samples)) {
        recorder.fail(ModelErrorKind::sampled_shapes_differ)
            << "sample_categorical: " << samples << " samples of logits that are " << name(logits.dtype()) << " "
            << shape << "; they must be f32 [series, 1 or samples, variates, positions, vocabulary]";
        return logits;
    }
    if (shape[4] > categorical::most_ids) {
        recorder.fail(ModelErrorKind::sampled_shapes_differ)
            << "sample_categorical: a vocabulary of " << shape[4] << " ids; at most " << categorical::most_ids
            << " (2^27) can be drawn from, for their weights are added up in 64 bits";
        return logits;
    }
    if (filter.temperature.dtype() != DType::f32 || filter.temperature.shape().size() != 1 ||
        filter.top_p.dtype() != DType::f32 || filter.top_p.shape().size() != 1 || word < 0 || word > 3) {
        recorder.fail(ModelErrorKind::sampled_shapes_differ)
            << "sample_categorical: the temperature and top_p must be f32 with one element, the word 0 to 3; found "
            << filter.temperature.shape() << ", " << filter.top_p.shape() << " and " << word;
        return logits;
    }
    recorder.check_integers(filter.top_k, 1, "sample_categorical: top_k");
    recorder.check_integers(names.seed, 2, "sample_categorical: the seed");
    recorder.check_integers(names.first, 2, "sample_categorical: the first series and sample");
    recorder.check_integers(names.time, 1, "sample_categorical: the time");
    Shape drawn = with_axis(shape, 1, samples);
    --drawn.rank;
    const Index drops = filter.drops_crossing ? 1 : 0;
    if (filter.temperature_last) {
        return recorder.add(
            Op::sample_categorical, DType::i32, drawn,
            {logits, filter.top_k, filter.top_p, names.seed, names.first, names.time, filter.temperature},
            {word, drops, 1});
    }
    const Tensor scaled = logits / reshape(filter.temperature, {1});
    return recorder.add(Op::sample_categorical, DType::i32, drawn,
                        {scaled, filter.top_k, filter.top_p, names.seed, names.first, names.time}, {word, drops, 0});
}

}  // namespace totograph
