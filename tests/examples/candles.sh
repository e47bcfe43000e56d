#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `candles` meets: charts, bands and paths, sessions, many symbols, scores, bad input, checkpoints that do
# not fit.
#
#     candles.sh <candles> <scratch folder> <fixtures of Kronos> <oil_candles.csv>
set -euo pipefail
source "$(dirname "$0")/cli.sh" "$1" "$2"
fixtures="$3"  # an absolute path
oil="$4"

# Hours of sessions from 10 to 15, of weekdays from Monday, 2024-03-04 on.
awk 'BEGIN {
    print "Date,Open,High,Low,Close,Volume"
    price = 100
    for (day = 0; day < 40; ++day) {
        for (hour = 10; hour < 16 && day % 7 < 5; ++hour) {
            next_price = price * (1 + 0.01 * sin(day * 1.3 + hour * 2.1))
            date = day < 28 ? sprintf("03-%02d", day + 4) : sprintf("04-%02d", day - 27)
            printf "2024-%s %d:00,%.2f,%.2f,%.2f,%.2f,%d\n", date, hour, price, (price > next_price ? price : \
                next_price) * 1.002, (price < next_price ? price : next_price) * 0.998, next_price, 1000 + day * hour
            price = next_price
        }
    }
}' > candles.csv
model=(--untrained mini --threads 2)

"$program" candles.csv "${model[@]}" --horizon 8 --output bands.csv --all-paths paths.csv --consistent > chart
grep -q 'untrained: it knows nothing' chart || fail "the chart says what it is worth"
[[ "$(wc -l < bands.csv)" -eq 9 ]] || fail "bands have a heading and a row a candle"
[[ "$(wc -l < paths.csv)" -eq 161 ]] || fail "there are 8 candles of 20 paths"
head -1 bands.csv | grep -q 'close_mean,close_q0.1,close_q0.9' || fail "bands have names"
# Behind Friday, 2024-04-12, come Monday's session and two hours of Tuesday's.
tail -1 candles.csv | grep -q '^2024-04-12 15:00' || fail "the last candle is Friday's"
sed -n 2p bands.csv | grep -q '^2024-04-15 10:00' || fail "a weekend has no candles"
tail -1 bands.csv | grep -q '^2024-04-16 11:00' || fail "a night has no candles"
awk -F, 'NR > 1 && ($4 < $3 || $4 < $6 || $5 > $3 || $5 > $6 || $7 < 0) { exit 1 }' paths.csv || fail "consistent"

"$program" candles.csv "${model[@]}" --horizon 8 --no-chart --paths 30 --all-paths more.csv --consistent
head -161 more.csv | cmp - paths.csv || fail "more paths begin with the same ones"
"$program" candles.csv "${model[@]}" --horizon 8 --output - --seed 1 > other.csv
cmp -s bands.csv other.csv && fail "another seed has other paths"
"$program" candles.csv "${model[@]}" --horizon 8 --holdout > holdout
grep -q 'of the last close' holdout || fail "a holdout is scored"
# Without a chart it is scored in words, and in the CSV beside what came.
"$program" candles.csv "${model[@]}" --horizon 8 --holdout --no-chart --output hidden.csv > words
grep -q '^candles  MAE .* of the last close .* 80% band holds' words || fail "a holdout without a chart is scored: $(cat words)"
"$program" candles.csv "${model[@]}" --horizon 8 --holdout --output - | cmp - hidden.csv || fail "the CSV tells it by itself"
head -1 hidden.csv | grep -q 'close_q0.9,close_truth,.*,close_mae,last_close_mae,close_in_80$' || fail "names of what came"
# Columns 2 to 25: of each column the mean, two quantiles and what came.
cmp <(awk -F, 'NR > 1 { print $1 "," $5 "," $9 "," $13 "," $17 "," $21 }' hidden.csv) \
    <(tail -8 candles.csv | awk -F, '{ print $1 "," $2 + 0 "," $3 + 0 "," $4 + 0 "," $5 + 0 "," $6 }') || fail "what came"
