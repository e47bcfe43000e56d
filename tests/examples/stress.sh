#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `stress` meets: verdicts, reports, tables, drift, bad input. No latency is judged here, as the machine
# may be doing something else: --slowest lets everything pass, and one 0 lets nothing.
#
#     stress.sh <stress> <scratch folder> <folder of the demo model> <compiled model of tokens or candles...>
set -euo pipefail
demo_model="$(realpath "$3")"
models=" ${*:4} "
fixtures="$(realpath "$(dirname "$0")/../data/nanovlm")"
source "$(dirname "$0")/cli.sh" "$@"
export TOTOGRAPH_CACHE_DIR="$PWD/cache"
unset TOTOGRAPH_MODE TOTOGRAPH_DISABLE TOTOGRAPH_LOGS

awk 'BEGIN {
    print "time,wave,gaps,ramp"
    for (row = 0; row < 300; ++row) {
        printf "%d,%.4f,%s,%d\n", 60 * row, 10 + 3 * sin(row / 4), row % 5 == 0 ? "" : row % 9, row
    }
}' > series.csv
sizes=(series.csv --timestamp time --variates 3 --contexts 40 --horizons 8 --samples 2 --execution-mode default)
small=("${sizes[@]}" --slowest 1000)
once=("${small[@]}" --iterations 1)  # where three repetitions show no more than one

# The mode under test holds, and the reports tell it.
"$program" "${small[@]}" --json report.json --markdown report.md > printed.md
cmp report.md printed.md || fail "what is printed is what is kept"
grep -q '^# Stress report: passed$' report.md || fail "it passes: $(cat report.md)"
[[ "$(grep -c '^| \(wave\|gaps\|ramp\) ' report.md)" -eq 3 ]] || fail "a row for each series"
grep -q '"passed": true' report.json || fail "the JSON says that it passes"
grep -q '"context": 40' report.json || fail "the JSON has the sizes"
! grep -q '^| time ' report.md || fail "the timestamps are no series"

# answers_no <argument...>: the answer to a question is no, which is no error.
answers_no() {
    local status=0
    "$program" "$@" > said.md 2> message || status=$?
    [[ "$status" -eq 7 && ! -s message ]] || fail "exit code $status: $* ($(cat message))"
}
# says_no <argument...>: likewise, of a stress run.
says_no() {
    answers_no "$@"
    grep -q '^# Stress report: FAILED$' said.md || fail "it fails: $(cat said.md)"
}
# Each verdict can be no, and the exit code says it.
says_no "${sizes[@]/#default/max-autotune}" --slowest 0 --iterations 1
grep -q '^| speed  *| FAILED' said.md || fail "too slow is said: $(cat said.md)"
grep -q '"planned": null' report.json || fail "mode default is timed beside nothing"
says_no "${once[@]}" --mae 0 --json inexact.json
grep -A1 '"name": "accuracy"' inexact.json | grep -q '"passed": false' || fail "too far off is said"
# Means alone: eager samples take a quarter of a minute.
TOTOGRAPH_DISABLE=1 "$program" "${once[@]/#2/0}" --mae 0 > eager.md
grep -q 'the mode under test is the baseline' eager.md ||
    fail "eager against eager is the same to the bit, and says so"

# What was decided about a file is told, a line each, as the other programs do; --quiet is about progress alone.
awk -F, -v OFS=, 'NR != 50 { print (NR == 1 ? "host" : "web"), $0 }' series.csv > labelled.csv
"$program" labelled.csv "${once[@]:1}" > /dev/null 2> notes.txt
grep -q "^stress: Column 'host' holds text and is left out" notes.txt || fail "labels are told: $(cat notes.txt)"
grep -q "^stress: The file .* lacks 1 row between its times" notes.txt || fail "gaps are told: $(cat notes.txt)"
grep -q -- '--as-is' notes.txt || fail "and how to have it otherwise"

# Tables.
"$program" --list > list.txt
grep -q '^backend cpu$' list.txt && grep -q '  max-autotune: ' list.txt && grep -q '  size 1: ' list.txt || fail "--list lists"
"$program" series.csv --timestamp time --vary-context --variates 2 --contexts 40,256 --horizons 20 --iterations 1 --sizes 1 \
    --slowest 1000 > contexts.md
