// SPDX-License-Identifier: Apache-2.0
//
// What a request costs in a bucket that is too large for it, against a bucket of its size: the demo's architecture,
// with untrained weights. bench_padding_toto2 and bench_padding_kronos are the same of the other families.
//
//     bench_padding [THREADS [REPEATS]]
//
// A line for each part of the bucket that a request takes and each program: milliseconds in the large bucket and in
// the request's own, the shortest of all repeats in turns, and their quotient.

#include <cstdio>

#include <totograph/models/toto1/demo_1_0.hpp>
#include <totograph/totograph.hpp>

#include "padding/compare.hpp"

int main(int count, char** words) {
    using totograph::Bucket;
    constexpr Bucket whole{.batch = 4, .variates = 8, .context = 512, .horizon = 64, .samples = 32};
    padding::Padding<totograph::toto1::demo_1_0, whole> demo("demo", padding::Arguments(count, words));
    demo.compare<Bucket{4, 8, 256, 64, 32}>("half of the context");
#ifndef TOTOGRAPH_BENCH_FIRST_ALONE
    demo.compare<Bucket{4, 8, 64, 64, 32}>("an eighth of the context");
    demo.compare<Bucket{4, 4, 512, 64, 32}>("half of the variates");
    demo.compare<Bucket{4, 1, 512, 64, 32}>("an eighth of the variates");
    demo.compare<Bucket{4, 8, 512, 64, 16}>("half of the samples");
    demo.compare<Bucket{4, 8, 512, 64, 4}>("an eighth of the samples");
    demo.compare<Bucket{2, 4, 512, 64, 16}>("half of series, variates, samples");
#else
    std::fputs("bench_padding: it has half of the context alone; for the others, build in Release.\n", stderr);
#endif
    return 0;
}