last="$(tail -9 candles.csv | head -1 | cut -d, -f5)"
awk -F, -v last="$last" 'NR > 1 { sum += $17 > last ? $17 - last : last - $17; told = $27 }
    END { exit !(told > 0 && (told / (sum / 8) - 1) ^ 2 < 1e-8) }' hidden.csv || fail "the last close is off by that"
cut -d, -f1-5 candles.csv > prices.csv
"$program" prices.csv "${model[@]}" --output - > /dev/null 2> note
grep -q "no column 'volume'" note || fail "a missing volume is told"
awk -F, 'NR > 1 { for (i = 2; i <= NF; ++i) if (length($i) > 15) exit 1 }' bands.csv || fail "floats are short"
awk -F, 'NR == 1 { print } NR > 1 { print $1 ",$" $2 ",$" $3 ",$" $4 ",$" $5 "," $6 "K" }' candles.csv > units.csv
"$program" units.csv "${model[@]}" --output - > /dev/null 2> note
grep -q "of open, high, low and close are in '\$', those of volume are in 'K'; charts, scores and CSV leave units out" note ||
    fail "units are told: $(cat note)"

# Files as providers write them, and as hands leave them, are forecast alike, and notes tell what was done.
quick=("${model[@]}" --context 32 --horizon 2 --paths 2 --output -)
"$program" candles.csv "${quick[@]}" --strict > quick.csv  # its nights and weekends are no error
{ echo '<DATE>;<OPEN>;<HIGH>;<LOW>;Price;<VOL>'; tail -n +2 candles.csv | tac | tr ',.' ';,'; } > provider.csv
"$program" provider.csv "${quick[@]}" 2> note | cmp - quick.csv || fail "other names, the newest row first"
grep -q "Column 'Price' is taken for close" note || fail "a price is told to stand for the close"
[[ "$(grep -c 'decimal commas' note)" -eq 1 ]] || fail "decimal commas are told"
grep -q 'has its newest row first: the rows are turned round' note || fail "it is told that rows were turned round"
awk 'NR != 9 { print } NR == 20 { print held; print } NR == 9 { held = $0 }' candles.csv > unsorted.csv
"$program" unsorted.csv "${quick[@]}" 2> note | cmp - quick.csv || fail "rows are sorted"
grep -q 'not in the order of time .*: they are sorted' note || fail "it is told that rows were sorted"
grep -q '1 row with the time of another one' note || fail "it is told that a row was left out"
refuses 3 "Without --strict the rows are turned round" provider.csv "${model[@]}" --strict
refuses 3 "Without --strict they are sorted" unsorted.csv "${model[@]}" --strict
refuses 3 "leave --as-is out" unsorted.csv "${model[@]}" --as-is

# Many symbols, of different lengths: in one file, and as a folder.
grep -v -e '^20[^,]*,Brent' -e '^201[678]-.*' "$oil" > wti.csv
{ cat wti.csv; grep ',Brent,' "$oil"; } > oil.csv
"$program" oil.csv "${model[@]}" --horizon 6 --output both.csv --svg both.svg --holdout > both 2> note
[[ "$(wc -l < both.csv)" -eq 13 ]] || fail "a heading, and 6 candles of two symbols"
head -1 both.csv | grep -q '^symbol,time,open_mean' || fail "a column tells the symbol"
grep -c '^Brent,2026-0[78]-' both.csv | grep -qx 6 || fail "the holdout is the last weeks"
grep -q '^WTI  MAE .* of the last close .* 80% band holds' both || fail "each symbol is scored"
grep -q '║' both || fail "the chart has candles that rise"
grep -q '█' both || fail "the chart has candles that fall"
[[ "$(grep -c 'class="panel"' both.svg)" -eq 2 ]] || fail "the picture has a panel for each symbol"
if command -v xmllint > /dev/null; then xmllint --noout both.svg || fail "the picture is XML"; fi
# A symbol alone has the candles that it has beside others, if it is the first one.
"$program" oil.csv "${model[@]}" --horizon 6 --symbols WTI --output alone.csv --holdout --quiet --no-chart > /dev/null
head -1 alone.csv | grep -q '^symbol,time,open_mean' || fail "a symbol that was chosen has the columns of several"
grep '^WTI,' both.csv | cmp - <(tail -n +2 alone.csv) || fail "a symbol does not depend on others"
mkdir -p folder
cut -d, -f1,3- wti.csv > folder/WTI.csv
sed '1!{/,Brent,/!d}' "$oil" | cut -d, -f1,3- | gzip > folder/Brent.csv.gz
"$program" folder "${model[@]}" --horizon 6 --output folder.csv --holdout --quiet --no-chart > /dev/null
cut -d, -f1 folder.csv | uniq | tr '\n' ' ' | grep -qx 'symbol Brent WTI ' || fail "a folder has a file for each symbol"
"$program" folder "${model[@]}" --horizon 6 --symbols WTI --output - --holdout --quiet | cmp - alone.csv ||
    fail "a folder holds the same"
