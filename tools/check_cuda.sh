#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All checks of the CUDA executor on this machine's device: configures, builds, runs the tests labelled `cuda`, runs some
# of them under compute-sanitizer, compares full-size results with the public implementation where Python has it, and
# then runs the benchmark. Ends with an error as soon as one of them does.
#
# Usage: tools/check_cuda.sh [--quick] [--fetch] [--prefix DIR] [--build DIR] [--jobs N]
#   --quick       leaves out compute-sanitizer and the comparison
#   --fetch       downloads the header packages that CMake does not find (Eigen, doctest, ...) into the build folder
#   --prefix DIR  where CMake finds them (CMAKE_PREFIX_PATH)
#   --build DIR   the build folder; build/cuda by default
#   --jobs N      compilations at a time; 5 GiB of memory for the largest; all cores by default
#
# PYTHON names the Python of the comparison, which needs torch and toto-ts; python3 by default.
set -euo pipefail

usage() {
    sed -n '3,14s/^# \{0,1\}//p' "$0"
}

fail() {
    echo "check_cuda: $*" >&2
    exit 1
}

quick=no
fetch=no
prefix=""
build=""
jobs="$(nproc)"
while [[ $# -gt 0 ]]; do
    case "$1" in
        --quick) quick=yes ;;
        --fetch) fetch=yes ;;
        --prefix | --build | --jobs)
            [[ $# -ge 2 ]] || fail "$1 needs a value; see --help."
            case "$1" in
                --prefix) prefix="$2" ;;
                --build) build="$2" ;;
                --jobs) jobs="$2" ;;
            esac
            shift
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        *) fail "there is no option '$1'; see --help." ;;
    esac
    shift
done

source="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="${build:-$source/build/cuda}"

# The toolkit: on the path, or where it is installed by default.
toolkit="${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}"
if ! command -v nvcc > /dev/null && [[ -x "$toolkit/bin/nvcc" ]]; then
    PATH="$toolkit/bin:$PATH"
fi
command -v nvcc > /dev/null || fail "no nvcc on the path or in $toolkit/bin; install the CUDA toolkit, or set CUDA_HOME."
command -v cmake > /dev/null || fail "no cmake on the path; install CMake 3.25 or later."
command -v nvidia-smi > /dev/null || fail "no nvidia-smi on the path; this machine has no CUDA driver."

# "9.0" becomes 90a, "10.0" 100.
capability="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)"
architecture="${capability//./}"
[[ "$architecture" =~ ^[0-9]+$ ]] || fail "nvidia-smi does not say which architecture the device has, but '$capability'."
if [[ "$architecture" == 90 ]]; then
    architecture=90a  # with the instructions of warpgroups
fi

step() {
    echo
    echo "== $* (after ${SECONDS} s)"
}

step "the device"
nvidia-smi --query-gpu=name,compute_cap,driver_version,memory.total --format=csv
nvcc --version | tail -n 2

# doctest comes with a CMake module of its own, which the tests use: it is installed, not only unpacked.
if [[ "$fetch" == yes ]]; then
    step "download"
    command -v git > /dev/null || fail "no git on the path; install it, or give --prefix in place of --fetch."
    packages="$build/packages"
    if [[ ! -e "$packages/lib/cmake/doctest/doctestConfig.cmake" ]]; then
        rm -rf "$build/doctest"
        git -c advice.detachedHead=false clone --quiet --depth 1 --branch v2.4.11 \
            https://github.com/doctest/doctest.git "$build/doctest"
        cmake -S "$build/doctest" -B "$build/doctest/build" -DDOCTEST_WITH_TESTS=OFF \
            "-DCMAKE_INSTALL_PREFIX=$packages" -DCMAKE_INSTALL_LIBDIR=lib > "$build/doctest.log"
        cmake --install "$build/doctest/build" >> "$build/doctest.log"
    fi
    prefix="${prefix:+$prefix;}$packages"
fi

# Choices of cuBLASLt's algorithms: not those of the user, and none from before.
export TOTOGRAPH_CACHE_DIR="$build/tuning"
rm -rf "$TOTOGRAPH_CACHE_DIR"

step "configure"
options=(
    -DCMAKE_BUILD_TYPE=Release
    -DTOTOGRAPH_CUDA=ON
    -DTOTOGRAPH_BUILD_TESTS=ON
    -DTOTOGRAPH_BUILD_BENCH=ON
    -DTOTOGRAPH_BUILD_EXAMPLES=ON
    "-DCMAKE_CUDA_ARCHITECTURES=$architecture"
    "-DCMAKE_CUDA_COMPILER=$(command -v nvcc)"
)
if [[ "$fetch" == yes ]]; then
    options+=(-DTOTOGRAPH_FETCH_DEPENDENCIES=ON)
