#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `stream` meets: scores, gaps, late and malformed lines, an interrupt, bad input, full disks.
#
#     stream.sh <stream> <scratch folder>
set -euo pipefail
source "$(dirname "$0")/cli.sh" "$@"

# A wave, one observation every ten seconds; the 150th is far out.
awk 'BEGIN {
    print "time,wave,slow"
    for (row = 1; row <= 200; ++row) {
        printf "%d,%.4f,%.4f\n", 1700000000 + 10 * row, row == 150 ? 500 : 10 + 3 * sin(row / 3), row / 50
    }
}' > clean.csv
named=(--timestamp time)

"$program" "${named[@]}" < clean.csv > clean.out 2> clean.txt
head -n 1 clean.out | grep -qx 'kind,time,variate,value,low,median,high,position,score,alarm' || fail "the heading"
# The first forecast follows two patches of 16: from then on each value is scored, and each patch is forecast.
[[ "$(grep -c '^observed,' clean.out)" -eq $((2 * (200 - 32))) ]] || fail "each value after the 32nd line is scored"
[[ "$(grep -c '^forecast,' clean.out)" -eq $((2 * 16 * 11)) ]] || fail "eleven patches are forecast"
grep -q '^observed,1700001500,wave,500,.*,1,[0-9.]*,1$' clean.out || fail "what is far out is an alarm"
grep -q '^forecast,1700000330,wave,,' clean.out || fail "forecasts bear the times to come"
awk -F, 'NF != 10 { exit 1 }
    $1 == "observed" && !($5 <= $6 && $6 <= $7 && $8 >= 0 && $8 <= 1 && $9 >= 0) { exit 1 }' clean.out ||
    fail "quantiles ascend, positions are shares"
grep -q '^stream: 200 lines: 200 used, 0 late, 0 malformed.$' clean.txt || fail "the summary counts lines"
grep -q '^stream: 11 forecasts: p50 .* p99 .* largest' clean.txt || fail "the summary has latencies"

# Lines that cannot be used change nothing for the others.
awk 'NR == 60 { print "1700000010,1,1"; print "1700000595,oops,2"; print "1700000596,1"; print ",1,2"
    print "yesterday,1,2"; print "\"1700000597,1,2"; print "\0,1,2"; print "" }
    NR == 90 { print "1700000900000,1,2" } { print }' clean.csv > planted.csv
"$program" "${named[@]}" < planted.csv > planted.out 2> planted.txt
cmp clean.out planted.out || fail "late and malformed lines are left out"
grep -q '^stream: 208 lines: 200 used, 1 late, 7 malformed.$' planted.txt || fail "they are counted, but for the blank one"
grep -q "Line 61 is left out: 'oops' for wave is not a finite number" planted.txt || fail "the first are named"
[[ "$(grep -c 'is left out' planted.txt)" -eq 6 ]] || fail "only the first few of each kind are named"

# Gaps in a line, and lines that did not come.
awk -F, -v OFS=, 'NR > 70 && NR < 80 { next } NR == 100 { $2 = "" } NR == 101 { $3 = "nan" } { print }' clean.csv > gaps.csv
"$program" "${named[@]}" < gaps.csv > gaps.out 2> gaps.txt
grep -q '^stream: 20 values missing' gaps.txt || fail "nine lines of two values and two more are missing"
[[ "$(grep -c '^observed,' gaps.out)" -eq $((2 * (200 - 32) - 20)) ]] || fail "what did not come is not scored"

