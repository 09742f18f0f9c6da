#pragma once
// Keys and values of algorithms, as a tuple of references to vectors. Accepted are one vector, std::tie(a, b)
// and, if Boost is available, any Boost.Fusion sequence of references.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#if __has_include(<boost/fusion/include/vector_tie.hpp>)
#include <boost/fusion/include/at_c.hpp>
#include <boost/fusion/include/is_sequence.hpp>
#include <boost/fusion/include/vector.hpp>
#include <boost/fusion/include/vector_tie.hpp>
#endif

#include "vexcl/vector.hpp"

namespace vex {
namespace detail {

template <class V>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<vector<T>> = true;

/// The vectors of a sequence.
template <class T>
std::tuple<vector<T>&> vectors_of(vector<T>& one) {
    return {one};
}
template <class T>
std::tuple<const vector<T>&> vectors_of(const vector<T>& one) {
    return {one};
}
template <class... V>
requires(is_vector<std::remove_const_t<V>>&&...) std::tuple<V&...> vectors_of(
    const std::tuple<V&...>& several) {
    return several;
}
#if __has_include(<boost/fusion/include/vector_tie.hpp>)
template <class S>
requires boost::fusion::traits::is_sequence<S>::value auto vectors_of(const S& sequence) {
    // boost::fusion::result_of::size would need a header that is slow to compile.
    constexpr auto count = static_cast<std::size_t>(S::size::value);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return std::tie(boost::fusion::at_c<static_cast<int>(K)>(sequence)...);
    }
    (std::make_index_sequence<count>());
}
#endif

}  // namespace detail
}  // namespace vex
