#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes a transcript of `stress` and `verify` as Markdown: each command as it would be typed, what it prints, and its
# exit code. docs/transcripts holds two of them.
#
# Usage: tools/record_stress.sh cpu|cuda FILE.md [FOLDER [MODEL...]]
#   cpu       the backend of the host: every level, every mode, and every table
#   cuda      the same on a device, against the host's eager executor; for programs built with -DTOTOGRAPH_CUDA=ON
#   FILE.md   what to write; it is replaced
#   FOLDER    where the programs are; build/release/examples by default
#   MODEL     models of TOTOGRAPH_STRESS_MODELS: eager beside compiled for each, and nothing else
#
# Without a MODEL the programs have to be built with -DTOTOGRAPH_ABLATION=ON. Ends with 1 when a command ended with
# another code than 0 and 7: the answers are in the file, and a transcript of a fault is one as well.
set -uo pipefail

[[ $# -ge 2 && ("$1" == cpu || "$1" == cuda) ]] || {
    sed -n '3,15s/^# \{0,1\}//p' "$0"
    exit 1
}
readonly backend="$1" file="$2" folder="${3:-build/release/examples}"
readonly models=("${@:4}")
readonly shown=build/release/examples # as the documents call it
readonly home="${HOME:-/no/home}"
broken=0

say() { printf '%s\n' "$@" >> "$file"; }

# run HEADING PROGRAM OPTIONS...
run() {
    local heading="$1" program="$2" code=0
    shift 2
    echo "record_stress: ${SECONDS} s: $program $*" >&2
    say "## $heading" "" "    $shown/$program $*" ""
    # Its headings go below ours, and whose machine it was does not matter.
    "$folder/$program" "$@" 2>&1 | sed -e 's/^#/##/' -e "s#'$home/#'~/#g" >> "$file"
    code=${PIPESTATUS[0]}
    say "" "Exit code $code." ""
    [[ $code -eq 0 || $code -eq 7 ]] || broken=1
}

processor="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
commit="$(git rev-parse --short HEAD 2> /dev/null)"
title="a processor"
device=""
if [[ "$backend" == cuda ]]; then
    title="a device"
    device="$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
fi
: > "$file" || exit 1
say "# stress on $title"
say ""
say "Written by \`tools/record_stress.sh $backend FILE.md${models[*]:+ FOLDER ${models[*]}}\` on $(date -u +%Y-%m-%d), $(nproc) cores of ${processor:-a processor}${device:+, $device (name, driver)}${commit:+, commit $commit}."
say "[production.md](../production.md#stress) says what each line means."
say ""

for model in "${models[@]}"; do
    run "Eager beside compiled: $model" stress --untrained "$model" --vary-batch --vary-context --backend "$backend" --quiet
done
[[ ${#models[@]} -eq 0 ]] || exit $broken

run "Fit to serve" verify --backend "$backend"
# Where the host's eager executor is the baseline, the largest bucket takes seconds a forecast: there, once is enough.
against=(--sizes 2)
if [[ "$backend" == cpu ]]; then
    run "All buckets" stress --backend cpu --quiet
else
    run "Level quick, against the host" stress --backend cuda --baseline cpu --quiet
    run "In f32, against the host" stress --backend cuda-f32 --baseline cpu --quiet
    run "Captured layer by layer, against the host" stress --backend cuda-regional --baseline cpu --sizes 1 --quiet
    # In f32 the device agrees with the host, as was just shown.
    against=(--baseline cuda-f32 --sizes 2)
fi
for level in quick full production-check; do
    run "Level $level" stress --backend "$backend" "${against[@]}" --mode "$level" --quiet
done
for mode in eager default reduce-overhead max-autotune-no-cudagraphs max-autotune; do
    run "Mode $mode" stress --backend "$backend" "${against[@]}" --execution-mode "$mode" --quiet
done
for axis in batch variates context horizon; do
    run "Along the $axis" stress --backend "$backend" --vary-$axis --quiet
done
run "Builds" stress --backend "$backend" --build-latency --quiet
run "Without each step of the compiler" stress --backend "$backend" --ablate --quiet
forecasts="$(mktemp --suffix .safetensors)"
trap 'rm -f "$forecasts"' EXIT
run "Forecasts kept" stress --backend "$backend" --save "$forecasts" --quiet
run "Compared with those" stress --backend "$backend" --against "$forecasts" --quiet
sed -i "s|$forecasts|forecasts.safetensors|g; s|$PWD/||g" "$file"
exit $broken
