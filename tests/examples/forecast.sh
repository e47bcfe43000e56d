#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `forecast` meets: the bundled model without a flag, bad input, full disks.
#
#     forecast.sh <forecast> <scratch folder> <folder of the demo model>
set -euo pipefail
demo_model="$(realpath "$3")"
data="$(realpath "$(dirname "$0")/../../examples/data")"
source "$(dirname "$0")/cli.sh" "$@"

awk 'BEGIN { print "wave,gaps"; for (row = 0; row < 200; ++row) print 10 + 3 * sin(row / 3) "," }' > series.csv

# The bundled model needs no flag, and named it is the same.
"$program" series.csv --targets wave --horizon 20 --no-chart --output default.csv --svg default.svg
"$program" series.csv --targets wave --horizon 20 --no-chart --output named.csv --checkpoint "$demo_model"
cmp default.csv named.csv || fail "the default is the bundled model"
[[ "$(wc -l < default.csv)" -eq 21 ]] || fail "a row for each step"
grep -q '</svg>' default.svg || fail "the SVG is whole"
mkdir bin
cp "$program" bin/forecast
TOTOGRAPH_DEMO_MODEL="$demo_model" bin/forecast series.csv --targets wave --horizon 20 --no-chart --output moved.csv
cmp default.csv moved.csv || fail "the environment names the bundled model"
mkdir -p share/totograph/models/demo
cp "$demo_model/config.json" share/totograph/models/demo
touch share/totograph/models/demo/model.safetensors
expect 4 "share/totograph/models/demo/model.safetensors" bin/forecast series.csv --targets wave
expect 4 "'nowhere" env TOTOGRAPH_DEMO_MODEL=nowhere "$program" series.csv --targets wave

# A folder without config.json is taken for Toto Open Base 1.0, whether this build has that model or not.
mkdir bare
cp "$demo_model/model.safetensors" bare
"$program" series.csv --targets wave --checkpoint bare --backend tpu 2> message && fail "no model is of 'tpu'"
grep -Eq "(has no config.json, so it was taken for|The backend 'tpu' does not run) Toto Open Base 1.0" message ||
    fail "which model has no config.json: $(cat message)"

# What computes: the processor, or a device that this build has.
"$program" series.csv --targets wave --horizon 20 --no-chart --output cpu.csv --backend cpu
cmp default.csv cpu.csv || fail "the default is the processor"
expect 2 "The backend 'tpu' does not run the demo model" "$program" series.csv --targets wave --backend tpu
expect 2 "The backend 'tpu' does not run" env TOTOGRAPH_BACKEND=tpu "$program" series.csv --targets wave

# Two hidden years of carbon dioxide: far nearer than the same month one year before, in all that is shown.
"$program" "$data/climate.csv" --targets co2_ppm --holdout --horizon 24 --table --output scores.csv > table.txt
read -r mae mase baseline_mae baseline_mase < <(awk -F, 'NR == 2 { print $8, $9, $10, $11 }' scores.csv)
[[ "$(head -n 1 scores.csv)" == month,series,median,quantile_0.1,quantile_0.9,truth,baseline,mae,mase,baseline_mae,baseline_mase,mean,standard_deviation ]] ||
    fail "the columns of a hold-out"
awk "BEGIN { exit !($mae < 0.3 * $baseline_mae && $mase < 0.3 * $baseline_mase) }" || fail "better than the baseline"
awk -F, 'NR > 1 { if (last[NR - 12] != "" && $7 != last[NR - 12]) exit 1; last[NR] = $7 }' scores.csv ||
    fail "the baseline repeats the year"
grep -q "MAE .* (baseline .*), MASE" table.txt || fail "the table has the scores"
grep -q "The baseline is the value 12 steps before" table.txt || fail "the table names the baseline"

# An earlier forecast is scored with what came since; the file may be the one that is written next.
head -n 505 "$data/climate.csv" > earlier.csv
"$program" earlier.csv --targets co2_ppm --horizon 24 --no-chart --output last.csv
"$program" "$data/climate.csv" --targets co2_ppm --horizon 24 --no-chart --score-last last.csv --output last.csv > scores.txt
grep -Eq "^co2_ppm: 12 of 24 steps came, MAE [0-9.]+, RMSE [0-9.]+, bias -?[0-9.]+, [0-9.]+% within the band of 80%$" scores.txt ||
    fail "the score of the last forecast: $(cat scores.txt)"
