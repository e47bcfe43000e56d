// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/models/toto2/inference.hpp>

namespace totograph::toto2 {

/// Gives values to the steps of a row that are not observed (`observed` is 0 there).
template <class Flag>
void impute(float* values, const Flag* observed, Index steps, Imputation how) noexcept {
    if (how == Imputation::as_given) {
        return;
    }
    Index newest = -1;  // observed before `step`
    for (Index step = 0; step < steps; ++step) {
        if (observed[step] == 0) {
            values[step] = newest < 0 ? 0.0F : values[newest];
            continue;
        }
        const auto gap = static_cast<double>(step - newest);
        for (Index between = newest + 1; how == Imputation::linear && newest >= 0 && between < step; ++between) {
            const double part = static_cast<double>(between - newest) / gap;
            const auto from = static_cast<double>(values[newest]);
            values[between] = static_cast<float>(from + part * (static_cast<double>(values[step]) - from));
        }
        newest = step;
    }
}

}  // namespace totograph::toto2
