#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What users of the programs meet with a checkpoint of Toto 2.0, in the layout in which it is published: an untrained
# one, so that what is forecast means nothing, but is what the library forecasts.
#
#     toto2.sh <untrained_toto2> <scratch folder> <folder of the demo model> <folder of the programs>
set -euo pipefail
demo_model="$(realpath "$3")"
programs="$(realpath "$4")"
source "$(dirname "$0")/cli.sh" "$@"
untrained="$program"
export TOTOGRAPH_CACHE_DIR="$PWD/cache"
unset TOTOGRAPH_MODE TOTOGRAPH_DISABLE TOTOGRAPH_LOGS
"$untrained" write model

# near <ours> <theirs> <least>: the numbers of two files, from 0 to about 20, are as near as sums in another order leave
# them: single steps of float there are 2e-6.
near() {
    paste -d, "$1" "$2" | awk -F, -v rows="$3" '
        { for (i = 1; i <= NF / 2; ++i) { d = $i - $(i + NF / 2); if (!(d < 1e-4 && d > -1e-4)) exit 1 } }
        END { exit NR != rows }' || fail "$1 is not $2"
}

# forecast: numbers as the library gives them, at the model's levels and between.
program="$programs/forecast"
awk 'BEGIN { print "wave,ramp,price"; for (row = 0; row < 300; ++row) printf "%.3f,%.3f,%.3f\n", 10 + 3 * sin(row / 5), row % 24 / 2, row % 7 }' > series.csv
(cat series.csv && awk 'BEGIN { for (row = 300; row < 340; ++row) printf ",,%.3f\n", row % 7 }') > known.csv
quantiles=(--checkpoint model --quantiles 0.1,0.25,0.9 --no-chart)
"$program" series.csv "${quantiles[@]}" --horizon 40 --output forecast.csv --svg forecast.svg --quiet
[[ "$(head -n 1 forecast.csv)" == step,series,median,quantile_0.1,quantile_0.25,quantile_0.9 ]] || fail "$(head -n 1 forecast.csv)"
"$untrained" forecast model 40 0 < series.csv > library.csv
near <(tail -n +2 forecast.csv | cut -d, -f3-) library.csv 120
grep -q '80% band' forecast.svg && grep -q 'quantiles of the model' forecast.svg || fail "the picture tells what it shows"
"$program" known.csv "${quantiles[@]}" --exogenous price --horizon 40 --output known_forecast.csv 2> notes
! grep -q 'exogenous' notes || fail "a known future needs no note: $(cat notes)"
"$untrained" forecast model 40 1 < known.csv > known_library.csv
near <(tail -n +2 known_forecast.csv | cut -d, -f3-) known_library.csv 80
cmp -s <(head -n 81 forecast.csv) known_forecast.csv && fail "what is known changes what is forecast"
# The scores of a hold-out, charts and tables.
"$program" series.csv --checkpoint model --targets wave --holdout --horizon 40 --table --chart > table.txt
grep -q 'quantile 0.9' table.txt && grep -q 'MAE .* (baseline .*), MASE' table.txt && grep -q '80%' table.txt || fail "$(cat table.txt)"
# One column by itself, with a long history, and a horizon beyond the model's.
awk 'BEGIN { print "a"; for (row = 0; row < 5000; ++row) print row % 50 }' > long.csv
"$program" long.csv --checkpoint model --horizon 800 --extend --context 5000 --no-chart --output long_forecast.csv 2> notes
[[ "$(wc -l < long_forecast.csv)" -eq 801 ]] || fail "an extended forecast is as long as it should be"
grep -q 'at most 4,096 rows of history' notes && grep -q 'at most 768 steps ahead' notes || fail "$(cat notes)"
"$program" series.csv --checkpoint model --explain > explained.txt
grep -q 'forecast: the context and all patches' explained.txt || fail "$(cat explained.txt)"
# What such a model cannot give.
refuses 2 "--samples is for models that draw futures, but Toto 2.0 4m forecasts quantiles, from 0.1 to 0.9" series.csv --checkpoint model --samples 20
refuses 2 "--samples is for models" series.csv --checkpoint model --samples 0
refuses 2 "--seed is for models that draw futures" series.csv --checkpoint model --seed 3
refuses 2 "but --quantiles asks for 0.95; ask for some between these" series.csv --checkpoint model --quantiles 0.5,0.95
refuses 5 "at most 768 steps ahead, but --horizon asks for 5,000" series.csv --checkpoint model --horizon 5000
awk 'BEGIN { print "huge"; for (row = 0; row < 100; ++row) print row % 2 ? "3e38" : "-3e38" }' > huge.csv
expect 8 "values that the model gave are no finite numbers" "$program" huge.csv --checkpoint model --horizon 64

