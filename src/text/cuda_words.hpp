#pragma once
// Words of OpenCL C in CUDA C++, each on its own: a token in, its spelling out, or a fault for what has none.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/lexer.hpp"

namespace balm::opencl_c {

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
}
inline bool starts_with(std::string_view word, std::string_view start) {
    return word.substr(0, start.size()) == start;
}

/// Throws fault for a word that is no part of OpenCL C 1.2 as far as CUDA can be given it, or that is
/// reserved.
void refuse_foreign(const token&);

/// The call that as_TYPE or convert_TYPE[_sat][_rte|_rtz|_rtp|_rtn] is; none for other words.
std::optional<std::string> cuda_conversion(const std::string& word);

/// A number, of a type of as many bits. Throws fault for numbers of types that CUDA lacks.
std::string cuda_number(const token&);

/// An int of a signed char's value, as a character constant is in C.
std::string cuda_character(const token&);

/// Throws fault for a string with a conversion of printf for vectors, which CUDA's lacks.
void refuse_vector_formats(const token&);

/// ".xyz", ".s01F", ".even": which components, or none.
struct selection {
    std::vector<int> components;
    bool is_even = false, is_odd = false;

    bool is_every_other() const { return is_even || is_odd; }
};
std::optional<selection> components_of(std::string_view word);

}  // namespace balm::opencl_c
