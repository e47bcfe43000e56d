#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What totograph costs to compile: a table of processor time, memory and size of the object.
#
#   bench/compile_time.sh [--base DIR] [--rounds N] [--dry-run] [COMPILER[:CASE]...]
#
# Compilers are g++, clang++ and nvcc, or others whose names hold these; by default, those that are installed. Cases:
#   headers       the one header of users, and an empty main
#   bucket        a full-size model of 12 layers with one bucket, -O2
#   two_buckets   the same with another bucket
#   layers_24, layers_48
#                 one bucket of a model of so many layers, all but the last alike (as those of Toto 2.0 are)
#   architecture  one bucket for one more architecture (nvcc)
#
# "more" is the time over that of the case that it adds to: of `bucket` over `headers`, of the others over `bucket`.
# --base compiles with the headers of another tree as well, in turns, and prints both. --rounds takes the least of so
# many. --dry-run prints the commands. FLAGS has more flags, ARCHITECTURES those of nvcc (by default "90a 80").
set -euo pipefail
cases=(headers bucket two_buckets layers_24 layers_48 architecture)
read -ra architectures <<<"${ARCHITECTURES:-90a 80}"
read -ra flags <<<"${FLAGS:-}"
trees=("$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)")
rounds=1
dry_run=
chosen=()
while (($#)); do
    case "$1" in
        --base) trees=("$(cd "${2:?--base needs a folder}" && pwd)" "${trees[@]}") && shift 2 ;;
        --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
        --dry-run) dry_run=yes && shift ;;
        --help | -h) sed -n '3,18s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit ;;
        -*) echo "compile_time.sh: the option '$1' is unknown; --help lists them." >&2 && exit 2 ;;
        *) chosen+=("$1") && shift ;;
    esac
done
if ((${#chosen[@]} == 0)); then
    for compiler in g++ clang++ nvcc; do
        if command -v "$compiler" >/dev/null; then chosen+=("$compiler"); fi
    done
fi
for item in "${chosen[@]}"; do
    if [[ $item == *:* && " ${cases[*]} " != *" ${item#*:} "* ]]; then
        echo "compile_time.sh: '${item#*:}' is no case; there are ${cases[*]}." >&2
        exit 2
    fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/case.cpp" <<'CPP'
#ifdef __CUDACC__
#include <totograph/cuda.hpp>
#else
#include <totograph/totograph.hpp>
#endif
#if BUCKETS == 0
int main() {}
#else
namespace tg = totograph;
struct Model {
    static constexpr tg::toto1::Toto1Config config{.num_layers = LAYERS, .spacewise_every_n_layers = LAYERS};
};
template <tg::Bucket bucket>
std::vector<float> median(const tg::ModelWeights<Model>& weights, const tg::Series& series) {
#ifdef __CUDACC__
    tg::cuda::Forecaster<Model, bucket> forecaster(weights);
#else
    tg::Forecaster<Model, bucket> forecaster(weights);
#endif
    return forecaster.forecast(series).median();
}
template std::vector<float> median<tg::Bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256}>(
    const tg::ModelWeights<Model>&, const tg::Series&);
#if BUCKETS == 2
template std::vector<float> median<tg::Bucket{.variates = 8, .context = 2048, .horizon = 96, .samples = 128}>(
    const tg::ModelWeights<Model>&, const tg::Series&);
#endif
#endif
CPP

# What a command took: seconds of user and system time, the most MB of one of its processes.
measure() {
    python3 -c '
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=sys.stderr)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss / 1024:.0f}")
sys.exit(done.returncode)' "$@"
}

# The command that compiles a case with the headers of a tree, into `command`.
command_of() {
    local tree=$1 compiler=$2 case=$3 buckets=1 layers=12 architecture
    case "$case" in
        headers) buckets=0 ;;
        two_buckets) buckets=2 ;;
        layers_*) layers=${case#layers_} ;;
    esac
    command=("$compiler" -std=c++20 -O2 -DBUCKETS="$buckets" -DLAYERS="$layers" -I"$tree/include")
    case "$compiler" in
        *nvcc*)
            command+=(-x cu --expt-relaxed-constexpr -Xcudafe=--max_cost_constexpr_call=2000000000
                -Xcompiler=-fconstexpr-ops-limit=8589934592 -Xcompiler=-fconstexpr-loop-limit=1073741824)
            for architecture in "${architectures[@]}"; do
                command+=("-gencode=arch=compute_$architecture,code=sm_$architecture")
                if [[ $case != architecture ]]; then break; fi
            done
            ;;
        *clang*) command+=(-march=native -isystem /usr/include/eigen3 -fconstexpr-steps=2000000000) ;;
        *)
            command+=(-march=native -isystem /usr/include/eigen3
                -fconstexpr-ops-limit=8589934592 -fconstexpr-loop-limit=1073741824)
            ;;
    esac
    command+=("${flags[@]}" -c "$scratch/case.cpp" -o "$scratch/case.o")
}

if [[ -z $dry_run ]]; then
    printf '%-8s %-13s %-5s %8s %8s %8s %10s\n' compiler case tree seconds more MB 'object kB'
fi
declare -A least
for item in "${chosen[@]}"; do
    compiler=${item%%:*}
    for case in "${cases[@]}"; do
        if [[ $item == *:* && $case != "${item#*:}" ]]; then continue; fi
        if [[ $case == architecture && $compiler != *nvcc* ]]; then continue; fi
        declare -A memory=() size=()
        for ((round = 0; round < rounds; ++round)); do
            for tree in "${trees[@]}"; do
                command_of "$tree" "$compiler" "$case"
                if [[ -n $dry_run ]]; then
                    echo "${command[*]}"
                    continue
                fi
                measured=$(measure "${command[@]}")
                seconds=${measured% *}
                memory[$tree]=${measured#* }
                size[$tree]=$(stat -c %s "$scratch/case.o")
                rm "$scratch/case.o"
                key="$tree $compiler $case"
                least[$key]=$(awk -v a="${least[$key]:-1e9}" -v b="$seconds" 'BEGIN { print a < b ? a : b }')
            done
        done
        if [[ -n $dry_run ]]; then continue; fi
        before=bucket
        if [[ $case == bucket ]]; then before=headers; fi
        for tree in "${trees[@]}"; do
            name=this
            if [[ ${#trees[@]} == 2 && $tree == "${trees[0]}" ]]; then name=base; fi
            awk -v compiler="$compiler" -v case="$case" -v tree="$name" -v seconds="${least[$tree $compiler $case]}" \
                -v before="${least[$tree $compiler $before]:-}" -v mb="${memory[$tree]}" -v bytes="${size[$tree]}" \
                'BEGIN { more = before == "" || case == "headers" ? "" : sprintf("%.1f", seconds - before)
                    printf "%-8s %-13s %-5s %8.1f %8s %8d %10d\n", compiler, case, tree, seconds, more, mb, bytes / 1000 }'
        done
    done
done
