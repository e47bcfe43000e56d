#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs with --package: the forecasts of the model that they have compiled in, and a sentence for what is no package.
#
#     programs.sh <folder of the programs> <scratch folder> <package of the demo model> <table> <folder of models>
#         <library that writes the files of weights that are opened to OPENED>
set -euo pipefail
programs="$(realpath "$1")" package="$(realpath "$3")" table="$(realpath "$4")" models="$(realpath "$5")" counter="$(realpath "$6")"
rm -rf "$2"
mkdir -p "$2"
cd "$2"
export TOTOGRAPH_CACHE_DIR="$PWD/cache"
unset TOTOGRAPH_MODE TOTOGRAPH_DISABLE TOTOGRAPH_LOGS TOTOGRAPH_DEMO_MODEL

fail() { echo "programs.sh: $*" >&2; exit 1; }
# refused <exit code> <part> <command...>
refused() {
    local expected="$1" part="$2" status=0
    shift 2
    "$@" > said.txt 2>&1 || status=$?
    [[ "$status" -eq "$expected" ]] || fail "exit code $status: $* ($(cat said.txt))"
    grep -qF -- "$part" said.txt || fail "it should say '$part': $(cat said.txt)"
}
# opens <times> <command...>: the command opens the weights so often.
opens() {
    local times="$1"
    shift
    rm -f opened
    LD_PRELOAD="$counter" OPENED="$PWD/opened" "$@" || return
    [[ "$(wc -l < opened)" -eq "$times" ]] || fail "$* opens $(cat opened)"
}
# same <name> <times> <command...>: with the package as without, where sizes say the same; weights are opened so often.
same() {
    local name="$1" times="$2"
    shift 2
    opens "$times" "$@" < short.csv > "$name.compiled_in" || fail "$* failed"
    opens "$times" "$@" --package "$package" < short.csv > "$name.package" || fail "$* --package failed"
    [[ -s "$name.package" ]] || fail "$name: nothing was printed"
    cmp "$name.compiled_in" "$name.package" || fail "$name: the package gives another forecast"
}

head -n 60 "$table" > short.csv
same forecast 1 "$programs/forecast" "$table" --context 80 --horizon 32 --seed 3 --samples 20 --output - --quiet
same mean 1 "$programs/forecast" "$table" --context 80 --horizon 20 --samples 0 --output - --quiet
same stream 1 "$programs/stream" --context 48 --horizon 8 --samples 24 --quiet
# The key of its journal is a checksum of the weights.
same backtest 2 "$programs/backtest" "$table" --context 64 --horizon 8 --windows 2 --samples 24 --quiet

opens 1 "$programs/verify" --package "$package" > said.txt || fail "it is fit: $(cat said.txt)"
grep -q '^ok *checkpoint .*toto1::demo_1_0 of the package tiny_package, of totograph' said.txt || fail "$(cat said.txt)"
mkdir folder
cp "$package" folder/demo.x86-64.so
echo none > folder/other.so
"$programs/verify" --package folder > said.txt || fail "it is fit: $(cat said.txt)"
refused 7 "is for cpu" "$programs/verify" --package folder --backend cuda
TOTOGRAPH_BACKEND=cuda refused 4 "is for cpu" "$programs/forecast" "$table" --package folder
refused 7 "has another model" "$programs/verify" --package folder --checkpoint "$models/demo_2_0"
rm folder/demo.x86-64.so
refused 7 "holds no package for the checkpoint" "$programs/verify" --package folder
head -c 5000 "$package" > torn.so
refused 7 "torn.so' was cut" "$programs/verify" --package torn.so
refused 4 "torn.so' was cut" "$programs/forecast" "$table" --package torn.so
refused 4 "is no package: it is no shared library" "$programs/forecast" "$table" --package "$table"
refused 4 "no_such.so" "$programs/backtest" "$table" --context 64 --horizon 8 --package no_such.so
refused 2 "leave out one of the two" "$programs/forecast" "$table" --horizon 8 --explain --package "$package"
