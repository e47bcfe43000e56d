#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a user of `vlm` meets: ids that the public implementation chooses, draws, notes of the time, bad input,
# checkpoints that do not fit.
#
#     vlm.sh <vlm> <scratch folder> <fixtures of nanoVLM>
set -euo pipefail
source "$(dirname "$0")/cli.sh" "$1" "$2"
fixtures="$3"  # an absolute path
case="$fixtures/vision_and_language"

# data <file> <name>: the bytes of a tensor.
data() {
    local head at
    head="$(od -An -tu8 -N8 "$1" | tr -d ' ')"
    at="$(head -c $((8 + head)) "$1" | tail -c "$head" | tr '}' '\n' |
        sed -n "s/.*\"$2\":{.*\"data_offsets\":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/p")"
    [[ -n "$at" ]] || fail "no tensor $2"
    head -c $((8 + head + ${at#* })) "$1" | tail -c $((${at#* } - ${at% *}))
}
# ids <file> <name> <count>: whole numbers, so many a line.
ids() {
    data "$1" "$2" | od -An -v -w4 -td4 | xargs -n"$3"
}
# pixels <name> <extent,...> <bytes>: a safetensors file of one tensor, f32, with numbers from standard input.
pixels() {
    local header="{\"$1\":{\"dtype\":\"F32\",\"shape\":[$2],\"data_offsets\":[0,$3]}}"
    printf "\\x$(printf %02x ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header"
    cat
}

# The case's prompts without their padding, and its images, of which the first prompt has one and the second two.
ids "$case/io.safetensors" input_ids 15 | sed 's/^\(0 \)*//' > prompts.txt
[[ "$(wc -l < prompts.txt)" -eq 2 ]] || fail "there are two prompts"
data "$case/io.safetensors" images > raw
pixels pixels 3,3,16,16 9216 < raw > images.safetensors

run=(--checkpoint "$case" --threads 2)
ids "$case/io.safetensors" decoded_ids 6 > expected
"$program" prompts.txt "${run[@]}" --pixels images.safetensors --new-tokens 6 --end-token -1 > found 2> note
cmp found expected || fail "the ids are those of the public implementation"
grep -qE 'time to the first token [0-9.e+-]+ ms on average, then [0-9.e+]+ tokens a second' note || fail "it tells the time"
end="$(cut -d' ' -f4 expected | head -1)"
"$program" prompts.txt "${run[@]}" --pixels images.safetensors --new-tokens 6 --end-token "$end" --quiet > found 2> note
[[ ! -s note ]] || fail "--quiet tells nothing"
sed "s/\(^\| \)$end\( .*\)\?$//" expected | cmp - found || fail "a text ends before its end token"

echo "5, 9,30 7" > text.txt
"$program" text.txt --untrained tiny --new-tokens 8 --end-token -1 --output ids 2> note
grep -q 'untrained: it knows nothing' note || fail "it says what the ids are worth"
"$program" text.txt --untrained tiny --end-token -1 --quiet > most || fail "a model with room for fewer tokens than usual"
[[ "$(wc -w < most)" -eq 16 && "$(cut -d' ' -f1-8 most)" == "$(cat ids)" ]] || fail "as many as it has room for: $(cat most)"
[[ "$(wc -w < ids)" -eq 8 ]] || fail "eight tokens are chosen"
"$program" - --untrained tiny --new-tokens 8 --end-token -1 --quiet < text.txt | cmp - ids || fail "standard input"
"$program" text.txt --untrained tiny --new-tokens 8 --end-token -1 --quiet --output - | cmp - ids || fail "--output -"
[[ ! -e ./- ]] || fail "standard output is no file"
draw=(--untrained tiny --end-token -1 --draw --temperature 3 --top-k 0 --top-p 1 --quiet)
"$program" text.txt "${draw[@]}" --new-tokens 16 --seed 1 > one
"$program" text.txt "${draw[@]}" --new-tokens 16 --seed 1 | cmp - one || fail "the same seed draws the same ids"
"$program" text.txt "${draw[@]}" --new-tokens 16 --seed 2 | cmp -s - one && fail "another seed draws others"

{ printf '\xef\xbb\xbf'; sed 's/$/\r/' text.txt; } > windows.txt
"$program" windows.txt --untrained tiny --new-tokens 8 --end-token -1 --quiet | cmp - ids || fail "a mark, and CRLF"
{ printf '\xff\xfe'; printf '%s' "$(< text.txt)" | sed 's/./&\x00/g'; } > windows.txt
"$program" windows.txt --untrained tiny --new-tokens 8 --end-token -1 --quiet | cmp - ids || fail "UTF-16"

refuses 2 "Name the folder of a checkpoint" text.txt
refuses 2 "leave one of them out" text.txt --untrained tiny --checkpoint "$case"
refuses 2 "--untrained takes one of the models" text.txt --untrained enormous
refuses 2 "expects a whole number" text.txt --untrained tiny --new-tokens many
refuses 2 "--new-tokens must be at least 1" text.txt --untrained tiny --new-tokens 0
refuses 2 "--temperature must be above 0" text.txt --untrained tiny --draw --temperature 0
refuses 2 "--temperature must be above 0" text.txt --untrained tiny --draw --temperature nan
refuses 2 "--top-p must be above 0" text.txt --untrained tiny --draw --top-p 1.5
refuses 2 "--top-k must be at least 0" text.txt --untrained tiny --draw --top-k -3
refuses 5 "17 new tokens are asked for, and there is room for 16" text.txt --untrained tiny --new-tokens 17

tiny=(--untrained tiny --new-tokens 4)
cp text.txt kept.txt
refuses 2 "--output is the input file itself" text.txt "${tiny[@]}" --output ./text.txt
refuses 2 "--output is the pixels file itself" text.txt "${tiny[@]}" --pixels images.safetensors \
    --output images.safetensors
mkdir -p of_model && cp "$case/config.json" of_model/
refuses 2 "--output is a file of the checkpoint folder" text.txt --checkpoint of_model --output of_model/config.json
cmp text.txt kept.txt || fail "the input is as it was"
refuses 3 "cannot be opened" nowhere.txt "${tiny[@]}"
: > bad.txt
refuses 3 "There is no prompt" bad.txt "${tiny[@]}"
printf '5 9\n5 nine\n' > bad.txt
refuses 3 "Line 2 of the prompts: 'nine' is no id" bad.txt "${tiny[@]}"
echo "5 99999999999" > bad.txt
refuses 3 "'99999999999' is no id" bad.txt "${tiny[@]}"
echo "5 53" > bad.txt
refuses 3 "prompt 0, token 1: 53 is no id; ids are 0 to 52" bad.txt "${tiny[@]}"
echo "5 -1" > bad.txt
refuses 3 "-1 is no id" bad.txt "${tiny[@]}"
head -c 4096 /dev/urandom > bad.txt
refuses 3 "is no id" bad.txt "${tiny[@]}"
printf '5 %.0s' {1..33} > bad.txt
refuses 5 "33 tokens, and there is room for 32" bad.txt "${tiny[@]}"

refuses 3 "4 image tokens (id 3) and pixels of 0 images" prompts.txt "${tiny[@]}"
refuses 3 "0 image tokens (id 3) and pixels of 3 images" text.txt "${tiny[@]}" --pixels images.safetensors
head -1 prompts.txt > first.txt
refuses 3 "4 image tokens (id 3) and pixels of 3 images" first.txt "${tiny[@]}" --pixels images.safetensors
refuses 3 "cannot be opened" first.txt "${tiny[@]}" --pixels nowhere.safetensors
refuses 3 "text.txt" first.txt "${tiny[@]}" --pixels text.txt
pixels image 1,3,16,16 3072 < <(head -c 3072 raw) > bad.safetensors
refuses 3 "has no tensor 'pixels'" first.txt "${tiny[@]}" --pixels bad.safetensors
pixels pixels 3,16,16 3072 < <(head -c 3072 raw) > bad.safetensors
refuses 3 "but it is F32 [3, 16, 16]" first.txt "${tiny[@]}" --pixels bad.safetensors
pixels pixels 1,3,16,16 3072 < <(head -c 3072 raw) | LC_ALL=C sed 's/F32/I32/' > bad.safetensors
refuses 3 "but it is I32 [1, 3, 16, 16]; resize the images to what the model takes, and divide bytes by 255" first.txt \
    "${tiny[@]}" --pixels bad.safetensors
pixels pixels 1,3,16,16 3072 < <(head -c 3000 raw) > bad.safetensors
refuses 3 "bad.safetensors" first.txt "${tiny[@]}" --pixels bad.safetensors
pixels pixels 1,3,16,16 3072 < <(printf '\0\0\xc0\x7f'; head -c 3068 raw) > bad.safetensors
refuses 3 "pixel 0 is not a finite number" first.txt "${tiny[@]}" --pixels bad.safetensors
# Each of them the largest float, which is finite; what the model makes of it is not.
pixels pixels 1,3,16,16 3072 < <(for ((i = 0; i < 768; ++i)); do printf '\xff\xff\x7f\x7f'; done) > bad.safetensors
echo "5 3 3 3 3 9" > seen.txt
refuses 8 "no finite numbers behind prompt 0" seen.txt "${tiny[@]}" --pixels bad.safetensors

refuses 4 "has 2 layers of width 90 and 83 ids" text.txt --checkpoint "$fixtures/tokens_15_to_5"
mkdir -p other
cp "$case/model.safetensors" other/
sed 's/"vit_n_heads": 4/"vit_n_heads": 8/; s/"lm_rms_eps": 1e-05/"lm_rms_eps": 1e-06/' "$case/config.json" > other/config.json
refuses_lines() {
    expect 4 "$1" "$program" text.txt --checkpoint other --new-tokens 4
}
refuses_lines "'lm_rms_eps': expected"
refuses_lines "'vit_n_heads': expected 4, found 8"
cp "$case/config.json" other/
head -c 1000 "$case/model.safetensors" > other/model.safetensors
refuses 4 "it may be truncated" text.txt --checkpoint other --new-tokens 4
rm other/config.json
refuses 4 "has no config.json" text.txt --checkpoint other
refuses 6 "nowhere" text.txt "${tiny[@]}" --output nowhere/ids
