# Where BALM_UNITY is on, a library's sources are compiled together, those of each folder as one: headers are most of
# what clang-tidy and unoptimised builds spend their time on. The preset `release` compiles each alone.
option(BALM_UNITY "Compile the sources of each folder together" OFF)

# balm_unity(TARGET [ALONE folder...]): its sources outside these folders, which give different things one name.
function(balm_unity target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" ALONE)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        cmake_path(GET folder FILENAME folder)
        if(NOT folder IN_LIST arg_ALONE)
            set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder})
        endif()
    endforeach()
    set_target_properties(${target} PROPERTIES
        UNITY_BUILD ${BALM_UNITY}
        UNITY_BUILD_MODE GROUP
        UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()
