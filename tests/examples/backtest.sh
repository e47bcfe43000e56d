#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `backtest` meets: reports, an interrupt and a kill amid a run, bad input, full disks.
#
#     backtest.sh <backtest> <scratch folder>
set -euo pipefail
source "$(dirname "$0")/cli.sh" "$@"

# Three series with a season of 8: a wave, a ramp with gaps, and one that is constant.
awk 'BEGIN {
    print "wave,ramp,flat"
    for (row = 0; row < 400; ++row) {
        printf "%.4f,%s,5\n", 10 + 3 * sin(row * 6.283185307 / 8), row % 17 == 3 ? "" : row / 10
    }
}' > series.csv
settings=(series.csv --horizon 4,8 --season 8 --context 64 --samples 32)
forty=("${settings[@]}" --windows 40)
many=("${settings[@]}" --windows 300 --stride 1)

"$program" "${forty[@]}" --csv whole.csv --svg whole.svg > whole.txt
[[ "$(wc -l < whole.csv)" -eq 9 ]] || fail "the CSV has a heading, three series and a total for two horizons"
grep -q '^total,,8,120,' whole.csv || fail "the total counts 40 windows of three series"
grep -q '^series,flat,4,40,,' whole.csv || fail "a constant series has no MASE"
grep -q 'all series' whole.txt || fail "the table has a total"
grep -q '</svg>' whole.svg || fail "the SVG is whole"
# Of a wave that repeats, the value of one season before is exact.
awk -F, '$2 == "wave" && !($11 < 0.0001) { exit 1 }' whole.csv || fail "the baseline repeats the wave"
[[ -z "$(ls ./*.journal 2> /dev/null)" ]] || fail "the journal is removed at the end"

"$program" "${forty[@]}" --threads 3 --csv threads.csv > /dev/null
cmp whole.csv threads.csv || fail "the number of threads changes nothing"

# A series that starts late is not scored before it does, and changes nothing for the others: neither one that starts
# amid the windows nor one that is blank in every context.
awk 'NR == 1 { print $0 ",late,last" } NR > 1 { print $0 "," (NR > 300 ? NR : "") "," (NR > 400 ? 7 : "") }' \
    series.csv > late.csv
late=(late.csv "${forty[@]:1}")
"$program" "${late[@]}" --csv late_scores.csv --svg late.svg > late.txt 2> notes.txt
for told in notes.txt late.txt; do
    grep -q "1 of 5 series has no window that can be scored, and is left out of the means: 'last'" "$told" ||
        fail "a series without a score is named: $(cat "$told")"
done
grep -q '5 series (1 without a score)' late.svg || fail "the drawing counts series without a score"
refuses 3 "No window of any series can be scored" "${late[@]}" --columns last
for output in --csv --svg --journal; do
    refuses 2 "$output needs a file, and cannot go to standard output" "${forty[@]}" "$output" -
done
scored="$(awk -F, '$2 == "late" && $3 == 4 { print $4 }' late_scores.csv)"
[[ "$scored" -gt 5 && "$scored" -lt 20 ]] || fail "a late series is scored where it is known: $scored windows"
grep -q '^series,last,4,0,' late_scores.csv || fail "a series without any history is not scored"
"$program" "${forty[@]}" --together --csv together.csv > /dev/null
"$program" "${late[@]}" --columns wave,ramp,flat,last --together --csv late_together.csv > /dev/null
for report in late_scores late_together; do
    with="$([[ "$report" == late_scores ]] && echo whole.csv || echo together.csv)"
    cmp <(grep -E '^series,(wave|ramp|flat),' "$with") <(grep -E '^series,(wave|ramp|flat),' "$report.csv") ||
        fail "$report: a blank series changes no other"
done

# Epoch times are the clock, which is said; a clock that is named needs no note. Rows out of order are sorted.
awk -F, 'NR == 1 { print "time,wave" } NR > 1 { print 1700000000 + 60 * NR "," $1 }' series.csv > clock.csv
"$program" clock.csv "${forty[@]:1}" 2>&1 > /dev/null | grep -q "Column 'time' holds epoch times: it is taken as the clock" ||
    fail "a clock among the series is noted"
"$program" clock.csv --timestamp time "${forty[@]:1}" 2> notes.txt > /dev/null
[[ ! -s notes.txt ]] || fail "a clock that is named needs no note"
(head -n 1 clock.csv && tail -n +2 clock.csv | tac) > backwards.csv
"$program" clock.csv --timestamp time "${forty[@]:1}" > forwards.txt
"$program" backwards.csv --timestamp time "${forty[@]:1}" > backwards.txt 2> notes.txt
grep -q "has its newest row first: the rows are turned round" notes.txt || fail "rows that are turned round are noted"
cmp forwards.txt backwards.txt || fail "rows in reverse say the same"
refuses 3 "has its newest row first" backwards.csv --strict "${forty[@]:1}"
gzip -c clock.csv > clock.csv.gz
"$program" clock.csv.gz --timestamp time "${forty[@]:1}" > unpacked.txt
cmp forwards.txt unpacked.txt || fail "a gzipped file is read"
"$program" - --timestamp time "${forty[@]:1}" < clock.csv > piped.txt
cmp forwards.txt piped.txt || fail "standard input is read"

