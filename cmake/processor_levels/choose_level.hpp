// SPDX-License-Identifier: Apache-2.0
//
// Compiled into a program by totograph_targets, which defines TOTOGRAPH_LEVELS: the levels, as strings, highest first,
// that the program was also compiled for. Beside the program `app` lies `app.<level>`.

#if defined(__AVX__)
#error \
    "totograph_targets: this program is compiled with -march (or -mavx), so it would not start on every x86-64. Leave that flag away: totograph_targets adds it where it belongs."
#endif

#include <cpuid.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

/// Whether the processor and the system have all that a level asks for. The builtins know what the system saves of
/// the vector registers; what they cannot name is read from the processor.
bool has_level(const char* level) {
    unsigned basic_a = 0;
    unsigned basic_b = 0;
    unsigned basic_c = 0;
    unsigned basic_d = 0;
    unsigned extended_a = 0;
    unsigned extended_b = 0;
    unsigned extended_c = 0;
    unsigned extended_d = 0;
    constexpr unsigned lzcnt = 1U << 5U;
    if (__get_cpuid(1, &basic_a, &basic_b, &basic_c, &basic_d) == 0 ||
        __get_cpuid(0x80000001U, &extended_a, &extended_b, &extended_c, &extended_d) == 0) {
        return false;
    }
    __builtin_cpu_init();
    const bool has_v3 = (basic_c & bit_MOVBE) != 0 && (basic_c & bit_F16C) != 0 && (extended_c & lzcnt) != 0 &&
                        __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("avx2") &&
                        __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                        __builtin_cpu_supports("bmi2");
    if (std::strcmp(level, "x86-64-v3") == 0) {
        return has_v3;
    }
    return has_v3 && std::strcmp(level, "x86-64-v4") == 0 && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

[[noreturn]] void refuse(const char* level, const char* what) {
    std::fputs("TOTOGRAPH_PROCESSOR_LEVEL is '", stderr);
    for (const char* letter = level; *letter != '\0' && letter - level < 80; ++letter) {
        std::fputc(*letter >= 0x20 && *letter < 0x7F ? *letter : '?', stderr);  // what may steer a terminal
    }
    std::fprintf(stderr, "', %s. Expected x86-64 or one of:", what);
    for (const char* const one : {TOTOGRAPH_LEVELS}) {
        std::fprintf(stderr, " %s", one);
    }
    std::fprintf(stderr, ". Unset it to take the best that this machine has.\n");
    std::_Exit(EXIT_FAILURE);
}

/// Becomes `<this program>.<level>`; comes back where there is no such file that can be run.
void become(const char* level, char** arguments, char** environment) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    const std::size_t more = std::strlen(level) + 2;
    if (length > 0 && static_cast<std::size_t>(length) + more <= sizeof path) {
        path[length] = '.';
        std::memcpy(path + length + 1, level, more - 1);
        execve(path, arguments, environment);
    }
}

/// glibc hands constructors what it hands `main`. Before those of the program itself, which have lower priorities.
[[maybe_unused]] __attribute__((constructor(101))) void choose_level(int, char** arguments, char** environment) {
#if defined(__GLIBC__)
    const char* const named = std::getenv("TOTOGRAPH_PROCESSOR_LEVEL");
    const bool is_named = named != nullptr && *named != '\0';
    if (is_named && std::strcmp(named, "x86-64") == 0) {
        return;
    }
    for (const char* const level : {TOTOGRAPH_LEVELS}) {
        if (is_named && std::strcmp(named, level) != 0) {
            continue;
        }
        if (has_level(level)) {
            become(level, arguments, environment);
        }
        if (is_named) {
            refuse(named, has_level(level) ? "whose program is not beside this one" : "which this processor has not");
        }
    }
    if (is_named) {
        refuse(named, "which this program was not compiled for");
    }
#else
    (void)arguments;
    (void)environment;
#endif
}

}  // namespace
