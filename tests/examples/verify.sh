#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `verify` meets: a machine in order, and each thing out of order that can be made here.
#
#     verify.sh <verify> <scratch folder> <folder of the demo model>
set -euo pipefail
demo_model="$(realpath "$3")"
source "$(dirname "$0")/cli.sh" "$@"
export TOTOGRAPH_CACHE_DIR="$PWD/cache"
unset TOTOGRAPH_MODE TOTOGRAPH_BACKEND TOTOGRAPH_PRECISION TOTOGRAPH_DISABLE TOTOGRAPH_LOGS TOTOGRAPH_DEMO_MODEL

# in_order <part...>: fit to serve, with a line that holds each part.
in_order() {
    "$program" > found.txt 2>&1 || fail "exit code $?: $(cat found.txt)"
    grep -q '^fit to serve' found.txt || fail "it is fit: $(cat found.txt)"
    local part
    for part in "$@"; do
        grep -qE -- "$part" found.txt || fail "it should say '$part': $(cat found.txt)"
    done
}
# out_of_order <part> <command...>: not fit to serve, and says why.
out_of_order() {
    local part="$1" status=0
    shift
    "$@" > found.txt 2>&1 || status=$?
    [[ "$status" -eq 7 ]] || fail "exit code $status: $* ($(cat found.txt))"
    grep -qE -- "$part" found.txt || fail "it should say '$part': $(cat found.txt)"
    grep -q '^not fit to serve$' found.txt || fail "it is not fit: $(cat found.txt)"
}

in_order '^ok +checkpoint .*the demo model' '^ok +backend cpu' '^ok +mode +max-autotune on ' '^ok +memory' \
    '^ok +cache folder .*\(made\) can be written' '^ok +cache locks'
[[ ! -e cache ]] || fail "it leaves no folder behind"
"$program" --json report.json --checkpoint "$demo_model" > /dev/null
grep -q '"what": "cache folder"' report.json || fail "the JSON has the checks"

TOTOGRAPH_DISABLE=1 in_order '^warning +TOTOGRAPH_DISABLE' '^warning +mode +eager'
TOTOGRAPH_LOGS=captures in_order '^warning +TOTOGRAPH_LOGS'
TOTOGRAPH_MODUS=eager in_order '^warning +TOTOGRAPH_MODUS'
TOTOGRAPH_CACHE_DIR='' in_order '^warning +cache folder +TOTOGRAPH_CACHE_DIR is empty'
TOTOGRAPH_BACKEND=nowhere out_of_order "^failed +backend +There is no backend 'nowhere'" "$program"
TOTOGRAPH_PRECISION=f64 out_of_order "^failed +backend +TOTOGRAPH_PRECISION is 'f64'" "$program" --backend cpu
# The CPU serves whatever --backend says, so no device is needed.
TOTOGRAPH_PRECISION=f32 "$program" --backend cuda > found.txt 2>&1 || fail "the CPU serves f32: $(cat found.txt)"
grep -qE "^ok +mode +max-autotune on 'cpu'" found.txt || fail "the precision chooses the CPU: $(cat found.txt)"
TOTOGRAPH_MODE=fast out_of_order "^failed +TOTOGRAPH_MODE +'fast'" "$program"
out_of_order "^failed +checkpoint +There is no checkpoint at 'nowhere'" "$program" --checkpoint nowhere
mkdir torn
cp "$demo_model/config.json" torn
head -c 1000 "$demo_model/model.safetensors" > torn/model.safetensors
out_of_order '^failed +checkpoint .*torn' "$program" --checkpoint torn
out_of_order "^failed +checkpoint .*'no\\\\x1b\\[31mwhere'" "$program" --checkpoint $'no\e[31mwhere'
! grep -q $'\e' found.txt || fail "a name steers the terminal"
cp -r "$demo_model" shared
chmod -R u+w,go-w shared
for open in shared shared/config.json shared/model.safetensors; do
    chmod g+w "$open"
    out_of_order '^failed +checkpoint .*may write to it' "$program" --checkpoint shared
    chmod g-w "$open"
done
"$program" --checkpoint shared > /dev/null || fail "nobody else may write there now"
cp -r "$demo_model" broken
printf '\xc0\x7f' | dd of=broken/model.safetensors bs=1 conv=notrunc status=none \
    seek=$(($(stat -c %s broken/model.safetensors) - 2))  # the last number becomes NaN
out_of_order '^failed +checkpoint +The tensor .* of the checkpoint holds NaN at' "$program" --checkpoint broken
out_of_order "^failed +backend +'tpu' cannot be used" "$program" --backend tpu

mkdir cache
printf '\x89tgcache and no more' > cache/tuning.cache
out_of_order '^failed +cache file .*is ignored' "$program"
rm cache/tuning.cache
chmod g+w cache
out_of_order '^failed +cache folder .*group [0-9]+ may write to it' "$program"
chmod g-w cache
printf 'half' > cache/tuning.cache.tmp-1-0
in_order '^warning +cache file .*left by a process that died'
TOTOGRAPH_CACHE_DIR="$PWD/report.json" out_of_order '^failed +cache folder .*is not a folder' "$program"

refuses 2 "--execution-mode is 'fast', expected one of: eager" --execution-mode fast
refuses 2 "--threads must be at least 0" --threads -1
refuses 6 "cannot be written" --json missing/report.json
TOTOGRAPH_LOGS=all in_order '^warning +TOTOGRAPH_LOGS' 'The topic sizes writes a line for each request'
grep -i bucket found.txt report.json && fail "a person never reads that word"
expect 2 "--json needs a file, and cannot go to standard output" "$program" --json -
"$program" --help > help.txt
grep -q -- --execution-mode help.txt || fail "--help lists the options"
echo "verify behaves."