# A variate that is blank for longer than the context: it comes late, it stops, or nothing comes at all for a while.
awk -F, -v OFS=, '{ $4 = NR == 1 ? "fan" : NR <= 41 ? "" : NR % 5; print }' clean.csv > late_fan.csv
"$program" "${named[@]}" < late_fan.csv > late_fan.out 2> late_fan.txt || fail "a variate may come late: $(cat late_fan.txt)"
[[ "$(grep -c '^observed,.*,wave,' late_fan.out)" -eq 168 ]] || fail "the others are scored meanwhile"
# The forecast after the 48th line is the first that knows it.
[[ "$(grep -c '^observed,.*,fan,' late_fan.out)" -eq 152 ]] || fail "it is scored from then on"
awk -F, -v OFS=, 'NR > 101 { $3 = "" } { print }' clean.csv > stopped.csv
"$program" "${named[@]}" --context 64 < stopped.csv > stopped.out 2> stopped.txt ||
    fail "a variate may stop: $(cat stopped.txt)"
[[ "$(grep -c '^observed,.*,wave,' stopped.out)" -eq 168 ]] || fail "the others are scored after it has stopped"
grep -q '^forecast,1700001610,slow,' stopped.out || fail "what stopped is forecast while the context has some of it"
grep -q '^forecast,1700001770,slow,' stopped.out && fail "what stopped long ago is not forecast"
awk -F, -v OFS=, 'NR > 101 { $1 += 6000 } { print }' clean.csv > paused.csv
"$program" "${named[@]}" < paused.csv > paused.out 2> paused.txt || fail "a pause is no end: $(cat paused.txt)"
grep -q '^stream: 200 lines: 200 used, 0 late, 0 malformed.$' paused.txt || fail "no line is lost by a pause"
[[ "$(grep -c '^observed,' paused.out)" -eq $((2 * (200 - 32 - 1))) ]] || fail "only what follows the pause is not scored"

# Each line, and not only each patch; without times, and without a header.
tail -n +2 clean.csv | cut -d, -f2,3 | head -n 40 > bare.csv
"$program" --variates 2 --every 1 --horizon 1 < bare.csv > bare.out 2> /dev/null
[[ "$(grep -c '^forecast,' bare.out)" -eq $((2 * 9)) ]] || fail "a forecast follows each line"
tail -n 1 bare.out | grep -q '^forecast,41,2,' || fail "steps count lines when there is no time"
"$program" --variates 2 --every 1 --horizon 1 --scores-only < bare.csv > scores.out 2> /dev/null
[[ "$(grep -c '^observed,' scores.out)" -eq $((2 * 8)) ]] || fail "--scores-only prints scores"
grep -q '^forecast' scores.out && fail "--scores-only prints no forecasts"
"$program" --variates 2 --horizon 3 < bare.csv > short.out 2> /dev/null
[[ "$(grep -c '^forecast,' short.out)" -eq $((2 * 3)) ]] || fail "--horizon is what is printed"
[[ "$(grep -c '^observed,' short.out)" -eq $((2 * 8)) ]] || fail "all is scored, however little is printed"

# An observation is answered as it comes. Neither many lines nor one without an end need more memory. An interrupt ends
# the waiting for the next line, in order.
mkfifo pipe
"$program" "${named[@]}" < pipe > live.out 2> live.txt &
running=$!
exec 3> pipe
memory() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$running/status"; }
head -n 60 clean.csv >&3
eventually grep -q "^observed,1700000590,slow" live.out
before="$(memory)"
awk 'BEGIN { for (i = 0; i < 8000000; ++i) printf "x"; print ""
    for (row = 60; row <= 3000; ++row) print 1700000000 + 10 * row ",1," row % 7 }' >&3
eventually grep -q "^observed,1700030000,slow" live.out
[[ "$(memory)" -lt $((before + 4096)) ]] || fail "memory grew from $before to $(memory) KiB"
printf '1700030010,1,2' >&3  # torn: the end of the line has not come
sleep 0.3
kill -INT "$running"
wait "$running" || fail "an interrupt is a usual end, not exit code $?"
exec 3>&-
grep -q '^stream: 3,001 lines: 3,000 used, 0 late, 1 malformed' live.txt || fail "the summary comes after an interrupt"
grep -q 'it is longer than a mebibyte' live.txt || fail "a line without an end is left out"

