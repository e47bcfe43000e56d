# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT: one file that compiles the test files SOURCES, below FOLDER, together. All that they include comes first,
# so that each can stand in a namespace of its own: there, its own includes have nothing left to do. Names of files need
# not differ, and a message of the compiler names the file and its line.
set(includes "")
set(files "")
foreach(source IN LISTS SOURCES)
    file(STRINGS "${source}" lines REGEX "^#include ")
    get_filename_component(folder "${source}" DIRECTORY)
    foreach(line IN LISTS lines)
        string(REGEX MATCH "\"(.*)\"" beside "${line}")
        if(beside AND EXISTS "${folder}/${CMAKE_MATCH_1}")
            get_filename_component(header "${folder}/${CMAKE_MATCH_1}" ABSOLUTE)
            set(line "#include \"${header}\"")
        endif()
        list(APPEND includes "${line}")
    endforeach()
    file(RELATIVE_PATH name "${FOLDER}" "${source}")
    string(MAKE_C_IDENTIFIER "${name}" name)
    string(APPEND files "\nnamespace ${name} {\n#include \"${source}\"\n}  // namespace ${name}\n")
endforeach()
list(REMOVE_DUPLICATES includes)
list(JOIN includes "\n" includes)
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT "@includes@\n@files@")