"$program" oil.csv "${model[@]}" --horizon 6 --backtest 3 --paths 5 --quiet > scores
[[ "$(grep -c 'of the last close' scores)" -eq 3 ]] || fail "two symbols are scored, and both together"
grep -q '3 windows of 6 candles each' scores || fail "the scores tell of how many windows"

head -c -7 oil.csv > torn.csv
"$program" torn.csv "${model[@]}" --horizon 1 --output - 2> note > /dev/null
grep -q 'the last one, is not whole; it is left out' note || fail "a torn row of a symbol is told: $(cat note)"

# The decimal commas of one symbol tell that points part thousands in the other one.
{
    echo 'date;symbol;open;high;low;close'
    for day in 1 2 3 4 5 6 7 8; do
        echo "2024-01-0$day;A;1.20$day;1.300;1.100;1.25$day"
        echo "2024-01-0$day;B;98,5$day;99,5;97,5;98,6$day"
    done
} > thousands.csv
"$program" thousands.csv "${model[@]}" --horizon 1 --output - --quiet | grep -qE '^A,2024-01-09,1[12][0-9]{2}' ||
    fail "thousands of one symbol are read as the file tells"

sed 's/,Brent,/,"\x1b[31mBrent",/' oil.csv > colour.csv
"$program" colour.csv "${model[@]}" --horizon 6 --backtest 1 --paths 2 --quiet > scores
grep -qF '\x1b[31mBrent  MAE' scores || fail "a name does not speak to the terminal: $(cat -v scores)"

refuses 3 "There is no symbol 'Gas'" oil.csv "${model[@]}" --symbols WTI,Gas
refuses 3 "no column 'name', which --symbol-column names" oil.csv "${model[@]}" --symbol-column name
awk 'NR == 9 { sub(/,WTI,/, ",,") } { print }' oil.csv > bad.csv
refuses 3 "has nothing in column 'symbol'" bad.csv "${model[@]}"
head -3 oil.csv > bad.csv && tail -1 oil.csv >> bad.csv
refuses 3 "symbol 'Brent' has 1 candle" bad.csv "${model[@]}"
mkdir -p empty
refuses 3 "holds no file whose name ends in .csv" empty "${model[@]}"
mkdir -p twice links
cp folder/WTI.csv twice && gzip -c folder/WTI.csv > twice/WTI.csv.gz
refuses 3 "two files for the symbol 'WTI', 'WTI.csv' and 'WTI.csv.gz'; leave one out" twice "${model[@]}"
ln -s ring.csv links/ring.csv
refuses 3 "'links/ring.csv' cannot be opened" links "${model[@]}"
refuses 3 "'links/ring.csv' cannot be opened" links/ring.csv "${model[@]}"
refuses 3 "before the 600 that are hidden" oil.csv "${model[@]}" --horizon 60 --backtest 10
refuses 2 "--backtest prints scores alone" oil.csv "${model[@]}" --backtest 2 --holdout

for output in --all-paths --svg; do
    refuses 2 "$output needs a file, and cannot go to standard output" candles.csv "${model[@]}" "$output" -
