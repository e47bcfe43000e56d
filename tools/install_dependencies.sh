#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the named groups need and the machine lacks, through apt-get, and says so. When nothing is missing it
# calls nothing. TOTOGRAPH_SKIP_INSTALL=1 turns it into a report.
#
#     tools/install_dependencies.sh [build] [test] [python] [package] [format] [docs] [checks]
set -euo pipefail

# One line a package: its group, its Debian name, and what shows that it is there: commands, or a header.
readonly packages='
build  g++                   command c++ g++ clang++
build  cmake                 command cmake
build  ninja-build           command ninja
build  libeigen3-dev         header  eigen3/Eigen/Core Eigen/Core
build  nlohmann-json3-dev    header  nlohmann/json.hpp
build  libcli11-dev          header  CLI/CLI.hpp
build  zlib1g-dev            header  zlib.h
test   doctest-dev           header  doctest/doctest.h
test   pkg-config            command pkg-config
test   python3               command python3
test   python3-numpy         package
test   python3-pytest        package
python  python3-dev          package
python  python3-pip          package
python  python3-venv         package
package dpkg-dev             command dpkg-shlibdeps
package file                 command file
checks clang                 command clang++
format clang-format          command clang-format
docs   doxygen               command doxygen
docs   graphviz              command dot
checks clang-tidy            command clang-tidy
checks lld                   command ld.lld
checks libclang-rt-14-dev    package
checks valgrind              command valgrind
checks git                   command git
'

is_there() {
    local package="$1" kind="$2" name prefix
    shift 2
    case "$kind" in
        package) dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' && return 0 ;;
        command) for name in "$@"; do command -v "$name" >/dev/null && return 0; done ;;
        header)
            for prefix in /usr /usr/local ${CMAKE_PREFIX_PATH//[:;]/ }; do
                for name in "$@"; do [[ -e "$prefix/include/$name" ]] && return 0; done
            done
            ;;
    esac
    return 1
}

CMAKE_PREFIX_PATH="${CMAKE_PREFIX_PATH:-}"
missing=()
while read -r group package kind names; do
    [[ -n "$group" && " $* " == *" $group "* ]] || continue
    # shellcheck disable=SC2086 # several names are several arguments
    is_there "$package" "$kind" $names || missing+=("$package")
done <<<"$packages"

if [[ ${#missing[@]} -eq 0 ]]; then
    exit 0
fi
if [[ "${TOTOGRAPH_SKIP_INSTALL:-0}" != 0 ]]; then
    echo "Missing, and not installed because TOTOGRAPH_SKIP_INSTALL is set: ${missing[*]}"
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "Missing: ${missing[*]} (Debian names). This system has no apt-get: install them with its own package manager." >&2
    exit 1
fi

as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "Missing: ${missing[*]}. As root, run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "Installing what is missing through apt-get: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
