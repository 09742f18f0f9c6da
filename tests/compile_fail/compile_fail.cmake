# One refusal: compiles `source` as a user would and looks for the words of its first line, "// expect: words",
# in what the compiler says; "// expect warning: words" asks for a compilation that succeeds with these. "// expect
# nothing" asks for a clean compilation, of the headers too. In: compiler (its command, separated by |), source,
# precompiled (a folder where g++ finds balm/balm.hpp.gch; clang passes it over).

file(READ "${source}" first)
string(REGEX REPLACE "\n.*" "" first "${first}")
string(REPLACE "|" ";" compiler "${compiler}")
if(NOT first MATCHES "^// expect nothing")
    list(INSERT compiler 1 "-I${precompiled}")  # before the header itself
endif()
execute_process(COMMAND ${compiler} -fsyntax-only "${source}"
    RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_VARIABLE said)
if(first MATCHES "^// expect nothing")
    if(NOT status EQUAL 0 OR said)
        message(FATAL_ERROR "${source} should compile without a word, but:\n${said}")
    endif()
    return()
endif()
if(NOT first MATCHES "^// expect( warning)?: (.+)$")
    message(FATAL_ERROR "${source} does not begin with '// expect: words'")
endif()
set(is_warning "${CMAKE_MATCH_1}")
set(words "${CMAKE_MATCH_2}")
if(is_warning AND NOT status EQUAL 0)
    message(FATAL_ERROR "${source} should compile with a warning, but:\n${said}")
elseif(NOT is_warning AND status EQUAL 0)
    message(FATAL_ERROR "${source} compiles, but should be refused with '${words}'")
endif()
string(FIND "${said}" "${words}" at)
if(at EQUAL -1)
    message(FATAL_ERROR "${source} makes the compiler speak, but not with '${words}':\n${said}")
endif()
