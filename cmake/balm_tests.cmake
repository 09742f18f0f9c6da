# Tests are registered one for each suite, not for each case: a case that runs a kernel starts PoCL, half a
# second a process. The suites are asked of the program when ctest starts, so new ones need no configure.

set(BALM_TEST_TIMEOUT 600 CACHE STRING "Seconds that one test suite may take")
set(balm_test_environment
    "BALM_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache"
    # PoCL and LLVM keep their memory until the end, and are not built with sanitizers.
    "ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp:second_deadlock_stack=1")

# Tests compile thousands of kernels, which is most of their time. KERNELS says how PoCL does it:
#
#   ONCE         without Balm's kernel cache, for which PoCL compiles every kernel a second time, for work-groups of any
#                size. Each test has a cache of PoCL's for itself: processes that share one get in each other's way.
#   UNOPTIMISED  so, without the passes of its optimiser, and once for groups of any size instead of for each size: a
#                quarter of the time. The tests of the kernel language and of arrays see both, and all do with
#                BALM_TEST_OPTIMISED, as in `scripts/check.sh --long`. Without it, reruns over several devices
#                (tests/support/child_process.cpp) are of this kind whatever their parent is.
option(BALM_TEST_OPTIMISED "PoCL optimises the kernels of all layers' tests" OFF)
set(balm_kernels_ONCE "BALM_CACHE=0" "POCL_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache/pocl/@TEST@")
set(balm_kernels_UNOPTIMISED ${balm_kernels_ONCE})
if(BALM_TEST_OPTIMISED)
    list(APPEND balm_test_environment "BALM_TEST_OPTIMISED=1")
else()
    list(APPEND balm_kernels_UNOPTIMISED "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable" "POCL_WORK_GROUP_SPECIALIZATION=0")
endif()

# balm_test_properties(TEST [KERNELS how] LABELS label...): what every test of this repository has.
function(balm_test_properties test)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "KERNELS" LABELS)
    string(REPLACE "@TEST@" "${test}" kernels "${balm_kernels_${arg_KERNELS}}")
    set_tests_properties(${test} PROPERTIES
        ENVIRONMENT "${balm_test_environment};${kernels}" TIMEOUT ${BALM_TEST_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()

# balm_discover_suites(TARGET [KERNELS how] LABELS label... [THOROUGH pattern...] [LONG pattern...]): a test for each suite
# of a GoogleTest program. Those whose names match a pattern of LONG, else of THOROUGH, have that label, too.
function(balm_discover_suites target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "KERNELS" "LABELS;THOROUGH;LONG")
    set(loader "${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake")
    file(GENERATE OUTPUT "${loader}" CONTENT
"set(cmake [==[${CMAKE_COMMAND}]==])
set(program [==[$<TARGET_FILE:${target}>]==])
set(list [==[${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake]==])
set(environment [==[${balm_test_environment};${balm_kernels_${arg_KERNELS}}]==])
set(timeout ${BALM_TEST_TIMEOUT})
set(labels [==[${arg_LABELS}]==])
set(thorough [==[${arg_THOROUGH}]==])
set(long [==[${arg_LONG}]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake]==])
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${loader}")
endfunction()