# A stream reads what forecast reads in a file of the same lines. reads <file> <variates> <lines used>: no line is lost.
reads() {
    "$program" --scores-only < "$1" > read.out 2> read.txt || fail "$1: $(cat read.txt)"
    [[ "$(tail -n +2 read.out | cut -d, -f3 | sort -u | paste -sd,)" == "$2" ]] ||
        fail "$1: its variates are $2, not $(tail -n +2 read.out | cut -d, -f3 | sort -u | paste -sd,)"
    grep -q "^stream: $3 lines: $3 used, 0 late, 0 malformed.$" read.txt || fail "$1: $3 lines are used: $(cat read.txt)"
}
# A column without a name that counts the rows, from 0 or from 1, is the clock, or left out beside one.
for first in 0 1; do
    awk -F, -v OFS=, -v first="$first" 'NR == 1 { print "", $2; next } { print NR - 2 + first, $2 }' clean.csv > rows.csv
    reads rows.csv wave 200
    grep -q "'column_1' without a name counts the rows: it is taken as the clock" read.txt || fail "$(cat read.txt)"
    awk -F, -v OFS=, -v first="$first" 'NR == 1 { print "", $0; next } { print NR - 2 + first, $0 }' clean.csv > index.csv
    reads index.csv slow,wave 200
    cmp <("$program" < index.csv 2> /dev/null) clean.out || fail "the numbers of rows change nothing"
    grep -q "'column_1' without a name counts the rows and is left out" read.txt || fail "$(cat read.txt)"
done
# Columns of text cost no line: full, with text now and then, and with text after many blank fields.
awk -F, -v OFS=, '{ print $1, NR == 1 ? "host" : "web", $2, $3, NR == 1 ? "remark" : NR % 4 == 3 ? "ok" : "",
    NR == 1 ? "event" : NR == 90 ? "restart" : "" }' clean.csv > labels.csv
reads labels.csv slow,wave 200
cmp <("$program" < labels.csv 2> /dev/null) clean.out || fail "columns of text change nothing"
grep -q "Columns 'host', 'remark' hold text and are left out" read.txt || fail "$(cat read.txt)"
[[ "$(grep -c "'event', blank so far, holds text, such as 'restart'" read.txt)" -eq 1 ]] || fail "$(cat read.txt)"
# Titles above the header.
{
    echo "Export of machine 7, load and more"
    echo "Made by hand"
    cat clean.csv
} > titled.csv
reads titled.csv slow,wave 200
cmp <("$program" < titled.csv 2> /dev/null) clean.out || fail "titles change nothing"
grep -q "has 2 lines before its table; they are passed over" read.txt || fail "$(cat read.txt)"
awk 'BEGIN { for (line = 0; line < 14; ++line) print "A line of prose" } { print }' clean.csv > prose.csv
reads prose.csv slow,wave 200
# The order of days and months may show in a later one of the first lines.
awk -F, -v OFS=, 'NR == 1 { print "day", $2; next } NR <= 60 { d = NR + 7
    printf "%02d/%02d/2026,%s\n", (d - 1) % 28 + 1, int((d - 1) / 28) + 1, $2 }' clean.csv > days.csv
reads days.csv wave 59
# Blank lines are nothing in a table; in a single column they are steps, but not at the end.
(sed 's/^1700000500,/\n&/' clean.csv && printf '\n\n  \n') > blank.csv
reads blank.csv slow,wave 200
cmp <("$program" < blank.csv 2> /dev/null) clean.out || fail "blank lines change nothing"
(cut -d, -f2 clean.csv | sed '100s/$/\n\n/' && printf '\n\n') > column.csv
reads column.csv wave 202
grep -q '^stream: 2 values missing' read.txt || fail "two steps are blank: $(cat read.txt)"
grep -Eq '^observed,10[01],' read.out && fail "a blank line is not scored"
grep -q '^observed,102,' read.out || fail "it is counted"
# Values that vary by too little for the model, and units, are told once.
awk -F, -v OFS=, 'NR == 1 { print $0, "tiny"; next } { print $1, $2 " %", "$" $3, $2 / 1000 }' clean.csv > units.csv
reads units.csv slow,tiny,wave 200
cmp <("$program" --columns wave,slow < units.csv 2> /dev/null) clean.out || fail "units change no value"
[[ "$(grep -c "are in the unit of the first one of their column: 'wave' in '%', 'slow' in '\$'" read.txt)" -eq 1 ]] ||
    fail "units are told once: $(cat read.txt)"
