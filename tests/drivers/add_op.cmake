# SPDX-License-Identifier: Apache-2.0
# Adds an elementwise op to a copy of the headers, as a developer would: its name, its row, its arithmetic. Before the
# last of these it does not compile, and the compiler says what is missing; with it, both CPU executors run the op.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
totograph_compiler_command(compiler)
list(INSERT compiler 1 "-I${SCRATCH}/include" -pthread)  # before the headers of the project

file(REMOVE_RECURSE "${SCRATCH}/include")
file(COPY "${SOURCE}/include/totograph" DESTINATION "${SCRATCH}/include")

# edit(<header> <before> <added>): puts a line in front of one that the header has.
function(edit header before added)
    set(file "${SCRATCH}/include/totograph/${header}")
    file(READ "${file}" text)
    string(FIND "${text}" "${before}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "${header} has no '${before}' any more; correct this test.")
    endif()
    string(SUBSTRING "${text}" 0 ${place} begin)
    string(SUBSTRING "${text}" ${place} -1 end)
    file(WRITE "${file}" "${begin}${added}${end}")
endfunction()

# fails_saying(<sentence> <file>): the file does not compile, for that reason.
function(fails_saying sentence file)
    execute_process(COMMAND ${compiler} -fsyntax-only "${file}"
        RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    string(FIND "${text}" "${sentence}" place)
    if(result EQUAL 0 OR place EQUAL -1)
        message("${text}")
        message(FATAL_ERROR "The compiler must say \"${sentence}\", and said what is above.")
    endif()
endfunction()

file(WRITE "${SCRATCH}/table.cpp" "#include <totograph/graph/op_table.hpp>\n")
file(WRITE "${SCRATCH}/reference.cpp" "#include <totograph/exec/cpu/evaluate/tensor_data.hpp>\n")
file(WRITE "${SCRATCH}/program.cpp" [[
#include <cstdio>

#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

namespace tg = totograph;

struct NoWeights final : tg::TensorSource {
    void read(const std::string&, const tg::Shape&, std::span<float>) const override {}
};
struct Model {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor x = r.state("x", {21});
        r.store(r.state("out", {21}), tg::detail::unary(tg::Op::cube, x - 1.0) + 1.0);
    }
};
static_assert(tg::Program<Model>::steps.size() == 1);  // it is fused like any other

template <class Executor>
bool is_right() {
    Executor executor(tg::Weights(std::make_shared<NoWeights>()), std::make_shared<tg::cpu::ThreadPool>(1));
    auto* x = static_cast<float*>(executor.state("x"));
    for (int i = 0; i < 21; ++i) {
        x[i] = 0.5F * static_cast<float>(i);
    }
    executor.template run<0>();
    bool right = true;
    for (int i = 0; i < 21; ++i) {
        const float less = 0.5F * static_cast<float>(i) - 1.0F;
        right = right && static_cast<const float*>(executor.state("out"))[i] == less * less * less + 1.0F;
    }
    return right;
}

int main() {
    using Program = tg::Program<Model>;
    const bool right = is_right<tg::cpu::EagerExecutor<Program>>() &&
                       is_right<tg::cpu::FusedExecutor<float, Program>>();
    std::printf("%s %s\n", std::string(tg::name(tg::Op::cube)).c_str(), right ? "is right" : "is wrong");
}
]])

edit(graph/op.hpp "    gelu, " "    cube,\n")
fails_saying("totograph: an op has no row in `op_table`" "${SCRATCH}/table.cpp")
edit(graph/op_table.hpp "    op_rows::function(Op::gelu" "    op_rows::elementwise(Op::cube, \"cube\", 1),\n")
fails_saying("totograph: an elementwise op has no arithmetic" "${SCRATCH}/reference.cpp")
edit(exec/arithmetic.hpp "    } else if constexpr (op == Op::gelu)"
    "    } else if constexpr (op == Op::cube) {\n        return a * a * a;\n")
run(${compiler} "${SCRATCH}/program.cpp" -o "${SCRATCH}/program")
run("${SCRATCH}/program")
output_says(1 "cube is right")