fi
if [[ -n "$prefix" ]]; then
    options+=("-DCMAKE_PREFIX_PATH=$prefix")
fi
if command -v ninja > /dev/null && [[ ! -e "$build/CMakeCache.txt" ]]; then
    options+=(-G Ninja)
fi
cmake -S "$source" -B "$build" "${options[@]}"

python="${PYTHON:-python3}"
targets=(tests_cuda bench_cuda bench_cuda_toto2)
if [[ "$quick" == no ]] &&
    "$python" -c 'import torch, toto, safetensors; assert torch.cuda.is_available()' 2> /dev/null; then
    targets+=(full_size_forecast)
fi

step "build"
cmake --build "$build" --target "${targets[@]}" --parallel "$jobs"

step "tests"
ctest --test-dir "$build" --label-regex '^cuda$' --output-on-failure --no-tests=error

# Parts that pass through every kind of kernel in minutes: the tools slow a kernel down a hundred times.
sanitize() {
    local tool="$1"
    shift
    step "compute-sanitizer $tool: ${1##*/}"
    TOTOGRAPH_TESTS_WITHOUT_TIMES=1 compute-sanitizer --tool "$tool" --error-exitcode 1 "$@"
}

# Some GEMMs and attentions, as bf16 and as they run by default alone.
only_bf16() {
    TOTOGRAPH_TESTS_ONLY_BF16=1 sanitize "$1" "$build/tests/test_ops_gemm" "-sc=$2"
}

if [[ "$quick" == no ]]; then
    command -v compute-sanitizer > /dev/null || fail "no compute-sanitizer on the path; it is part of the CUDA toolkit."
    small_ops='-sce=*large*,*long rows*,*samples of*'
    small_gemms='-sce=*large*,*300 rows*,* 70? rows*,*527 rows*,*1??? rows*,*2??? rows*'
    for tool in memcheck racecheck initcheck synccheck; do
        # Of many rows, as bf16 alone: kernels of ours compute those, and the tools take minutes for the others.
        if [[ "$tool" != racecheck ]]; then
            only_bf16 "$tool" '*1??? rows*,*2??? rows*'
        elif [[ "$architecture" == 90a ]]; then
            # The tool breaks on cuBLASLt's own kernels of that size, and never ends on ours with clusters of eight: it
            # sees GEMMs that, on a device of 132 multiprocessors, need neither.
            only_bf16 "$tool" 'scaled? 1??? rows,bilinear? 1??? rows'
        fi
        sanitize "$tool" "$build/tests/test_parity_cuda_a" -tc=mixture -sce='mean without a cache'
        sanitize "$tool" "$build/tests/test_parity_cuda_reduced_a" '-tc=mixture*' -sc='bf16 mean'
        sanitize "$tool" "$build/tests/test_parity_cuda_reduced_g" '-tc=wide_heads*' -sc='bf16 mean'
        sanitize "$tool" "$build/tests/test_ops" "$small_ops"
        sanitize "$tool" "$build/tests/test_ops_gemm" "$small_gemms"
        sanitize "$tool" "$build/tests/test_positions"
        sanitize "$tool" "$build/tests/test_toto2_bf16_a" '-tc=published_shape*,normed_grouped_query*'
        sanitize "$tool" "$build/tests/test_toto2_tf32" '-tc=published_shape*,known_gaps_blocks*'
        sanitize "$tool" "$build/tests/test_nanovlm_rounded" '-tc=vision_and_language?*bf16'
        sanitize "$tool" "$build/tests/test_kronos_rounded" '-tc=no_volume?*tf32'
        sanitize "$tool" "$build/tests/test_copies"
        sanitize "$tool" "$build/tests/test_gather_series"
        if [[ "$tool" != racecheck ]]; then
            # With that tool it does not end within 40 s (with the others, within a few).
            sanitize "$tool" "$build/tests/test_not_finite"
        fi
    done
fi

if [[ " ${targets[*]} " == *" full_size_forecast "* ]]; then
    step "full-size results beside the public implementation's"
    "$python" "$source/tools/compare_full_size.py" "$build/tests/full_size_forecast"
elif [[ "$quick" == no ]]; then
    step "no comparison with the public implementation: $python lacks torch with CUDA, or toto-ts"
fi

step "memory"
"$build/bench/bench_cuda" --memory

step "construction without known algorithms"
TOTOGRAPH_CACHE_DIR='' "$build/bench/bench_cuda" --repeats 1

step "floors"
"$build/bench/bench_cuda" --floor 1,448,1792

step "what a launch costs"
"$build/bench/bench_cuda" --launches

step "benchmark"
"$build/bench/bench_cuda"

step "benchmark of Toto 2.0"
"$build/bench/bench_cuda_toto2"

step "all checks passed"
