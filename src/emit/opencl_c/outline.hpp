#pragma once
// What a text declares at its outermost level. In: preprocessed tokens. Out: its functions and kernels with
// their parameters, as far as they can be told without the types of a compiler.

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "balm/types.hpp"
#include "emit/opencl_c/lexer.hpp"

namespace balm::emit::opencl_c {

enum class address : std::uint8_t { none, global, local, constant };

/// A type as far as the words say it: a scalar or a short vector, else unknown (a struct, say).
struct value_type {
    scalar element = scalar::nothing;
    std::uint8_t lanes = 1;
    bool is_known = false;  ///< void is known, and nothing
};

struct parameter {
    tokens list;       ///< as written
    std::string name;  ///< empty where it has none
    address where = address::none;
    bool is_pointer = false;
    bool points_to_const = false;
    int depth = 0;    ///< pointers to pointers: 2
    value_type type;  ///< of what it points to
};

/// A half-open range of tokens.
struct range {
    std::size_t first = 0;
    std::size_t last = 0;
};

struct function {
    std::string name;
    place where;
    bool is_kernel = false;
    bool is_definition = false;
    value_type result;
    bool returns_pointer = false;
    std::vector<parameter> parameters;
    range all;  ///< from the first specifier to the ; or }
    std::size_t name_at = 0;
    range list;                                          ///< its parameters, without the parentheses
    range body;                                          ///< between the braces of a definition
    std::array<std::size_t, 3> required_local{0, 0, 0};  ///< reqd_work_group_size; 0: none
};

/// Anything else that stands outermost: a typedef, a struct, a variable.
struct declaration {
    range all;
    bool is_type = false;  ///< declares types only
};

struct outline {
    std::vector<function> functions;
    std::vector<declaration> others;
    std::map<std::string, tokens> typedefs;  ///< simple ones: the words that the name stands for

    const function* definition(std::string_view name) const;
    value_type type_of(const tokens&) const;
};

/// Throws fault where brackets do not match.
outline read_outline(const tokens&);

/// "float4" is a short vector of OpenCL C: its element and its lanes.
bool is_vector_name(std::string_view word, scalar& element, std::uint8_t& lanes);
address address_of(const token&);
/// The token behind the bracket that matches the one at `at`; `end` where none does.
std::size_t behind_bracket(const tokens&, std::size_t at, std::size_t end);

/// "float*, __local int*, uint": the parameters as a message shows them.
std::string words(const std::vector<parameter>&);

}  // namespace balm::emit::opencl_c