[[ "$(grep -c "'tiny' have a standard deviation below 0.1" read.txt)" -eq 1 ]] || fail "$(cat read.txt)"

expect 3 "ended before a forecast could be made: 5 lines could be used, and 32 are needed" \
    sh -c 'head -n 6 clean.csv | "$1" --timestamp time --quiet' sh "$program"
expect 3 "could be made: 0 lines" sh -c '"$1" < /dev/null' sh "$program"
"$program" --every 1 --horizon 1 < bare.csv > headless.out 2> headless.txt
[[ "$(grep -c '^observed,.*,column_2,' headless.out)" -eq 8 ]] || fail "a stream needs no header"
grep -q "has no header" headless.txt || fail "which is told"
grep -q -- "--header" headless.txt && fail "an option is advised that there is not"
# The clock needs no name, nor do separators and decimal commas. Rows out of order are told once each kind, or refused.
tr ',.' ';,' < clean.csv > german.csv
"$program" < german.csv > german.out 2> german.txt
cmp <(cut -d, -f1-3 clean.out) <(cut -d, -f1-3 german.out) || fail "a stream with decimal commas is the same"
grep -q "Column 'time' holds epoch times: it is taken as the clock" german.txt || fail "the clock is told"
# Packed, or in UTF-16.
gzip < clean.csv | "$program" "${named[@]}" > packed.out 2> packed.txt
cmp clean.out packed.out || fail "gzip is unpacked: $(cat packed.txt)"
iconv -f utf-8 -t utf-16 < clean.csv | "$program" "${named[@]}" > utf16.out 2> utf16.txt
cmp clean.out utf16.out || fail "UTF-16 is read: $(cat utf16.txt)"
expect 3 "amid what gzip compressed" sh -c 'gzip < clean.csv | head -c 800 | "$1"' sh "$program"
# Epoch times are the clock whatever their name, as in files.
sed 's/^time,/kept,/' clean.csv > renamed.csv
"$program" < renamed.csv > renamed.out 2> renamed.txt
cmp clean.out renamed.out || fail "a stream finds the clock as files do"
grep -q "Column 'kept' holds epoch times: it is taken as the clock" renamed.txt || fail "which is told: $(cat renamed.txt)"
awk -F, -v OFS=, 'NR == 1 { print "date,clock", $2, $3; next }
    { t = $1 - 1700000000; printf "2026-01-05,%02d:%02d:%02d,%s,%s\n", t / 3600, t % 3600 / 60, t % 60, $2, $3 }' \
    clean.csv > joined.csv
"$program" < joined.csv > joined.out 2> joined.txt
cmp <(cut -d, -f1,3- clean.out) <(cut -d, -f1,3- joined.out) || fail "a date and a time are the clock together"
grep -q '^forecast,2026-01-05 00:05:30,wave,' joined.out || fail "which goes on"
awk 'NR == 50 { print "1700000010,1,1"; print "1700000480,1,1" } NR != 60 { print }' clean.csv > disorder.csv
"$program" "${named[@]}" < disorder.csv 2> disorder.txt > /dev/null
grep -q "Line 50 is left out: its time, 1700000010, is before" disorder.txt || fail "late: $(cat disorder.txt)"
grep -q "Line 51 has the time of the line before" disorder.txt || fail "repeated: $(cat disorder.txt)"
grep -q "comes after 1 missing step, which becomes a gap" disorder.txt || fail "missing: $(cat disorder.txt)"
expect 3 "Line 50 is left out" sh -c '"$1" --timestamp time --strict < disorder.csv' sh "$program"
# A row for each value looks like repeated rows. The summary tells so, and not of a row or two.
awk -F, 'NR == 1 { print "time,series,value"; next } { print $1 ",wave," $2; print $1 ",slow," $3 }' \
    clean.csv > stacked.csv
