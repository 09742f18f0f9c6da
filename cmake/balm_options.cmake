# balm_options: the flags of everything compiled in this repository; never of those who use it.
add_library(balm_options INTERFACE)
target_compile_features(balm_options INTERFACE cxx_std_20)

target_compile_options(balm_options INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wshadow>"
    "$<$<AND:$<BOOL:${BALM_WERROR}>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>>:-Werror>"
    # Host results are the oracle for device results, so host compilers must not fuse either (design.md,
    # "Floating point"): g++ does so by default on arm64.
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-ffp-contract=off>")

# By default g++ collects garbage from 128 MB on; the tests' precompiled header alone takes 170 MB, which it looks through each
# time: a tenth of the time of compiling the tests.
target_compile_options(balm_options INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=500000>")

# Names of sources that are compiled together (cmake/balm_unity.cmake) meet nowhere else.
set(is_unity "$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>")
target_compile_options(balm_options INTERFACE
    "$<${is_unity}:-Wno-shadow>" "$<$<AND:${is_unity},$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>")

# g++ 12 sees overlapping copies in `"(" + text` where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(balm_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(balm_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wreserved-identifier;-Wno-reserved-macro-identifier>")
endif()

if(BALM_SANITIZE)
    target_compile_options(balm_options INTERFACE
        "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${BALM_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
    target_link_options(balm_options INTERFACE "-fsanitize=${BALM_SANITIZE}")
    # An interface library's link options do not reach what links the static library privately.
    add_link_options("-fsanitize=${BALM_SANITIZE}")
endif()

# balm_program(NAME sources... ): an executable of this repository, in bin/, linked with Balm.
function(balm_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE balm::balm balm_options)
    set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# balm_headers(NAME LINK libraries... PRECOMPILE headers... [OPTIONS options...]): headers that many programs include,
# precompiled once; `target_precompile_headers(PROGRAM REUSE_FROM NAME)` uses them. Programs include them all the same.
function(balm_headers name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;PRECOMPILE;OPTIONS")
    file(CONFIGURE OUTPUT ${name}.cpp CONTENT "")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
    set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(${name} PRIVATE ${arg_LINK})
    target_compile_options(${name} PRIVATE ${arg_OPTIONS}
        $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)  # for ccache
    target_precompile_headers(${name} PRIVATE ${arg_PRECOMPILE})
endfunction()