[[ "$(grep -c '^| \(40\|256\) ' contexts.md)" -eq 2 ]] || fail "a row for each context: $(cat contexts.md)"
answers_no series.csv --timestamp time --vary-context --contexts 40 --horizons 20 --iterations 1 --sizes 1 --slowest 0
grep -q '^FAILED: speed: ' said.md || fail "a table says what is wrong, too: $(cat said.md)"
"$program" --build-latency --iterations 1 --threads 1 --json builds.json > builds.md
[[ "$(grep -c '| *cpu |' builds.md)" -eq 5 ]] || fail "a row for each mode: $(cat builds.md)"
grep -q '"mode": "max-autotune"' builds.json || fail "the JSON has the builds"

# Drift: none in the same build, and another seed is another forecast.
"$program" "${small[@]}" --save kept.safetensors > /dev/null
"$program" --against kept.safetensors --execution-mode default --json drift.json > drift.md
grep -q '^# Drift: passed$' drift.md && grep -q '| equal |' drift.md || fail "the same build gives the same bits: $(cat drift.md)"
"$program" --against kept.safetensors --execution-mode eager > rounded.md
grep -q '| differ |' rounded.md || fail "eager rounds otherwise"
head -c 500 kept.safetensors > torn.safetensors
refuses 3 "torn.safetensors" --against torn.safetensors

# Files that are hardly any.
printf 'a,b\n1,2\n' > one_row.csv
"$program" one_row.csv --sizes 1 --execution-mode default --iterations 1 --slowest 1000 > one_row.md || fail "$(cat one_row.md)"
grep -q '^| 1 x 16 x 1 -> 336' one_row.md || fail "contexts are no longer than the file: $(cat one_row.md)"
printf 'a,b\n,\n,\n' > blank.csv
refuses 3 "has no column of numbers" blank.csv
printf 'a,b\n' > header.csv
refuses 3 "has no rows below that" header.csv

# Reports are kept when nobody reads what is printed.
expect 6 "Standard output cannot be written" sh -c 'p="$1"; shift; "$p" "$@" > /dev/full' sh "$program" "${once[@]}" --json unread.json
grep -q '"passed": true' unread.json || fail "the report is kept"

# A damaged file of prepared weights is not used, and told.
weight="$(find cache/weights -name '*.weight' -size +64k | head -n 1)"
[[ -n "$weight" ]] || fail "prepared weights are kept in files"
chmod u+w "$weight"
printf 'damaged' | dd of="$weight" bs=1 seek=40000 conv=notrunc 2> /dev/null
says_no "${once[@]}"
grep -q '^| caches  *| FAILED.*ignored' said.md || fail "the damaged file is told: $(cat said.md)"
"$program" "${once[@]}" > printed.md || fail "it was made anew: $(cat printed.md)"

# What batches cost: a row for each batch and number of samples.
"$program" --vary-batch --batches 1,2 --variates 2 --contexts 40 --horizons 16 --samples 0,2 --threads 1 --json batches.json > batches.md
[[ "$(grep -c '^| [12]  *| *\(mean\|2\) |' batches.md)" -eq 4 ]] || fail "a row for each batch: $(cat batches.md)"
[[ "$(grep -c '"batch": 2' batches.json)" -eq 2 ]] || fail "the table is in the JSON, too"
refuses 2 "over one size" --vary-batch --horizons 3,4
refuses 2 "reads no series" series.csv --vary-batch
refuses 2 "There is no backend 'tpu'" --vary-batch --backend tpu

