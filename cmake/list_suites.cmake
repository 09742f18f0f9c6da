# Read by ctest (through TEST_INCLUDE_FILES). In: cmake, program, list, environment (@TEST@ stands for the suite),
# timeout, labels. Writes `list`, a file with an add_test for each suite of the program, when the program or this is newer
# than it, and reads it.
#
# The instances of a typed or parametrised suite ("all/C4_copy", "C4_copy/0") are one test, "C4_copy".

function(write_suites)
    execute_process(COMMAND "${cmake}" -E env ${environment} "${program}" --gtest_list_tests
        OUTPUT_VARIABLE output RESULT_VARIABLE status TIMEOUT 120)
    if(NOT status EQUAL 0)
        file(REMOVE "${list}")
        add_test("${name}_CANNOT_LIST_ITS_TESTS" "${cmake}" -E false)
        return()
    endif()
    string(REPLACE ";" "," output "${output}")
    string(REPLACE "\n" ";" lines "${output}")
    set(suites "")
    foreach(line IN LISTS lines)
        if(NOT line MATCHES "^([A-Za-z0-9_/]+)\\.( *#.*)?$")
            continue()
        endif()
        set(instance "${CMAKE_MATCH_1}")
        string(REGEX REPLACE "/[0-9]+$" "" suite "${instance}")
        string(REGEX REPLACE "^.*/" "" suite "${suite}")
        if(suite MATCHES "^DISABLED_")
            continue()
        endif()
        list(APPEND suites ${suite})
        list(APPEND filter_${suite} "${instance}.*")
    endforeach()
    list(REMOVE_DUPLICATES suites)
    set(text "")
    foreach(suite IN LISTS suites)
        list(JOIN filter_${suite} ":" filter)
        string(REPLACE "@TEST@" "${suite}" own_environment "${environment}")
        string(APPEND text "add_test(${suite} [==[${program}]==] [==[--gtest_filter=${filter}]==])\n"
            "set_tests_properties(${suite} PROPERTIES TIMEOUT ${timeout} LABELS [==[${labels}]==] "
            "ENVIRONMENT [==[${own_environment}]==])\n")
    endforeach()
    file(WRITE "${list}" "${text}")
endfunction()

get_filename_component(name "${program}" NAME)
if(NOT EXISTS "${program}")
    add_test("${name}_NOT_BUILT" "${cmake}" -E false)
else()
    foreach(source IN ITEMS "${program}" "${CMAKE_CURRENT_LIST_FILE}" "${CMAKE_PARENT_LIST_FILE}")
        if(NOT EXISTS "${list}" OR "${source}" IS_NEWER_THAN "${list}")
            write_suites()
            break()
        endif()
    endforeach()
    include("${list}" OPTIONAL)
endif()
