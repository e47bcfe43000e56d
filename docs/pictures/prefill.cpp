// SPDX-License-Identifier: Apache-2.0
// Prints docs/pictures/prefill.svg as Graphviz text; `make pictures` makes the image of it.
#include <cstdio>

#include <totograph/graph/explain/dot.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/models/toto1/programs.hpp>

namespace tg = totograph;

int main() {
    constexpr tg::Bucket bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256};
    using Prefill = tg::Program<tg::toto1::Prefill<tg::toto1::open_base_1_0, bucket, tg::toto1::Rewrites{}>>;
    std::puts(tg::explain_dot<Prefill>("Toto-Open-Base-1.0, prefill of 7 x 4096 steps").c_str());
}