# Ended by a signal in the midst, it goes on where it was, and comes to the same numbers.
lines() { if [[ -f "$1" ]]; then wc -l < "$1"; else echo 0; fi; }
has_lines() { [[ "$(lines "$1")" -ge "$2" ]]; }
for signal in INT KILL; do
    rm -f run.journal
    "$program" "${many[@]}" --threads 1 --journal run.journal --csv "$signal.csv" 2> interrupted.txt &
    running=$!
    eventually has_lines run.journal 4
    kill -"$signal" "$running"
    status=0
    wait "$running" 2> /dev/null || status=$?
    [[ ! -e "$signal.csv" ]] || fail "SIG$signal: no report before the end"
    kept="$(lines run.journal)"
    [[ "$kept" -lt 301 ]] || fail "SIG$signal: the run was over before it was interrupted"
    if [[ "$signal" == INT ]]; then
        [[ "$status" -eq 130 ]] || fail "SIGINT: exit code $status"
        grep -q "^backtest: Interrupted. $((kept - 1)) of 300 forecasts are kept in run.journal" interrupted.txt ||
            fail "SIGINT: it says what is kept"
    else
        [[ "$status" -eq 137 ]] || fail "SIGKILL: exit code $status"
        printf '299 1 2 3' >> run.journal  # a line that the kill tore
    fi
    head -n "$kept" run.journal > before
    "$program" "${many[@]}" --journal run.journal --csv "$signal.csv" 2> resumed.txt > /dev/null
    grep -q "$((kept - 1)) of 300 forecasts are done already" resumed.txt || fail "SIG$signal: it says what was done"
    head -n "$kept" run.journal | cmp - before || fail "SIG$signal: what was done stays"
    [[ "$(lines run.journal)" -eq 301 && "$(cut -d' ' -f1 run.journal | sort -u | wc -l)" -eq 301 ]] ||
        fail "SIG$signal: each window is computed once"
done
cmp INT.csv KILL.csv || fail "an interrupt changes nothing"
refuses 6 "not the journal of this run" "${forty[@]}" --journal run.journal

# A disk without room: the error comes, the windows that are done stay.
(
    trap '' XFSZ
    ulimit -f 2
    expect 6 "cannot be written" "$program" "${forty[@]}" --journal full.journal
)
"$program" "${forty[@]}" --journal full.journal --csv full.csv 2> resumed.txt > /dev/null
grep -q "of 40 forecasts are done already" resumed.txt || fail "a full disk loses nothing"
cmp whole.csv full.csv || fail "a full disk changes nothing"
expect 6 "Standard output cannot be written" sh -c '"$@" > /dev/full' sh "$program" "${forty[@]}" --csv unwritten.csv --journal full.journal
[[ -e full.journal ]] || fail "the journal stays when the report is lost"
refuses 6 "not a regular file" "${forty[@]}" --csv /dev/full
refuses 6 "cannot be written" "${forty[@]}" --svg missing/report.svg

# Many series: the terminal shows how long it still takes, and memory does not grow with them (but for their values).
cat > watch.sh << 'END'
"$1" "$2" --horizon 8 --windows 1 --context 32 --samples 128 --threads 1 > "$2.txt" &
while peak="$(awk '/VmHWM/ { print $2 }' "/proc/$!/status" 2> /dev/null)" && [[ -n "$peak" ]]; do
    echo "$peak" > "$2.peak"
    sleep 0.005
done
wait $!
END
for series in 10 3000; do
    awk -v series="$series" 'BEGIN { for (row = -1; row < 64; ++row)
        for (i = 1; i <= series; ++i) printf "%s%s", row < 0 ? "s" i : (row * i) % 7, i < series ? "," : "\n" }' > "$series.csv"
    script -qec "bash watch.sh '$program' $series.csv" /dev/null < /dev/null > "$series.screen" || fail "$series series"
done
grep -q "of 375 forecasts, about [0-9]* s left" 3000.screen || fail "the time left is shown"
[[ "$(cat 3000.csv.peak)" -lt $(($(cat 10.csv.peak) + 20000)) ]] || fail "memory grew with the series: $(cat ./*.peak)"

printf 'a,b\n1,2\n3,x\n5,6\n' > text.csv
refuses 3 "Line 3 of 'text.csv', column 'b': 'x' is not a number" text.csv
refuses 2 "has no column 'c'" series.csv --columns wave,c
printf 'a\n1\n2\n3\n' > short.csv
refuses 3 "has 3 rows, but a window needs at least" short.csv
awk 'BEGIN { print "a,b"; for (row = 0; row < 100; ++row) print row "," }' > gaps.csv
refuses 3 "Column 'b' holds no value" gaps.csv --columns a,b
refuses 3 "cannot be opened" nowhere.csv
refuses 4 "There is no checkpoint at 'nowhere'" series.csv --checkpoint nowhere
refuses 5 "at most 336 steps ahead, but --horizon asks for 380" series.csv --horizon 380
# A context beyond the model's is that of the newest rows; the note is in words that a person knows.
awk 'BEGIN { print "a"; for (row = 0; row < 3000; ++row) print (row * row) % 7 }' > long.csv
"$program" long.csv --context 1500 --windows 2 --samples 16 --csv long_scores.csv 2> long.txt > /dev/null
grep -q 'at most 1,024 rows of history; of --context 1500 the last ones are used' long.txt || fail "$(cat long.txt)"
"$program" long.csv --context 1024 --windows 2 --samples 16 --csv newest_scores.csv > /dev/null 2>&1
cmp long_scores.csv newest_scores.csv || fail "a long context is that of its newest rows"
# Samples beyond what is compiled run in parts, and horizons go on where that is asked for.
"$program" long.csv --context 64 --windows 1 --samples 200 --horizon 340 --extend > /dev/null 2> long.txt
grep -q 'at most 336 steps ahead; what lies beyond' long.txt || fail "$(cat long.txt)"
"$program" --help > help.txt
grep -i bucket help.txt long.txt message && fail "a person never reads that word"
refuses 2 "--horizon must be at least 1" series.csv --horizon 0
grep -q -- --horizon help.txt || fail "--help lists the options"
echo "backtest behaves."
