# A library's sources are compiled together, those of each layer as one, and those of each large algorithm: headers are
# most of what compilers and clang-tidy spend their time on, so that this takes a third of the time. The preset `debug`
# compiles each alone.
option(BALM_UNITY "Compile the sources of each layer together" ON)

set(balm_large_algorithms along block compact contract fft histogram merge reduce scan sort sparse spline stencil)

function(balm_unity target)
    list(JOIN balm_large_algorithms "|" large)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
        string(REGEX MATCH "^(src/algorithm/(${large})|src/[a-z]+|[a-z]+)" folder "${source}")
        cmake_path(GET folder FILENAME layer)
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${layer})
    endforeach()
    set_target_properties(${target} PROPERTIES
        UNITY_BUILD ${BALM_UNITY}
        UNITY_BUILD_MODE GROUP
        UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()

# balm_unity_batches(TARGET FILES): the sources of a program of tests, so many at a time, in the order of their names.
# All tests take two thirds of the time so (g++ 12 on two EPYC cores, with precompiled headers: 300 s of 470 s).
function(balm_unity_batches target files)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${BALM_UNITY} UNITY_BUILD_BATCH_SIZE ${files})
endfunction()
