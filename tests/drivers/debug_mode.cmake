# SPDX-License-Identifier: Apache-2.0
# A program that is compiled in the debug mode of libstdc++, whose containers are no constants, has the texts that are
# written while compiling.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
totograph_compiler_command(compiler)
file(WRITE "${SCRATCH}/user.cpp" "#include <totograph/models/toto1/config_text.hpp>
struct Document {
    static constexpr void write(totograph::io::ConstantJson& json) {
        write_config(json, totograph::toto1::Toto1Config());
    }
};
static_assert(totograph::io::constant_json<Document>().size() > 300);
")
run(${compiler} -D_GLIBCXX_DEBUG -fsyntax-only "${SCRATCH}/user.cpp")
