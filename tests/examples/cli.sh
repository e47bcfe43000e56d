# SPDX-License-Identifier: Apache-2.0
# What the tests of programs share. Sourced with <program> <scratch folder>; leaves the shell in the empty folder.
program="$(realpath "$1")"
rm -rf "$2"
mkdir -p "$2"
cd "$2"
umask 022  # what others may write to is not used

fail() {
    echo "failed: $*" >&2
    exit 1
}

# expect <exit code> <part of the message> <command...>: the command ends so, and says it in one sentence or two.
expect() {
    local code="$1" part="$2" status=0
    shift 2
    "$@" > /dev/null 2> message || status=$?
    [[ "$status" -eq "$code" ]] || fail "exit code $status, not $code: $* ($(cat message))"
    grep -qF -- "$part" message || fail "it should say '$part': $* ($(cat message))"
}

# refuses <exit code> <part of the message> <argument...>: the program does not take these arguments, in one line.
refuses() {
    local code="$1" part="$2"
    shift 2
    expect "$code" "$part" "$program" "$@"
    # A note of what the columns were taken for may stand before it.
    [[ "$(grep -vc 'is taken as the clock' message)" -eq 1 ]] || fail "one line of error is enough: $* ($(cat message))"
}

# eventually <command...>: waits until it succeeds, for a minute at most.
eventually() {
    local waited=0
    until "$@"; do
        [[ $((waited += 1)) -lt 3000 ]] || fail "this never came: $*"
        sleep 0.02
    done
}
