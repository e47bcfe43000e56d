// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/imputation.hpp>

using totograph::Imputation;

TEST_CASE("values are imputed from those before, or between two") {
    const std::array<float, 8> observed{0, 1, 0, 0, 0, 1, 0, 0};
    const auto imputed = [&](Imputation how) {
        std::vector<float> values{9, 2, 9, 9, 9, 10, 9, 9};
        totograph::impute(values.data(), observed.data(), 8, how);
        return values;
    };
    CHECK(imputed(Imputation::as_given) == std::vector<float>{9, 2, 9, 9, 9, 10, 9, 9});
    CHECK(imputed(Imputation::forward_fill) == std::vector<float>{0, 2, 2, 2, 2, 10, 10, 10});
    CHECK(imputed(Imputation::linear) == std::vector<float>{0, 2, 4, 6, 8, 10, 10, 10});

    // From the first step on.
    const std::array<float, 4> first{1, 0, 1, 0};
    for (const Imputation how : {Imputation::forward_fill, Imputation::linear}) {
        std::vector<float> values{4, 9, 8, 9};
        totograph::impute(values.data(), first.data(), 4, how);
        CHECK(values == std::vector<float>{4, how == Imputation::linear ? 6.0F : 4.0F, 8, 8});
    }
}
