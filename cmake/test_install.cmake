# Installs the build tree into a temporary place, then configures, builds and runs an outside project
# there. In: build, config, source, work, compiler, sanitize.

function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        list(JOIN ARGV " " command)
        message(FATAL_ERROR "failed with ${status}: ${command}")
    endif()
endfunction()

file(REMOVE_RECURSE "${work}")
run("${CMAKE_COMMAND}" --install "${build}" --config "${config}" --prefix "${work}/prefix")

set(flags "")
if(sanitize)
    set(flags "-fsanitize=${sanitize}")
endif()
run("${CMAKE_COMMAND}" -G Ninja -S "${source}" -B "${work}/build"
    "-DCMAKE_PREFIX_PATH=${work}/prefix" "-DCMAKE_BUILD_TYPE=${config}"
    "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_FLAGS=${flags}")
run("${CMAKE_COMMAND}" --build "${work}/build")

execute_process(COMMAND "${work}/build/outside" RESULT_VARIABLE status OUTPUT_VARIABLE output)
message("${output}")
if(NOT status EQUAL 0 OR NOT output STREQUAL "3\n")
    message(FATAL_ERROR "the outside program ended with ${status} and printed '${output}' in place of 3")
endif()
