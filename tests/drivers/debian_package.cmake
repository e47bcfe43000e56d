# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages of this build, looks at what they hold and need, and installs the one with the programs into
# an empty root, which has of this system only the shared libraries that the package asks for. There `forecast` forecasts
# its sample data. Without root, it runs from the unpacked package in place.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

foreach(tool dpkg-deb dpkg-shlibdeps file)
    find_program(HAS_${tool} ${tool})
    if(NOT HAS_${tool})
        message("skipped: no ${tool} on this machine.")
        return()
    endif()
endforeach()
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
# Not compressed much: this is about what is inside.
run("${CMAKE_CPACK_COMMAND}" --config "${BUILD}/CPackConfig.cmake" -G DEB -B "${SCRATCH}"
    -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)

file(GLOB programs_package "${SCRATCH}/totograph_*.deb")
file(GLOB library_package "${SCRATCH}/libtotograph-dev_*_all.deb")
run(dpkg-deb --field "${library_package}" Depends)
output_says(1 "totograph (= ")
output_says(1 "nlohmann-json3-dev")
run(dpkg-deb --contents "${library_package}")
output_says(1 "/usr/include/totograph/totograph.hpp\n")
output_says(1 "/usr/share/cmake/totograph/totographConfig.cmake\n")
output_says(1 "/usr/share/cmake/totograph/processor_levels/choose_level.hpp\n")
output_says(0 "/usr/bin/")
run(dpkg-deb --contents "${programs_package}")
foreach(part bin/forecast bin/backtest bin/stream bin/stress bin/verify share/totograph/models/demo/model.safetensors
        share/totograph/data/machine_metrics.csv share/totograph/data/climate.csv share/totograph/tools/get_checkpoint
        share/totograph/tools/convert_checkpoint.py share/doc/totograph/copyright)
    output_says(1 "/usr/${part}\n")
endforeach()
run(dpkg-deb --field "${programs_package}" Depends)
output_says(1 "libc6 (>= ")
output_says(1 "libstdc++6 (>= ")

# A root that has nothing else: the package, and the files that the loader looks for.
set(root "${SCRATCH}/root")
file(MAKE_DIRECTORY "${root}/var/lib/dpkg/info" "${root}/var/lib/dpkg/updates")
file(TOUCH "${root}/var/lib/dpkg/status" "${root}/var/lib/dpkg/available")
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
find_program(HAS_CHROOT chroot)
if(user EQUAL 0 AND HAS_CHROOT)
    run(dpkg "--root=${root}" --force-depends --install "${programs_package}")
    run(ldd "${root}/usr/bin/forecast")
    string(REGEX MATCHALL "/[^ \n]+\\.so[^ \n]*" libraries "${output}")
    foreach(library IN LISTS libraries)
        get_filename_component(folder "${library}" DIRECTORY)
        file(COPY "${library}" DESTINATION "${root}${folder}" FOLLOW_SYMLINK_CHAIN)
    endforeach()
    # No /proc either, in which programs find out where they are; a link stands in for it.
    file(MAKE_DIRECTORY "${root}/proc/self")
    file(CREATE_LINK /usr/bin/forecast "${root}/proc/self/exe" SYMBOLIC)
    set(forecast chroot "${root}" /usr/bin/forecast /usr/share/totograph/data/machine_metrics.csv)
else()
    run(dpkg-deb --extract "${programs_package}" "${root}")
    set(forecast "${root}/usr/bin/forecast" "${root}/usr/share/totograph/data/machine_metrics.csv")
endif()
set(ENV{TOTOGRAPH_DEMO_MODEL} "")
set(ENV{TOTOGRAPH_CACHE_DIR} "")
run(${forecast} --targets load_1m --horizon 16 --samples 16 --output - --quiet)
string(REGEX MATCHALL "\n" rows "${output}")
list(LENGTH rows count)
if(NOT count EQUAL 17)
    message(FATAL_ERROR "Expected a header and 16 rows from ${forecast}, found ${count} lines:\n${output}")
endif()