# Which model a checkpoint is, or why it is none that the program reads.
# configured <folder> <sed expression>: the checkpoint with another config.json.
configured() {
    mkdir "$1"
    ln model/model.safetensors "$1"
    sed -e "$2" model/config.json > "$1/config.json"
}
configured large 's/"d_model": 256/"d_model": 1024/; s/"num_layers": 4/"num_layers": 24/; s/688/2736/; s/"num_heads": 4/"num_heads": 16/; s/"layer_group_size": 4/"layer_group_size": 24/'
refuses 4 "'large' is Toto 2.0 313m, but this program was compiled for the demo model, " series.csv --checkpoint large
grep -q -- '-DTOTOGRAPH_PROGRAM_MODELS="demo;.*;toto2_313m" to have that model' message || fail "$(cat message)"
configured part 's/"d_model": 256/"d_model": 1024/; s/"num_layers": 4/"num_layers": 24/'
expect 4 "'num_heads': expected 16, found 4" "$program" series.csv --checkpoint part
grep -q "'d_ff': expected 2736, found 688" message || fail "$(cat message)"
configured other 's/"d_model": 256/"d_model": 384/'
refuses 4 "is of the Toto 2.0 kind, with a d_model of 384 and 4 layers: it is none of the models" series.csv --checkpoint other
configured older 's/"d_model"/"embed_dim"/'
refuses 4 "is of the Toto 1.0 kind, with an embed_dim of 256: it is none of the models" series.csv --checkpoint older
configured neither 's/"d_model"/"width"/'
refuses 4 "has neither a d_model, as those of Toto 2.0 have, nor an embed_dim" series.csv --checkpoint neither
grep -q 'Toto Open Base 1.0, Toto 2.0 4m, Toto 2.0 22m, Toto 2.0 313m' message || fail "$(cat message)"
configured text 's/"d_model": 256/"d_model": "wide"/'
refuses 4 "The field 'd_model' of the configuration 'text/config.json' must be of the type integer" series.csv --checkpoint text
configured broken 's/}//'
refuses 4 "The configuration 'broken/config.json'" series.csv --checkpoint broken
configured biased 's/"mlp_bias": false/"mlp_bias": true/'
expect 4 "'mlp_bias': expected false, found true" "$program" series.csv --checkpoint biased
"$untrained" write wide 22m
cp model/config.json wide
refuses 4 "tensor 'patch_proj.linear1.weight' should have shape [1024, 64], found [2048, 64]" series.csv --checkpoint wide

# backtest: scores of quantiles; what the model does not tell stays blank.
program="$programs/backtest"
settings=(series.csv --checkpoint model --columns wave,ramp --horizon 8,40 --season 10 --windows 3 --context 200)
"$program" "${settings[@]}" --csv scores.csv --svg scores.svg > scores.txt
[[ "$(wc -l < scores.csv)" -eq 7 ]] || fail "$(cat scores.csv)"
awk -F, 'NR > 1 && !($5 > 0 && $6 > 0 && $7 >= 0 && $8 >= $7 && $9 == "" && $14 != "") { exit 1 }' scores.csv ||
    fail "a MASE, a CRPS, two shares and none for 90%: $(cat scores.csv)"
