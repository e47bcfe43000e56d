// SPDX-License-Identifier: Apache-2.0
// Prints the vectors that it computes with, and writes what it computed to a file; or, where there is that file,
// compares with it: `levels FILE`. Ends with 1 when numbers differ by more than rounding.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <vector>

#include <totograph/serve/build_identity.hpp>

#include "kernels.hpp"

int main(int, char** arguments) {
    const std::vector<float> values = compute();
    std::printf("vectors %s and %s\n", totograph::serve::build_identity().vectors.c_str(), vectors().c_str());
    if (std::ifstream kept(arguments[1]); kept) {
        // Sums of 37 products, each rounded once or (with FMA) not at all: some units in the last place of the largest.
        const float largest = std::abs(*std::max_element(values.begin(), values.end(),
                                                         [](float a, float b) { return std::abs(a) < std::abs(b); }));
        const float tolerance = 64 * std::numeric_limits<float>::epsilon() * largest;
        for (const float value : values) {
            float other = 0;
            if (!(kept >> other) || !(std::abs(value - other) <= tolerance)) {
                std::printf("differs: %.9g, not %.9g\n", static_cast<double>(value), static_cast<double>(other));
                return 1;
            }
        }
        return 0;
    }
    std::ofstream file(arguments[1]);
    file.precision(9);
    for (const float value : values) {
        file << value << '\n';
    }
    return file.flush() ? 0 : 2;
}