# Eager beside compiled for models of tokens and candles, where they were compiled (TOTOGRAPH_STRESS_MODELS).
refuses 2 "--untrained takes one of the models" --untrained enormous --vary-batch
if [[ "$models" == *" tiny "* ]]; then
    grid=(--untrained tiny --threads 2 --iterations 2)
    "$program" "${grid[@]}" --vary-batch --vary-context --json grid.json --markdown kept_grid.md > grid.md || fail "$(cat grid.md)"
    cmp kept_grid.md grid.md || fail "what is printed is what is kept"
    grep -q '^# Eager beside compiled: passed$' grid.md || fail "it passes: $(cat grid.md)"
    grep -q 'untrained weights: its ids mean nothing' grid.md || fail "it says what the ids are worth"
    # three prompt lengths and two batches, in each of three tables
    for heading in "Latency and throughput" Memory "Graphs and builds"; do
        rows="$(sed -n "/^## $heading/,/^## /p" grid.md | sed -n 's/^| *\([0-9]*\) *| *\([0-9]*\) |.*/\1x\2/p' | xargs)"
        [[ "$rows" == "8x1 8x4 16x1 16x4 32x1 32x4" ]] || fail "six rows of $heading: $rows"
    done
    for title in "eager tokens/s" "a call of one token" "KV cache" arena "max-autotune holds" "graph breaks" captures \
        "first build of eager | *build again"; do
        grep -q "^| prompt .*$title" grid.md || fail "a column $title: $(cat grid.md)"
    done
    # 16 tokens of 3 x (1 + 4) prompts, of two columns beside eager
    grep -q '^| ids  *| passed | 480 compared, all the same ' grid.md || fail "ids are compared: $(cat grid.md)"
    [[ "$(grep -c ' same ([0-9]* distinct) |$' grid.md)" -eq 6 ]] || fail "each row says so: $(cat grid.md)"
    ! grep -q '^| \(graph breaks\|captures\)  *| passed' grid.md || fail "the CPU captures no graphs: $(cat grid.md)"
    grep -q '^| allocations  *| passed | 0 allocations for further tokens in 12 runs' grid.md || fail "allocations: $(cat grid.md)"
    [[ "$(grep -c '"equality_required": true' grid.json)" -eq 18 ]] || fail "the JSON has each run"
    [[ "$(grep -o '"allocations": [0-9]*' grid.json | grep -vc ' 0$')" -eq 6 ]] || fail "eager alone allocates, which shows that it is counted"
    grep -q '"model": "tiny"' grid.json && grep -q '"threads": 2' grid.json || fail "the JSON says what was measured"
    # One axis alone, named values, a mode, a checkpoint.
    "$program" "${grid[@]}" --vary-context --execution-mode default > axis.md || fail "$(cat axis.md)"
    [[ "$(grep -c '^| \(8\|16\|32\)  *|  *1 |' axis.md)" -eq 9 ]] || fail "contexts alone: $(cat axis.md)"
    ! grep -q max-autotune axis.md || fail "the mode under test is default"
    "$program" --checkpoint "$fixtures/vision_and_language" --vary-batch --vary-context --contexts 5,20 --batches 3 \
        --iterations 1 --threads 1 > grid.md || fail "$(cat grid.md)"
    [[ "$(grep -c '^| \(5\|20\)  *|  *3 |' grid.md)" -eq 6 ]] || fail "named sizes of a checkpoint: $(cat grid.md)"
    ! grep -q untrained grid.md || fail "a checkpoint is trained as far as anybody knows"
    refuses 2 "has one task in this program" --untrained tiny
    refuses 2 "leaves nothing to compare" --untrained tiny --vary-context --execution-mode eager
    for variable in TOTOGRAPH_MODE=eager TOTOGRAPH_DISABLE=1; do
        expect 2 "unset TOTOGRAPH_MODE and TOTOGRAPH_DISABLE" env "$variable" "$program" --untrained tiny --vary-context
    done
    TOTOGRAPH_MODE=default "$program" "${grid[@]}" --vary-context --contexts 8 > by_variable.md || fail "$(cat by_variable.md)"
    ! grep -q max-autotune by_variable.md || fail "the variable chooses the mode under test: $(cat by_variable.md)"
    "$program" --untrained tiny --threads 1 --iterations 1 --vary-context --contexts 8 > once.md || fail "$(cat once.md)"
    ! grep -q '^| repeats ' once.md || fail "one call repeats nothing: $(cat once.md)"
    refuses 2 "do not use --mae" --untrained tiny --vary-context --mae 1
    refuses 2 "Name one, or add --vary-batch" --untrained tiny --vary-context --batches 1,2
    refuses 2 "two tasks" --untrained tiny --vary-context --build-latency
    refuses 2 "one number of steps ahead" --untrained tiny --vary-context --horizons 3
    refuses 2 "reads no series" series.csv --untrained tiny --vary-context
    refuses 2 "leave one of them out" --untrained tiny --vary-context --checkpoint "$demo_model"
    refuses 2 "There is no backend 'tpu'" --untrained tiny --vary-context --backend tpu
    refuses 4 "has 2 layers of width 90 and 83 ids" --checkpoint "$fixtures/tokens_15_to_5" --vary-batch
    refuses 5 "not compiled for requests of 1 x 1 x 33" --untrained tiny --vary-context --contexts 8,33