grep -q 'quantiles of the model' scores.svg || fail "the picture tells what was scored"
"$program" "${settings[@]}" --threads 3 --csv threads.csv > /dev/null
cmp scores.csv threads.csv || fail "the number of threads changes nothing"
refuses 2 "--samples is for models that draw futures" "${settings[@]}" --samples 20
[[ -z "$(ls ./*.journal 2> /dev/null)" ]] || fail "nothing is left behind"

# stream: what comes is scored with the quantiles.
program="$programs/stream"
"$program" --checkpoint model --columns wave --every 8 --horizon 8 < series.csv > scored.csv 2> notes
[[ "$(grep -c '^observed,' scored.csv)" -eq $((300 - 64)) ]] || fail "all is scored from two patches on: $(head scored.csv)"
awk -F, '$1 == "observed" && !($5 <= $6 && $6 <= $7 && $8 >= 0 && $8 <= 1 && $9 >= 0) { exit 1 }' scored.csv || fail "quantiles ascend, positions are shares"
expect 2 "--samples is for models that draw futures" sh -c '"$1" --checkpoint model --samples 30 < series.csv' sh "$program"

# Forecasts go on from what was computed of a context, and are those of a model that reads the same context whole.
# same <ours> <theirs>: the same rows, with numbers as near as five digits of up to 20 tell; roundings of f32 are less.
same() {
    [[ "$(wc -l < "$1")" -eq "$(wc -l < "$2")" && "$(wc -l < "$1")" -gt 100 ]] || fail "$1 has other rows than $2"
    paste -d, "$1" "$2" | awk -F, '$1 == "kind" { next } {
        for (i = 1; i <= 4; ++i) if ($i != $(i + 10)) exit 1
        for (i = 5; i <= 7; ++i) { d = $i - $(i + 10); if (d > 0.0011 || d < -0.0011) exit 1 }
    }' || fail "$1 is not $2"
}
# followed <name> <argument...>: streams growing.csv with contexts that go on, and without.
followed() {
    local name="$1"
    shift
    "$program" --checkpoint model "$@" < growing.csv > "$name.csv" 2> "$name.notes"
    "$program" --checkpoint model "$@" --session off < growing.csv > "${name}_whole.csv" 2> "${name}_whole.notes"
    ! grep -q 'went on from before' "${name}_whole.notes" || fail "--session off reads the whole context"
}
cut -d, -f1,2 series.csv > growing.csv
followed patches
same patches.csv patches_whole.csv
grep -q '^stream: 7 forecasts went on from before: p50' patches.notes || fail "$(cat patches.notes)"
grep -q '^stream: 1 forecast read the whole context: .*; 1 at a start\.$' patches.notes || fail "$(cat patches.notes)"
# Between patches, with a context for each place.
followed between --every 8
same between.csv between_whole.csv
grep -q '^stream: 26 forecasts went on' between.notes && grep -q '; 4 at a start\.$' between.notes || fail "$(cat between.notes)"
followed each --every 1 --horizon 70 --columns wave --scores-only
same each.csv each_whole.csv
grep -q '; 32 at a start\.$' each.notes && grep -q ' 205 forecasts went on' each.notes || fail "$(cat each.notes)"
# Full at four patches, it goes on from three.
followed full --context 128
"$program" --checkpoint model --context 96 --session off --quiet < growing.csv > three_whole.csv
awk -F, 'function block(time) { return int((time - 1) / 32) }
    NR > 1 && $1 == "forecast" && (block($2) < 5 || block($2) % 2 == 0) == (FILENAME == "full_whole.csv")' \
    full_whole.csv three_whole.csv | sort -t, -k2n,3 > expected.csv
