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
#   toto2_4m, toto2_22m, toto2_313m, toto2_1b, toto2_2_5b
#                 one bucket of a published Toto 2.0, as wide and long as that of `bucket`
#   generation    one bucket for a device of another generation as well (nvcc)
#   architecture  the same for one more architecture of that generation, from the same PTX
#   six_passes    one bucket for the six architectures of our default, with a pass of the compiler for each
#   six_grouped   the same with a pass for each PTX, as cmake/CudaArchitectures.cmake has it
#   library       the file of the library totograph::compiled, or cuda_compiled (nvcc), once a project
#
# Each case is compiled in two ways, in turns: `header-only`, and `library`, as it is when a program links that library.
# "more" is the time over that of the case that it adds to: of `bucket` and of Toto 2.0's over `headers`, of
# `architecture` over `generation`, of the others over `bucket`. --base compiles with the headers of another tree as
# well, in turns (`base`, header-only).
# --rounds takes the least of so many. --dry-run prints the commands. FLAGS has more flags, ARCHITECTURES those of nvcc
# (by default "90a 80 86"): of a bucket, of another generation, of one more architecture.
set -euo pipefail
published=(toto2_4m toto2_22m toto2_313m toto2_1b toto2_2_5b)
cases=(library headers bucket two_buckets layers_24 layers_48 "${published[@]}" generation architecture six_passes six_grouped)
read -ra architectures <<<"${ARCHITECTURES:-90a 80 86}"
read -ra flags <<<"${FLAGS:-}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
declare -A tree_of=([header-only]="$here" [library]="$here")
ways=(header-only library)
rounds=1
dry_run=
chosen=()
while (($#)); do
    case "$1" in
        --base) tree_of[base]=$(cd "${2:?--base needs a folder}" && pwd) && ways=(base header-only library) && shift 2 ;;
        --rounds) rounds=${2:?--rounds needs a number} && shift 2 ;;
        --dry-run) dry_run=yes && shift ;;
        --help | -h) sed -n '3,28s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit ;;
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
#ifdef PUBLISHED
#include <totograph/models/toto2/family.hpp>
#endif
#else
#include <totograph/totograph.hpp>
#endif
#if BUCKETS == 0
int main() {}
#else
namespace tg = totograph;
#ifdef PUBLISHED
using Model = tg::toto2::PUBLISHED;
constexpr tg::Index samples = 0;
#else
struct Model {
    static constexpr tg::toto1::Toto1Config config{.num_layers = LAYERS, .spacewise_every_n_layers = LAYERS};
};
constexpr tg::Index samples = 256;
#endif
template <tg::Bucket bucket>
std::vector<float> median(const tg::ModelWeights<Model>& weights, const tg::Series& series) {
#ifdef __CUDACC__
    tg::cuda::Forecaster<Model, bucket> forecaster(weights);
#else
    tg::Forecaster<Model, bucket> forecaster(weights);
#endif
    return forecaster.forecast(series).median();
}
template std::vector<float> median<tg::Bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = samples}>(
    const tg::ModelWeights<Model>&, const tg::Series&);
