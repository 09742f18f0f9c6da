#pragma once
// The members of plain structures, in order.

#include <cstddef>
#include <type_traits>
#include <utility>

namespace balm::runtime {

namespace detail {

struct anything {
    template <class T>
    operator T() const;  // NOLINT(google-explicit-constructor): initialises any member
};
template <std::size_t>
using one_thing = anything;

template <class T, std::size_t... K>
constexpr bool takes(std::index_sequence<K...>) {
    return requires { T{one_thing<K>()...}; };
}
inline constexpr std::size_t most_members = 24;
template <class T, std::size_t Count = most_members>
constexpr std::size_t member_count() {
    if constexpr (Count == 0 || takes<T>(std::make_index_sequence<Count>()))
        return Count;
    else
        return member_count<T, Count - 1>();
}

}  // namespace detail

/// Structures without bases, constructors, arrays `T x[n]`, and with at most 24 members.
template <class T>
concept plain = std::is_aggregate_v<T> && !std::is_array_v<T>;

/// Calls f with all members of a structure.
template <plain T, class F>
constexpr decltype(auto) with_members(const T& of, F&& f) {
    constexpr std::size_t count = detail::member_count<T>();
#define BALM_MEMBERS(number, ...)               \
    if constexpr (count == (number)) {          \
        const auto& [__VA_ARGS__] = of;         \
        return std::forward<F>(f)(__VA_ARGS__); \
    }
    if constexpr (count == 0) return std::forward<F>(f)();
    BALM_MEMBERS(1, a)
    BALM_MEMBERS(2, a, b)
    BALM_MEMBERS(3, a, b, c)
    BALM_MEMBERS(4, a, b, c, d)
    BALM_MEMBERS(5, a, b, c, d, e)
    BALM_MEMBERS(6, a, b, c, d, e, g)
    BALM_MEMBERS(7, a, b, c, d, e, g, h)
    BALM_MEMBERS(8, a, b, c, d, e, g, h, i)
    BALM_MEMBERS(9, a, b, c, d, e, g, h, i, j)
    BALM_MEMBERS(10, a, b, c, d, e, g, h, i, j, k)
    BALM_MEMBERS(11, a, b, c, d, e, g, h, i, j, k, l)
    BALM_MEMBERS(12, a, b, c, d, e, g, h, i, j, k, l, m)
    BALM_MEMBERS(13, a, b, c, d, e, g, h, i, j, k, l, m, n)
    BALM_MEMBERS(14, a, b, c, d, e, g, h, i, j, k, l, m, n, o)
    BALM_MEMBERS(15, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p)
    BALM_MEMBERS(16, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q)
    BALM_MEMBERS(17, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r)
    BALM_MEMBERS(18, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s)
    BALM_MEMBERS(19, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    BALM_MEMBERS(20, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    BALM_MEMBERS(21, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    BALM_MEMBERS(22, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    BALM_MEMBERS(23, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
    BALM_MEMBERS(24, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
#undef BALM_MEMBERS
}

}  // namespace balm::runtime
