#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands that a document shows: lines that begin with "$ " in its ```console blocks, with what they printed
# below them.
#
#     tools/run_console.sh --check <document.md> <build folder> <scratch folder>    fails when a command does,
#                                                                                  or says another "exit code N"
#     tools/run_console.sh --write <document.md> <build folder> <scratch folder>    puts what they print into the document,
#                                                                                  and the pictures that they draw beside it
#
# A command that begins with `timeout` may end in either way, as fast as the machine is: its exit code is not compared.
# A block after the line "<!-- not in the test: reason -->" is left alone by --check.
# The commands see the project as a user at its root does; build/release is the given build folder, and what they write
# stays in the scratch folder.
set -euo pipefail

if [[ $# -ne 4 || ("$1" != --check && "$1" != --write) ]]; then
    sed -n '3,15s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
readonly mode="$1"
document="$(realpath "$2")"
build="$(realpath "$3")"
root="$(realpath "$(dirname "$0")/..")"
rm -rf "$4"
mkdir -p "$4/build" "$4/docs/pictures"
scratch="$(realpath "$4")"
ln -s "$build" "$scratch/build/release"
ln -s "$root/examples" "$root/models" "$scratch"
cd "$scratch"

# The lines "exit code N" of the last command must be those that the document shows below it.
command=
wanted=
compare_exit_codes() {
    local found
    [[ "$mode" == --check && -n "$command" && "$command" != 'timeout '* ]] || return 0
    found="$(grep -xE 'exit code [0-9]+' printed || true)"
    if [[ "$found" != "$wanted" ]]; then
        echo "$document: '$found' instead of '$wanted': $command" >&2
        cat printed >&2
        exit 1
    fi
}

block=none  # none, commands, or what comes before a block that is skipped
ran=0
while IFS= read -r line || [[ -n "$line" ]]; do
    if [[ "$mode" == --check && "$line" == '<!-- not in the test:'* ]]; then
        block=skip
    elif [[ "$line" == '```console' ]]; then
        [[ "$block" == skip ]] && block=none || block=commands
    elif [[ "$block" == commands && "$line" == '```' ]]; then
        compare_exit_codes
        command=
        block=none
    elif [[ "$block" == commands ]]; then
        if [[ "$line" != '$ '* ]]; then
            [[ ! "$line" =~ ^exit\ code\ [0-9]+$ ]] || wanted+="${wanted:+$'\n'}$line"
            continue
        fi
        compare_exit_codes
        command="${line#'$ '}"
        wanted=
        printf '%s\n' "$line"
        status=0
        # Both outputs together, as in a terminal.
        COLUMNS=100 bash -o pipefail -c "$command" < /dev/null > printed 2>&1 || status=$?
        if [[ "$status" -ne 0 ]]; then
            echo "$document: exit code $status: $command" >&2
            cat printed >&2
            exit 1
        fi
        cat printed
        ran=$((ran + 1))
        continue
    fi
    printf '%s\n' "$line"
done < "$document" > written.md
if [[ "$ran" -eq 0 ]]; then
    echo "$document shows no command." >&2
    exit 1
fi

if [[ "$mode" == --write ]]; then
    for picture in docs/pictures/*.svg; do
        cp "$picture" "$(dirname "$document")/pictures/"
    done
    cp written.md "$document"
fi
echo "$ran commands of $document ran."
