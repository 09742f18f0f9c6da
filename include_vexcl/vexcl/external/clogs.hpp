#pragma once
// The names of VexCL's header for CLOGS, implemented by Balm's algorithms on every device.

#include <concepts>
#include <type_traits>

#include "vexcl/scan.hpp"
#include "vexcl/sort.hpp"

namespace vex {
namespace clogs {

using vex::exclusive_scan;
using vex::sort;
using vex::sort_by_key;

/// Sorts by keys; equal keys keep their order.
template <class K, class V>
void stable_sort_by_key(vector<K>& keys, vector<V>& values) {
    vex::sort_by_key(keys, values);
}

/// The element types that CLOGS scans (integers and short vectors of integers), sorts by (integers), and
/// moves as values. Balm's algorithms accept more types.
template <class T>
struct is_scannable : std::false_type {};
template <std::integral T>
struct is_scannable<T> : std::bool_constant<!std::same_as<T, bool>> {};
template <detail::host_vector T>
struct is_scannable<T> : std::is_integral<typename cl_scalar_of<T>::type> {};
template <class T>
struct is_sort_key
    : std::bool_constant<std::is_integral_v<T> && std::is_unsigned_v<T> && !std::same_as<T, bool>> {};
template <class T>
struct is_clogs_type : std::bool_constant<detail::host_value<T> && !std::same_as<T, bool>> {};
template <class T>
struct is_sort_value : is_clogs_type<T> {};

}  // namespace clogs
}  // namespace vex
