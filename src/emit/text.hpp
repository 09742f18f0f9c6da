#pragma once
// A printed expression with its precedence, which decides whether it needs parentheses inside another.

#include <string>

namespace balm::emit {

/// Precedences beyond those of builtins.def; as in C, higher binds tighter.
enum precedence : int {
    ternary = 2,
    logical_or = 3,
    logical_and = 4,
    bitwise = 7,
    equality = 8,
    relation = 9,
    shift = 10,
    add_precedence = 11,
    unary = 13,
    postfix = 14,
    primary = 15
};

struct text {
    std::string words;
    int precedence = primary;
};

}  // namespace balm::emit
