# SPDX-License-Identifier: Apache-2.0
# What drivers share that run other programs.
cmake_minimum_required(VERSION 3.25)

# run(<command>...): runs it, with what it prints as `output`; ends the test when it fails.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        list(JOIN ARGV " " command)
        message("${text}")
        message(FATAL_ERROR "This failed: ${command}")
    endif()
    set(output "${text}" PARENT_SCOPE)
endfunction()

# output_says(<times> <part>): `output` has a part so many times.
function(output_says times part)
    string(LENGTH "${part}" length)
    set(rest "${output}")
    set(found 0)
    while(TRUE)
        string(FIND "${rest}" "${part}" position)
        if(position EQUAL -1)
            break()
        endif()
        math(EXPR found "${found} + 1")
        math(EXPR position "${position} + ${length}")
        string(SUBSTRING "${rest}" ${position} -1 rest)
    endwhile()
    if(NOT found EQUAL times)
        message("${output}")
        message(FATAL_ERROR "What is above must say \"${part}\" ${times} times, and says it ${found} times.")
    endif()
endfunction()
