# cmake -D program=FILE -D expected=FILE -P run_example.cmake
# Runs an example; its output must be the text of the file, where there is one.
execute_process(COMMAND "${program}" RESULT_VARIABLE status OUTPUT_VARIABLE output)
message("${output}")
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${program} ended with ${status}")
endif()
if(EXISTS "${expected}")
    file(READ "${expected}" wanted)
    if(NOT output STREQUAL wanted)
        message(FATAL_ERROR "${program} printed the text above; ${expected} has:\n${wanted}")
    endif()
endif()
