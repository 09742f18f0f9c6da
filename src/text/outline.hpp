#pragma once
// What a text declares at its outermost level. In: preprocessed tokens. Out: its functions and kernels with
// their parameters, as far as they can be determined without a compiler's type information.

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "balm/types.hpp"
#include "text/lexer.hpp"

namespace balm::opencl_c {

enum class address : std::uint8_t { none, global, local, constant };

/// The kind of a type, as far as its words determine it.
enum class category : std::uint8_t {
    unknown,    ///< a word that no text declares
    plain,      ///< a scalar, a short vector or void
    structure,  ///< a struct or union
    enumeration,
    array,    ///< through a typedef or a pointer
    foreign,  ///< not expressible in a C++ signature: an image, a long long, a function
};

struct value_type {
    category what = category::unknown;
    scalar element = scalar::nothing;  ///< nothing means void if the type is plain
    std::uint8_t lanes = 1;
    bool is_no_parameter = false;   ///< bool, size_t …: OpenCL forbids it as a kernel's parameter
    std::string_view foreign = {};  ///< the name of a foreign type in messages
    std::string words = {};         ///< of a structure or an unknown type: "struct particle"
};

/// A value, or a pointer to one.
struct declared_type {
    value_type type;  ///< of the value that it points to in the end
    address where = address::none;
    bool is_pointer = false;
    bool points_to_const = false;
    bool is_const = false;  ///< itself
    int depth = 0;          ///< pointers to pointers: 2

    void become_pointer();
};

struct parameter : declared_type {
    tokens list;       ///< as written
    std::string name;  ///< empty if it has none
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
    declared_type result;
    std::vector<parameter> parameters;
    range all;  ///< from the first specifier to the ; or }
    std::size_t name_at = 0;
    range list;                                          ///< its parameters, without the parentheses
    range body;                                          ///< between the braces of a definition
    std::array<std::size_t, 3> required_local{0, 0, 0};  ///< reqd_work_group_size; 0: none
};

/// Any other outermost declaration: a typedef, a struct, a variable.
struct declaration {
    range all;
    bool is_type = false;  ///< declares types only
};

struct outline {
    std::vector<function> functions;
    std::vector<declaration> others;
    std::map<std::string, declared_type, std::less<>> typedefs;
    std::map<std::string, std::size_t, std::less<>> definitions;  ///< indices in `functions`

    const function* definition(std::string_view name) const;
};

/// Throws fault if brackets do not match, excess if they or prefixes, choices or statements exceed the
/// limits.
outline read_outline(const tokens&);

/// Whether the word names a vector type of OpenCL C, as "float4" does; sets its element and its lanes.
bool is_vector_name(std::string_view word, scalar& element, std::uint8_t& lanes);
address address_of(const token&);
/// The position after the bracket that matches the one at `at`. Throws fault if there is none before `end`.
std::size_t behind_bracket(const tokens&, std::size_t at, std::size_t end);

/// "float*, __local int*, uint": the parameters as a message shows them.
std::string words(const std::vector<parameter>&);

}  // namespace balm::opencl_c
