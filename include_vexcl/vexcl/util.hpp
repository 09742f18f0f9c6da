#pragma once
// Small utilities of VexCL's interface.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <balm/error.hpp>

#include "vexcl/detail/standard_headers.hpp"

namespace vex {

/// The base class of Balm's exceptions, a std::runtime_error. `std::cerr << error` prints the message.
typedef balm::error error;

/// Throws std::runtime_error with this message unless the condition holds.
template <class Condition, class Message>
void precondition(const Condition& holds, const Message& message) {
    if (!holds) throw std::runtime_error(message);
}

/// The smallest power of two that is not less than n.
inline std::size_t nextpow2(std::size_t n) { return std::bit_ceil(n); }
/// n rounded up to a multiple of m.
inline std::size_t alignup(std::size_t n, std::size_t m = 16U) { return (n + m - 1) / m * m; }

/// An array of the arguments, converted to the type of the first.
template <class T, class... Rest>
std::array<T, 1 + sizeof...(Rest)> make_array(T first, Rest... rest) {
    return {{first, static_cast<T>(rest)...}};
}

/// Whether T is a std::tuple.
template <class T>
struct is_tuple : std::false_type {};
template <class... T>
struct is_tuple<std::tuple<T...>> : std::true_type {};

/// The part that holds an element, by a vector's partition().
struct column_owner {
    const std::vector<std::size_t>& part;
    column_owner(const std::vector<std::size_t>& starts) : part(starts) {}  // NOLINT
    std::size_t operator()(std::size_t c) const {
        return static_cast<std::size_t>(std::upper_bound(part.begin(), part.end(), c) - part.begin()) - 1;
    }
};

/// The value of an environment variable, or `otherwise` if it is not set.
inline const char* getenv(const char* name, const char* otherwise = nullptr) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : otherwise;
}

}  // namespace vex
