# Uses Balm from outside in the ways of docs/installing.md. Installs the build tree, moves what is installed, and uses
# it with find_package and with pkg-config. Then makes the source tree a part of the outside project, with
# add_subdirectory and with FetchContent; the most that this compiles is the outside program, as the library would take
# minutes.
#
# In: config, source (the outside project), work, compiler, sanitize; build (a build tree) or prefix (where Balm is
# installed already).

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "failed with ${status}: ${command}")
    endif()
endfunction()

function(run_outside_program program)
    execute_process(COMMAND "${program}" RESULT_VARIABLE status OUTPUT_VARIABLE output)
    message("${output}")
    if(NOT status EQUAL 0 OR NOT output STREQUAL "3\n")
        message(FATAL_ERROR "${program} ended with ${status} and printed '${output}' in place of 3")
    endif()
endfunction()

set(flags "")
if(sanitize)
    set(flags "-fsanitize=${sanitize}")
endif()

# configure_outside(FOLDER -D...): the outside project, in a build tree below `work`.
function(configure_outside folder)
    run("${CMAKE_COMMAND}" -G Ninja -S "${source}" -B "${work}/${folder}" "-DCMAKE_BUILD_TYPE=${config}"
        "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_FLAGS=${flags}" ${ARGN})
endfunction()

function(test_find_package)
    configure_outside(build "-DCMAKE_PREFIX_PATH=${prefix}")
    run("${CMAKE_COMMAND}" --build "${work}/build")
    run_outside_program("${work}/build/outside")
endfunction()

# The program alone, beside the libraries that find_package's build has made.
function(test_pkg_config)
    find_program(pkg_config NAMES pkgconf pkg-config)
    if(NOT pkg_config)
        message("no pkg-config here: balm.pc is not tested")
        return()
    endif()
    file(GLOB pc "${prefix}/lib*/pkgconfig/balm.pc" "${prefix}/lib/*/pkgconfig/balm.pc")
    cmake_path(GET pc PARENT_PATH pc_folder)
    cmake_path(GET pc_folder PARENT_PATH libraries)
    set(ENV{PKG_CONFIG_PATH} "${pc_folder}")
    set(static "")
    if(EXISTS "${libraries}/libbalm.a")
        set(static --static)
    endif()
    run("${pkg_config}" --print-errors "balm >= 0.1" "balm < 0.2")
    foreach(what IN ITEMS cflags libs)
        execute_process(COMMAND "${pkg_config}" ${static} --${what} balm
            OUTPUT_VARIABLE ${what} COMMAND_ERROR_IS_FATAL ANY)
        separate_arguments(${what} UNIX_COMMAND "${${what}}")
    endforeach()
    run("${compiler}" -std=c++20 ${flags} ${cflags} "${source}/main.cpp" -o "${work}/by_pkg_config"
        "-L${work}/build" -lfirst -lsecond ${libs} "-Wl,-rpath,${work}/build,-rpath,${libraries}")
    run_outside_program("${work}/by_pkg_config")
endfunction()

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH balm_source)
function(test_source_tree way)
    configure_outside(${way} -DCMAKE_BUILD_TYPE=Debug -DOUTSIDE_USES=${way} "-DBALM_SOURCE=${balm_source}")
    file(STRINGS "${work}/${way}/build.ninja" errors REGEX "-Werror")
    if(errors)
        message(FATAL_ERROR "Balm's warnings are errors in a project around it: ${errors}")
    endif()
    run("${CMAKE_COMMAND}" --install "${work}/${way}" --prefix "${work}/${way}_prefix")
    if(EXISTS "${work}/${way}_prefix")
        message(FATAL_ERROR "Balm is installed with a project around it")
    endif()
endfunction()

file(REMOVE_RECURSE "${work}")
if(NOT prefix)
    set(prefix "${work}/moved")
    foreach(component IN ITEMS runtime development)
        run("${CMAKE_COMMAND}" --install "${build}" --config "${config}" --prefix "${work}/prefix"
            --component ${component})
    endforeach()
    file(RENAME "${work}/prefix" "${prefix}")
endif()
test_find_package()
test_pkg_config()
if(build AND NOT sanitize)  # the source tree is the same for all builds
    test_source_tree(add_subdirectory)
    run("${CMAKE_COMMAND}" --build "${work}/add_subdirectory" --target CMakeFiles/outside.dir/main.cpp.o)
    test_source_tree(FetchContent)
endif()
