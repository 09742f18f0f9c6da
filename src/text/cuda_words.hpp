#pragma once
// Single words of OpenCL C in CUDA C++: from a token to its spelling, or a fault if it has none.

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

/// Throws fault for a word outside the subset of OpenCL C 1.2 that is translated to CUDA, or that is
/// reserved.
void refuse_foreign(const token&);

/// The spelling of as_TYPE and convert_TYPE[_sat][_rte|_rtz|_rtp|_rtn]; none for other words.
std::optional<std::string> cuda_conversion(const std::string& word);

/// A number, of a type with as many bits. Throws fault for half and long double, and for malformed numbers.
std::string cuda_number(const token&);

/// A character constant as in C: an int with the value of a signed char.
std::string cuda_character(const token&);

/// Throws fault for a string with a printf conversion for vectors, which CUDA's printf lacks.
void refuse_vector_formats(const token&);

/// The components that ".xyz", ".s01F" or ".even" selects; components_of returns none for other words.
struct selection {
    std::vector<int> components;
    bool is_even = false, is_odd = false;

    bool is_every_other() const { return is_even || is_odd; }
};
std::optional<selection> components_of(std::string_view word);

}  // namespace balm::opencl_c
