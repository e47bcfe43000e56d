#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times the compilation of one more bucket of the full-size model.
#
#   bench/compile_time.sh [COMPILER [FLAGS...]]
#
# Compiles a file with no bucket, with one, and with two, and prints seconds of processor time and the differences.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
compiler=${1:-g++}
shift || true
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
limits=(-fconstexpr-ops-limit=4000000000 -fconstexpr-loop-limit=1000000)
case "$compiler" in *clang*) limits=(-fconstexpr-steps=2000000000) ;; esac
cat >"$scratch/bucket.cpp" <<'CPP'
#include <totograph/totograph.hpp>
namespace tg = totograph;
template <tg::Bucket bucket>
std::vector<float> median(const tg::ModelWeights<tg::toto1::open_base_1_0>& weights, const tg::Series& series) {
    tg::Forecaster<tg::toto1::open_base_1_0, bucket> forecaster(weights);
    return forecaster.forecast(series).median();
}
#if BUCKETS >= 1
template std::vector<float> median<tg::Bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256}>(
    const tg::ModelWeights<tg::toto1::open_base_1_0>&, const tg::Series&);
#endif
#if BUCKETS >= 2
template std::vector<float> median<tg::Bucket{.variates = 8, .context = 2048, .horizon = 96, .samples = 128}>(
    const tg::ModelWeights<tg::toto1::open_base_1_0>&, const tg::Series&);
#endif
CPP
seconds() {
    local TIMEFORMAT='%U'
    { time "$compiler" -std=c++20 -O2 -march=native "${limits[@]}" "${@:2}" -DBUCKETS="$1" -I"$root/include" \
        -isystem /usr/include/eigen3 -c "$scratch/bucket.cpp" -o "$scratch/bucket.o" 2>/dev/null; } 2>&1
}
none=$(seconds 0 "$@")
one=$(seconds 1 "$@")
two=$(seconds 2 "$@")
awk -v compiler="$compiler" -v none="$none" -v one="$one" -v two="$two" 'BEGIN {
    printf "%s -O2: headers alone %.1f s, the first bucket %.1f s more, one more bucket %.1f s more\n",
        compiler, none, one - none, two - one }'
