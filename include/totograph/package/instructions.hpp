// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// Extensions of the processor's instructions that a compiler may emit by itself. What it was allowed to emit, the
// package's header tells; whether this processor has them is asked before the package is loaded.
namespace totograph::package {

/// The processors that this file is compiled for.
inline constexpr std::string_view architecture =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "unknown";
#endif

/// An extension, by the name that compilers give it.
struct Extension {
    std::string_view name;
    bool is_compiled_for = false;  ///< Whether the including file may use it.
};

// Internal linkage: files of one program may be compiled with different flags, and each is to tell its own.

/// All that are told apart, and whether this source file was compiled for them.
[[maybe_unused]] static constexpr auto extensions() {
    std::array all{Extension{"popcnt"},
                   Extension{"bmi"},
                   Extension{"bmi2"},
                   Extension{"fma"},
                   Extension{"avx"},
                   Extension{"avx2"},
                   Extension{"avx512f"},
                   Extension{"avx512bw"},
                   Extension{"avx512cd"},
                   Extension{"avx512dq"},
                   Extension{"avx512vl"},
                   Extension{"avx512ifma"},
                   Extension{"avx512vbmi"},
                   Extension{"avx512vbmi2"},
                   Extension{"avx512vnni"},
                   Extension{"avx512bitalg"},
                   Extension{"avx512vpopcntdq"},
                   Extension{"avx512bf16"}};
    [[maybe_unused]] const auto mark = [&](std::string_view name) {
        for (Extension& one : all) {
            one.is_compiled_for = one.is_compiled_for || one.name == name;
        }
    };
#if defined(__POPCNT__)
    mark("popcnt");
#endif
#if defined(__BMI__)
    mark("bmi");
#endif
#if defined(__BMI2__)
    mark("bmi2");
#endif
#if defined(__FMA__)
    mark("fma");
#endif
#if defined(__AVX__)
    mark("avx");
#endif
#if defined(__AVX2__)
    mark("avx2");
#endif
#if defined(__AVX512F__)
    mark("avx512f");
#endif
#if defined(__AVX512BW__)
    mark("avx512bw");
#endif
#if defined(__AVX512CD__)
    mark("avx512cd");
#endif
#if defined(__AVX512DQ__)
    mark("avx512dq");
#endif
#if defined(__AVX512VL__)
    mark("avx512vl");
#endif
#if defined(__AVX512IFMA__)
    mark("avx512ifma");
#endif
#if defined(__AVX512VBMI__)
    mark("avx512vbmi");
#endif
#if defined(__AVX512VBMI2__)
    mark("avx512vbmi2");
#endif
#if defined(__AVX512VNNI__)
    mark("avx512vnni");
#endif
#if defined(__AVX512BITALG__)
    mark("avx512bitalg");
#endif
#if defined(__AVX512VPOPCNTDQ__)
    mark("avx512vpopcntdq");
#endif
#if defined(__AVX512BF16__)
    mark("avx512bf16");
#endif
    return all;
}

/// Whether this machine's processor has an extension; not for a name that is not known.
inline bool processor_has([[maybe_unused]] std::string_view name) {
#if defined(__x86_64__)
    return (name == "popcnt" && __builtin_cpu_supports("popcnt")) || (name == "bmi" && __builtin_cpu_supports("bmi")) ||
           (name == "bmi2" && __builtin_cpu_supports("bmi2")) || (name == "fma" && __builtin_cpu_supports("fma")) ||
           (name == "avx" && __builtin_cpu_supports("avx")) || (name == "avx2" && __builtin_cpu_supports("avx2")) ||
           (name == "avx512f" && __builtin_cpu_supports("avx512f")) ||
           (name == "avx512bw" && __builtin_cpu_supports("avx512bw")) ||
           (name == "avx512cd" && __builtin_cpu_supports("avx512cd")) ||
           (name == "avx512dq" && __builtin_cpu_supports("avx512dq")) ||
           (name == "avx512vl" && __builtin_cpu_supports("avx512vl")) ||
           (name == "avx512ifma" && __builtin_cpu_supports("avx512ifma")) ||
           (name == "avx512vbmi" && __builtin_cpu_supports("avx512vbmi")) ||
           (name == "avx512vbmi2" && __builtin_cpu_supports("avx512vbmi2")) ||
           (name == "avx512vnni" && __builtin_cpu_supports("avx512vnni")) ||
           (name == "avx512bitalg" && __builtin_cpu_supports("avx512bitalg")) ||
           (name == "avx512vpopcntdq" && __builtin_cpu_supports("avx512vpopcntdq")) ||
           (name == "avx512bf16" && __builtin_cpu_supports("avx512bf16"));
#else
    return false;
#endif
}

}  // namespace totograph::package