done
"$program" candles.csv "${quick[@]}" --quantiles 0.9,0.5,0.1,0.5,0.50 | head -1 |
    grep -q '^time,open_mean,open_q0.1,open_q0.5,open_q0.9,high_mean' || fail "each quantile once, in order"
cut -d, -f1-4 candles.csv > bad.csv
refuses 3 "no column of numbers 'close'" bad.csv "${model[@]}"
awk 'NR == 9 { sub(/,[0-9.]*,/, ",abc,") } { print }' candles.csv > bad.csv
refuses 3 "'abc' is not a number" bad.csv "${model[@]}"
awk 'NR == 9 { sub(/,[0-9.]*,/, ",inf,") } { print }' candles.csv > bad.csv
refuses 3 "for open at '2024-03-05 11:00'" bad.csv "${model[@]}"
awk 'NR == 9 { sub(/,[0-9.]*,/, ",1e300,") } { print }' candles.csv > bad.csv
refuses 3 "beyond the range of a float" bad.csv "${model[@]}"
{ cat candles.csv; sed -n '9s/,[0-9]*$/,1/p' candles.csv; } > bad.csv
refuses 3 "the time of another one and other values" bad.csv "${model[@]}"
sed '1s/Volume/OPEN/' candles.csv > bad.csv
refuses 3 "may be open, 'Open' and 'OPEN'" bad.csv "${model[@]}"
head -2 candles.csv > bad.csv
refuses 3 "1 candle; a forecast needs two or more" bad.csv "${model[@]}"
cut -d, -f2- candles.csv > bad.csv
refuses 3 "no column of dates and times" bad.csv "${model[@]}"
refuses 3 "cannot be opened" nowhere.csv "${model[@]}"

cp candles.csv kept.csv
for output in --output --svg --all-paths; do
    refuses 2 "$output is the input file itself" candles.csv "${model[@]}" "$output" ./candles.csv
done
refuses 2 "--output and --svg are the same file" candles.csv "${model[@]}" --output new.csv --svg new.csv
refuses 2 "--output is a file of the input folder" folder "${model[@]}" --output folder/WTI.csv
expect 2 "--output is the input file itself" "$program" - "${model[@]}" --output candles.csv < candles.csv
cmp candles.csv kept.csv || fail "the input is as it was"
[[ ! -e new.csv ]] || fail "nothing is written where two outputs are one"

refuses 2 "A model is two folders" candles.csv
refuses 2 "leave one of them out" candles.csv --untrained mini --tokenizer "$fixtures/head_of_52/tokenizer"
refuses 2 "--untrained takes one of the models" candles.csv --untrained enormous
refuses 2 "--horizon must be at most" candles.csv "${model[@]}" --horizon 1000
refuses 2 "--temperature must be above 0" candles.csv "${model[@]}" --temperature 0
refuses 2 "--top-p must be above 0" candles.csv "${model[@]}" --top-p 1.5
refuses 4 "has 2 layers of width 104" candles.csv --tokenizer "$fixtures/head_of_52/tokenizer" \
    --predictor "$fixtures/head_of_52/predictor"
refuses 4 "Perhaps --tokenizer and --predictor are exchanged" candles.csv \
    --tokenizer "$fixtures/head_of_52/predictor" --predictor "$fixtures/head_of_52/tokenizer"
# Both configurations are those of mini, and the weights end early.
for part in tokenizer predictor; do
    mkdir -p "cut/$part"
    sed -E 's/("d_model"): [0-9]+/\1: 256/; s/("n_heads"): 2/\1: 4/; s/("ff_dim"): [0-9]+/\1: 512/
        s/("s[12]_bits"): 5/\1: 10/; s/("n_(enc_)?layers"): 2/\1: 4/' \
        "$fixtures/head_of_52/$part/config.json" > "cut/$part/config.json"
    head -c 1000 "$fixtures/head_of_52/$part/model.safetensors" > "cut/$part/model.safetensors"
done
refuses 4 "it may be truncated" candles.csv --tokenizer cut/tokenizer --predictor cut/predictor
refuses 6 "nowhere" candles.csv "${model[@]}" --output nowhere/bands.csv