grep '^forecast' full.csv | sort -t, -k2n,3 > found.csv
same found.csv expected.csv
grep -q '^stream: The context is full: its newest 96 observations are kept' full.notes || fail "$(cat full.notes)"
grep -q '; 1 at a start; 3 as the context was full\.$' full.notes || fail "$(cat full.notes)"
# A column that stays blank holds nothing up, and changes nothing of the others.
awk -F, -v OFS=, 'NR == 1 { print "wave,blank" } NR > 1 { print $1, "" }' series.csv > growing.csv
followed blank --every 16
same blank.csv blank_whole.csv
followed alone --every 16 --columns wave
same blank.csv alone.csv
grep -q '^stream: 13 forecasts went on' blank.notes && grep -q '; 2 at a start\.$' blank.notes || fail "$(cat blank.notes)"
# Gaps, a pause that moves the places within patches, a variate that comes late and one with few observations.
awk -F, -v OFS=, 'BEGIN { print "time,wave,ramp,late,rare" }
    NR > 1 { row = NR - 2; if (row >= 150 && row < 189) next
        print 1700000000 + 10 * row, (row % 11 == 4 || row % 32 > 28 ? "" : $1), (row > 70 && row < 140 ? "" : $2),
            (row < 200 ? "" : $1), (row % 80 == 10 ? $2 : "") }' series.csv > growing.csv
followed gaps --every 16 --columns wave,ramp,late
same gaps.csv gaps_whole.csv
grep -q '^stream: [0-9]* forecasts went on' gaps.notes && grep -q ' as a variate came or values went far away' gaps.notes ||
    fail "$(cat gaps.notes)"
followed rare --every 16 --columns wave,rare
same rare.csv rare_whole.csv
grep -q ' as a variate has few observations' rare.notes || fail "$(cat rare.notes)"
"$program" --checkpoint model --session on --quiet < growing.csv 2> message > /dev/null
[[ ! -s message ]] || fail "--quiet: $(cat message)"
growing() { "$program" --checkpoint "$@" < growing.csv; }
expect 2 "a context that goes on is forecast at most 96 steps ahead, and not 97" growing model --session on --horizon 97
expect 2 "only a context of at least 128 observations can go on, and --context is 127" growing model --session on --context 127
expect 2 "only a Toto 2.0 that is compiled into this program can go on" growing "$demo_model" --session on
expect 2 "with --every 5 a context takes 5 new patches at a time, which is more work" growing model --session on --every 5
expect 2 "--session is on or off, and not 'maybe'" growing model --session maybe
growing model --horizon 97 2>&1 > /dev/null | grep -q 'Each forecast reads the whole context: ' || fail "what cannot go on is told"

# stress: the questions are answered, forecasts are kept and compared.
program="$programs/stress"
requests=(series.csv --checkpoint model --variates 2 --contexts 200 --horizons 40 --execution-mode default)
"$program" --checkpoint model --list > list.txt
grep -q 'size 1: 1 x 1 x 4096 -> 768, no samples' list.txt || fail "$(cat list.txt)"
"$program" "${requests[@]}" --slowest 1000 --json stress.json > stress.md
grep -q '^# Stress report: passed$' stress.md || fail "$(cat stress.md)"
"$program" "${requests[@]}" --save kept.safetensors > /dev/null
"$program" --checkpoint model --against kept.safetensors --execution-mode default > drift.md
grep -q '^# Drift: passed$' drift.md && grep -q '| equal |' drift.md || fail "$(cat drift.md)"
refuses 5 "Nothing was compiled that holds requests of" "${requests[@]}" --samples 8

# verify: the checkpoint is named, and read whole.
program="$programs/verify"
"$program" --checkpoint model > found.txt || fail "$(cat found.txt)"
grep -q '^ok *checkpoint .*Toto 2.0 4m' found.txt || fail "$(cat found.txt)"
status=0
"$program" --checkpoint neither > found.txt || status=$?
[[ "$status" -eq 7 ]] && grep -q '^failed *checkpoint .*has neither a d_model' found.txt || fail "$(cat found.txt)"

# A person never reads the word for what was compiled.
grep -il bucket ./*.txt ./*.md ./*.svg message notes && fail "a person never reads that word"
echo "Toto 2.0 behaves."