"$program" "$data/climate.csv" --targets co2_ppm --horizon 24 --no-chart --score-last last.csv > scores.txt
grep -q "^co2_ppm: none of 24 steps has come yet$" scores.txt || fail "what has not come is not scored: $(cat scores.txt)"
refuses 2 "would mix with the CSV" earlier.csv --score-last last.csv --output -
# What was forecast then, and is not read now, is told from what the file lacks.
awk 'BEGIN { print "date,a,b"; for (day = 1; day < 31; ++day) printf "2024-01-%02d,%d,%d\n", day, day % 7, day % 5 }' > two.csv
head -n 25 two.csv | "$program" - --horizon 4 --no-chart --output last.csv --quiet
"$program" two.csv --horizon 4 --no-chart --targets b --score-last last.csv > scores.txt
grep -q "^a: not scored, for --targets leaves it out$" scores.txt || fail "what was not read: $(cat scores.txt)"
grep -q "^b: 4 of 4 steps came" scores.txt || fail "what was read is scored: $(cat scores.txt)"

# No file is called "-", but where that is said in full.
for output in --svg --dot --explain-html; do
    refuses 2 "$output needs a file, and cannot go to standard output" two.csv "$output" -
done
"$program" two.csv --horizon 4 --no-chart --svg ./-
grep -q '</svg>' ./- || fail "./- is a file"
rm ./-

# Dates that begin with their year, whatever is said; and no clock at all.
refuses 3 "begin with the year, and are not with the day first (--date-format dmy)" two.csv --date-format dmy
awk -F, 'NR > 1 { $1 = "2024-01-05" } { print $1 "," $2 "," $3 }' two.csv > day.csv
"$program" day.csv --horizon 4 --no-chart 2> message
grep -q "Column 'date' has one time in all rows, '2024-01-05', and is left out" message || fail "one date: $(cat message)"
refuses 3 "All 30 rows of the file 'day.csv' have one time, '2024-01-05'" day.csv --time date

# Series of unequal lengths below each other, with a number and with nothing that names them.
awk 'BEGIN {
    print "date,store,sold"
    for (store = 1; store < 3; ++store) {
        for (day = store == 1 ? 1 : 20; day < 32; ++day) printf "2024-01-%02d,%d,%d\n", day, store, 100 * store + day
    }
}' > stores.csv
refuses 3 "43 rows at 31 times: several series stand below each other" stores.csv
grep -qF -- "(--series store --value sold)" message || fail "the options that help: $(cat message)"
"$program" stores.csv --series store --value sold --horizon 4 --output stores_out.csv --no-chart
cut -d, -f2 stores_out.csv | uniq | tr '\n' ' ' | grep -qx 'series 1 2 ' || fail "the options help"
cut -d, -f1,3 stores.csv > nameless.csv
"$program" nameless.csv --horizon 4 --no-chart --output nameless_out.csv 2> message
grep -qF "12 rows stand together with other values than the first ones of their times." message ||
    fail "what a nameless series shows: $(cat message)"
grep -qF -- "--series COLUMN" message || fail "the option that helps: $(cat message)"

# Counts are not below zero: a note says so, --min clips them, and what is clipped needs no note.
awk 'BEGIN { print "count"; for (row = 0; row < 300; ++row) print row % 11 == 3 ? 9 : row % 7 == 2 ? 4 : 0 }' > counts.csv
"$program" counts.csv --horizon 30 --output free.csv --no-chart 2> note.txt
grep -q "'count' goes below zero, where the history never was; --min 0 clips it" note.txt || fail "a note on --min 0"
"$program" counts.csv --horizon 30 --min 0 --max 5 --output clipped.csv --no-chart 2> note.txt
grep -q "outside of --min and --max" note.txt || fail "a note on a history outside of the limits"
! grep -q "below zero" note.txt || fail "no note on what is clipped"
awk -F, 'NR > 1 { for (i = 3; i <= NF - 1; ++i) if ($i < 0 || $i > 5) exit 1 }' clipped.csv || fail "within the limits"

printf 'a,b\n1,2\n3,x\n5,6\n' > text.csv
refuses 3 "Line 3 of 'text.csv', column 'b': 'x' is not a number" text.csv
refuses 2 "has no column 'c'" series.csv --targets wave,c
refuses 3 "Column 'gaps' is blank in all 200 rows of the context" series.csv --targets wave,gaps
"$program" series.csv --horizon 20 --no-chart --output left_out.csv 2> message
cmp default.csv left_out.csv || fail "an empty column is left out"
grep -q "Column 'gaps' holds no value and is left out" message || fail "which is told: $(cat message)"
printf 'a\n' > empty.csv
refuses 3 "has no rows below that" empty.csv
printf 'a,b\n,\n,\n' > blank.csv
refuses 3 "has no column of numbers" blank.csv
printf 'a\n1\n2\n3\n' > short.csv
refuses 3 "nothing would be left to forecast from" short.csv --holdout --horizon 3
refuses 3 "cannot be opened" nowhere.csv
refuses 4 "There is no checkpoint at 'nowhere'" series.csv --targets wave --checkpoint nowhere
refuses 5 "at most 336 steps ahead, but --horizon asks for 5,000" series.csv --targets wave --horizon 5000
refuses 2 "--horizon must be at least 1" series.csv --horizon 0