#if BUCKETS == 2
template std::vector<float> median<tg::Bucket{.variates = 8, .context = 2048, .horizon = 96, .samples = samples / 2}>(
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

# The command that compiles a case in one of the ways, into `command`.
command_of() {
    local way=$1 compiler=$2 case=$3 buckets=1 layers=12 code
    local first=${architectures[0]} second=${architectures[1]:-} third=${architectures[2]:-}
    local tree=${tree_of[$way]} file="$scratch/case.cpp"
    case "$case" in
        headers) buckets=0 ;;
        two_buckets) buckets=2 ;;
        layers_*) layers=${case#layers_} ;;
        library) file=$tree/cmake/compiled/compiled.cpp ;;
    esac
    command=("$compiler" -std=c++20 -O2 -DBUCKETS="$buckets" -DLAYERS="$layers" -I"$tree/include")
    case "$compiler" in
        *nvcc*)
            if [[ $case == library ]]; then file=$tree/cmake/compiled/cuda_compiled.cu; fi
            command+=(-x cu --expt-relaxed-constexpr -Xcudafe=--max_cost_constexpr_call=2000000000
                -Xcompiler=-fconstexpr-ops-limit=8589934592 -Xcompiler=-fconstexpr-loop-limit=1073741824
                -Xcompiler=--param=ggc-min-heapsize=262144) # as the target in CMake
            local codes=("$first:$first") # the architecture of the PTX, that of the device
            case "$case" in
                generation) codes+=("$second:$second") ;;
                architecture) codes+=("$second:$second" "$second:$third") ;;
                six_passes) codes=(80:80 86:86 89:89 90a:90a 100:100 120:120) ;;
                six_grouped) codes=(80:80 80:86 80:89 90a:90a 100:100 100:120) ;;
            esac
            for code in "${codes[@]}"; do
                command+=("-gencode=arch=compute_${code%:*},code=sm_${code#*:}")
            done
            ;;
        *clang*) command+=(-march=native -isystem /usr/include/eigen3 -fconstexpr-steps=2000000000) ;;
        *)
            command+=(-march=native -isystem /usr/include/eigen3
                -fconstexpr-ops-limit=8589934592 -fconstexpr-loop-limit=1073741824)
            # A flag that the target in CMake has had since the library was split.
            if [[ $way != base ]]; then command+=(--param=ggc-min-heapsize=262144); fi
            ;;
    esac
    if [[ $way == library ]]; then
        command+=(-DTOTOGRAPH_SEPARATE_COMPILATION -DTOTOGRAPH_SEPARATE_CUDA_COMPILATION)
    fi
    if [[ $case == toto2_* ]]; then command+=("-DPUBLISHED=$case"); fi
    command+=("${flags[@]}" -c "$file" -o "$scratch/case.o")
}

if [[ -z $dry_run ]]; then
    printf '%-8s %-13s %-11s %8s %8s %8s %10s\n' compiler case code seconds more MB 'object kB'
fi
declare -A least
for item in "${chosen[@]}"; do
    compiler=${item%%:*}
    for case in "${cases[@]}"; do
        if [[ $item == *:* && $case != "${item#*:}" ]]; then continue; fi
        if [[ $case =~ ^(generation|architecture|six_.*)$ && $compiler != *nvcc* ]]; then continue; fi
        declare -A memory=() size=()
        for ((round = 0; round < rounds; ++round)); do
            for way in "${ways[@]}"; do
                if [[ $case == library && $way != library ]]; then continue; fi
                command_of "$way" "$compiler" "$case"
                if [[ -n $dry_run ]]; then
                    echo "${command[*]}"
                    continue
                fi
                measured=$(measure "${command[@]}")
                seconds=${measured% *}
                memory[$way]=${measured#* }
                size[$way]=$(stat -c %s "$scratch/case.o")
                rm "$scratch/case.o"
                key="$way $compiler $case"
                least[$key]=$(awk -v a="${least[$key]:-1e9}" -v b="$seconds" 'BEGIN { print a < b ? a : b }')
            done
        done
        if [[ -n $dry_run ]]; then continue; fi
        before=bucket
        case "$case" in
            bucket | toto2_*) before=headers ;;
            architecture) before=generation ;;
        esac
        for way in "${ways[@]}"; do
            if [[ -z ${memory[$way]:-} ]]; then continue; fi
            awk -v compiler="$compiler" -v case="$case" -v way="$way" -v seconds="${least[$way $compiler $case]}" \
                -v before="${least[$way $compiler $before]:-}" -v mb="${memory[$way]}" -v bytes="${size[$way]}" \
                'BEGIN { alone = before == "" || case == "headers" || case == "library"
                    printf "%-8s %-13s %-11s %8.1f %8s %8d %10d\n", compiler, case, way, seconds,
                        alone ? "" : sprintf("%.1f", seconds - before), mb, bytes / 1000 }'
        done
    done
done
