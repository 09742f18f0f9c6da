# A library's sources are compiled together, those of each folder as one: headers are most of what compilers and
# clang-tidy spend their time on, so that this takes a third of the time. The preset `debug` compiles each alone.
option(BALM_UNITY "Compile the sources of each folder together" ON)

function(balm_unity target)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        cmake_path(GET folder FILENAME folder)
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder})
    endforeach()
    set_target_properties(${target} PROPERTIES
        UNITY_BUILD ${BALM_UNITY}
        UNITY_BUILD_MODE GROUP
        UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()
