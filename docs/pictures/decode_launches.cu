// SPDX-License-Identifier: Apache-2.0
// Prints docs/pictures/decode_launches.svg as Graphviz text. nvcc compiles it; it runs without a device.
#include <cstdio>

#include <totograph/cuda.hpp>

namespace tg = totograph;

int main() {
    constexpr tg::Bucket bucket{.variates = 1, .context = 4096, .horizon = 768};
    using Forecaster = tg::cuda::Forecaster<tg::toto1::open_base_1_0, bucket>;
    std::puts(Forecaster::explain_dot<1>().c_str());
}