else
    echo "The model tiny was not compiled: its grid is not tested." >&2
fi
if [[ "$models" == *" mini "* ]]; then
    "$program" --untrained mini --threads 2 --iterations 1 --vary-batch --contexts 40 > candles.md || fail "$(cat candles.md)"
    # 16 candles of six numbers, without their stamps, of 1 + 4 symbols, of two columns beside eager
    grep -q '^| numbers  *| passed | 960 compared, all the same ' candles.md || fail "candles are compared: $(cat candles.md)"
    [[ "$(grep -c '^| 40  *|  *[14] |' candles.md)" -eq 6 ]] || fail "two sizes in three tables: $(cat candles.md)"
    grep -q 'untrained weights: its numbers mean nothing' candles.md || fail "it says what the candles are worth"
    refuses 5 "not compiled for requests of" --untrained mini --vary-context --contexts 64,400
else
    echo "The model mini was not compiled: its grid is not tested." >&2
fi
refuses 2 "one task for models of tokens and candles alone" --vary-batch --vary-context
refuses 2 "two tasks" series.csv --vary-context --build-latency
refuses 2 "expected one of: quick, full, production-check" series.csv --mode thorough
refuses 2 "--execution-mode is 'fast', expected one of: eager" series.csv --execution-mode fast
refuses 2 "There is no backend 'tpu'" "${small[@]}" --backend tpu
# After the note of what the file's columns were taken for.
expect 2 "--sizes names number 9" "$program" series.csv --sizes 9
refuses 2 "has no column 'load'" series.csv --columns load
tr , ';' < series.csv | gzip > semicolons.csv.gz
refuses 2 "Its columns are: 'time', 'wave', 'gaps', 'ramp'." semicolons.csv.gz --columns load
refuses 3 "cannot be opened" nowhere.csv
refuses 4 "There is no checkpoint at 'nowhere'" series.csv --checkpoint nowhere
# Names that the system itself refuses, and files that never come to an end.
refuses 4 "File name too long" series.csv --checkpoint "$(printf 'n%.0s' {1..300})"
ln -s circle circle
refuses 4 "Too many levels of symbolic links" series.csv --checkpoint circle
mkdir pipe
mkfifo pipe/config.json
touch pipe/model.safetensors
expect 4 "not a regular file" timeout 60 "$program" series.csv --checkpoint pipe
expect 3 "steer\\x1b[31m" "$program" --against $'steer\e[31m'
! grep -q $'\e' message || fail "a name steers the terminal"
refuses 5 "Nothing was compiled that holds requests of" series.csv --contexts 100000
refuses 2 "named twice" series.csv ./series.csv
refuses 2 "would be lost" --against kept.safetensors --json kept.safetensors
refuses 2 "reads no series" series.csv --build-latency
refuses 2 "makes its own requests" --against kept.safetensors --samples 3
refuses 2 "over one size" series.csv --vary-context --horizons 3,4
refuses 2 "--json keeps reports" --list --json list.json
refuses 3 "cannot be cut from" series.csv --contexts 400 --save long.safetensors
refuses 3 "holds no recorded forecasts" --against "$demo_model/model.safetensors"
refuses 6 "cannot be written" "${small[@]}" --json missing/report.json
expect 6 "Standard output cannot be written" sh -c '"$1" --list > /dev/full' sh "$program"
"$program" --help > help.txt
grep -q -- --vary-batch help.txt || fail "--help lists the options"
# What is for those who compile models is not for those who run programs: not in reports, tables, logs or errors.
TOTOGRAPH_LOGS=all "$program" "${small[@]}" --iterations 1 --json logged.json > logged.md 2> logged.txt
grep -q '^\[totograph:sizes\] a request of 1 x 3 x 40 goes to size ' logged.txt || fail "logs tell sizes: $(cat logged.txt)"
grep -il bucket ./*.txt ./*.md ./*.json message && fail "a person never reads that word"
echo "stress behaves."
