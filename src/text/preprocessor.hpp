#pragma once
// C's preprocessor, for texts that are not compiled by an OpenCL compiler. In: the texts of a program. Out:
// one list of tokens with every macro expanded and every condition decided.

#include "ir/text_body.hpp"
#include "text/lexer.hpp"

namespace balm::opencl_c {

/// The list ends with kind::end. The macros of OpenCL C 1.2 are defined (__OPENCL_VERSION__,
/// CLK_LOCAL_MEM_FENCE, M_PI …). Throws fault for an unresolved include, an #error or a malformed directive;
/// excess beyond the limits of a text.
tokens preprocess(const ir::text_list&);

}  // namespace balm::opencl_c