"$program" "${named[@]}" < stacked.csv > stacked.out 2> stacked.txt
grep -q '^stream: 400 lines: 200 used, 200 late' stacked.txt || fail "one of two rows is used: $(cat stacked.txt)"
grep -q '^stream: 200 lines had the time of the line before[.] If' stacked.txt || fail "stacked: $(cat stacked.txt)"
! grep -q 'had the time of the line before' planted.txt || fail "a late line is no further series: $(cat planted.txt)"
(head -n 1 clean.csv && tail -n +2 clean.csv | tac) > backwards.csv
expect 3 "is the newest one first?" sh -c '"$1" --timestamp time < backwards.csv' sh "$program"
"$program" --as-is "${named[@]}" < backwards.csv 2>&1 > /dev/null | grep -q "200 used" || fail "--as-is takes all"
expect 2 "has no column 'missing'" sh -c '"$1" --columns wave,missing < clean.csv' sh "$program"
expect 4 "There is no checkpoint at 'nowhere'" sh -c '"$1" --checkpoint nowhere < clean.csv' sh "$program"
expect 5 "at most 336 steps ahead, but --every asks for 400" sh -c '"$1" --every 400 < clean.csv' sh "$program"
grep -i bucket message && fail "a person never reads that word"
"$program" --help | grep -i bucket && fail "a person never reads that word"
# A context beyond the model's is that of its newest lines.
"$program" "${named[@]}" --context 100000 < clean.csv > long.out 2> long.txt
cmp clean.out long.out || fail "a context that is longer than what came changes nothing"
grep -q 'at most 1,024 rows of history; of --context 100000 the last ones are used' long.txt || fail "$(cat long.txt)"
# More variates than the model takes at once are forecast in groups.
awk -F, -v OFS=, 'NR <= 60 { for (i = 0; i < 17; ++i) $(4 + i) = NR == 1 ? "v" i : $2 + i; print }' clean.csv > wide.csv
"$program" "${named[@]}" --samples 20 < wide.csv > wide.out 2> wide.txt
grep -q "These saw each other: 'wave' to 'v7'; 'v8' to 'v16'" wide.txt || fail "$(cat wide.txt)"
[[ "$(grep -c '^observed,.*,v16,' wide.out)" -eq $((59 - 32)) ]] || fail "all variates are scored"
expect 6 "Standard output cannot be written: No space left" sh -c '"$1" < clean.csv > /dev/full' sh "$program"
# A reader that has seen enough: no advice about room.
{
    head -n 1 clean.csv
    sleep 1
    tail -n +2 clean.csv
} | { "$program" "${named[@]}" 2> message || echo "$?" > status; } | head -n 1 > /dev/null
[[ "$(cat status)" -eq 6 ]] || fail "a closed pipe is exit code 6"
grep -q 'Standard output cannot be written: Broken pipe\.$' message || fail "a closed pipe is named: $(cat message)"
expect 3 "the only column, 'time', holds timestamps" \
    sh -c 'printf "time\n2026-01-01\n2026-01-02\n" | "$1"' sh "$program"
expect 3 "--date-format" sh -c 'printf "d,a\n01/02/2026,1\n" | "$1"' sh "$program"
expect 2 "--every" "$program" --every -1
expect 2 "Write the values of one time in one line first" "$program" --series host --value v
"$program" --help > help.txt
grep -q -- --every help.txt || fail "--help lists the options"
echo "stream behaves."