# More than the model takes at once is answered in parts, with a note on what that means.
awk 'BEGIN {
    for (column = 1; column <= 20; ++column) printf "c%d%s", column, column < 20 ? "," : "\n"
    for (row = 0; row < 2000; ++row) {
        for (column = 1; column <= 20; ++column) {
            printf "%.4f%s", 10 * column + sin(row / (2 + column)), column < 20 ? "," : "\n"
        }
    }
}' > wide.csv
small=(--no-chart --samples 8 --horizon 20)
notes() { "$program" "$@" 2> notes > /dev/null || fail "$* ($(cat notes))"; }
notes wide.csv "${small[@]}" --context 64 --output wide_out.csv
[[ "$(cat notes)" == "forecast: The model takes 16 columns at once. These saw each other: 'c1' to 'c10'; 'c11' to 'c20'." ]] ||
    fail "it says which columns saw each other: $(cat notes)"
[[ "$(wc -l < wide_out.csv)" -eq $((1 + 20 * 20)) ]] || fail "all columns are forecast"
notes wide.csv "${small[@]}" --context 64 --independent --output alone.csv
[[ ! -s notes ]] || fail "columns on their own need no note: $(cat notes)"
notes wide.csv "${small[@]}" --targets c1 --context 64 --independent --output first.csv
cmp <(grep ',c1,' alone.csv) <(grep ',c1,' first.csv) || fail "a column on its own is what it is among others"
notes wide.csv "${small[@]}" --targets c1 --context 1500 --output long.csv
grep -q 'at most 1,024 rows of history; of --context 1500 the last ones are used' notes || fail "a long context: $(cat notes)"
notes wide.csv "${small[@]}" --targets c1 --output newest.csv
cmp long.csv newest.csv || fail "a long context is that of its newest rows"
notes series.csv --targets wave --no-chart --samples 300 --horizon 20 --output many.csv
notes series.csv --targets wave --no-chart --samples 8 --horizon 340 --extend --output extended.csv
grep -q 'at most 336 steps ahead; what lies beyond is forecast from its own medians' notes || fail "$(cat notes)"
[[ "$(wc -l < extended.csv)" -eq 341 ]] || fail "an extended forecast is as long as it should be"
refuses 5 "takes 2,977 forecasts, each from the medians of the one before, which is about" \
    series.csv --targets wave --horizon 1000000 --extend --quiet
refuses 5 "goes no further than 33,600 steps" series.csv --targets wave --horizon 33601 --extend --quiet --explain-html page.html
"$program" series.csv --targets wave --explain > explained.txt
TOTOGRAPH_LOGS=all "$program" series.csv --targets wave --samples 300 --horizon 340 --extend --table > logged.txt 2>&1
grep -q '^\[totograph:sizes\] a horizon of 340 steps goes on' logged.txt || fail "logs tell sizes: $(cat logged.txt)"

# What is for those who compile models is not for those who run programs.
"$program" --help > help.txt
grep -i bucket help.txt explained.txt logged.txt notes message && fail "a person never reads that word"
# What is no finite number is said, and not shown as zeros.
awk 'BEGIN { print "huge"; for (row = 0; row < 100; ++row) print row % 2 ? "3e38" : "-3e38" }' > huge.csv
expect 8 "of the 5376 values that the model gave are no finite numbers" \
    "$program" huge.csv --samples 84 --horizon 64
cp -r "$demo_model" broken
printf '\xc0\x7f' | dd of=broken/model.safetensors bs=1 conv=notrunc status=none \
    seek=$(($(stat -c %s broken/model.safetensors) - 2))  # the last number becomes NaN
refuses 4 "of the checkpoint holds NaN at" series.csv --targets wave --checkpoint broken

# What cannot be written is known before the work, or costs nothing that was there.
echo "precious" > kept.csv
expect 6 "Standard output cannot be written" \
    sh -c '"$1" series.csv --targets wave --table --output kept.csv > /dev/full' sh "$program"
[[ "$(cat kept.csv)" == precious ]] || fail "a file stays when the others cannot be written"
(
    trap '' XFSZ
    ulimit -f 1
    expect 6 "was not written" "$program" series.csv --targets wave --svg kept.csv --no-chart
)
[[ "$(cat kept.csv)" == precious ]] || fail "a file stays when the disk is full"
refuses 6 "not a regular file" series.csv --targets wave --output /dev/full
[[ -z "$(ls ./*.tmp-* 2> /dev/null)" ]] || fail "nothing half written is left"
echo "forecast behaves."
