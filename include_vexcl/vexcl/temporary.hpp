#pragma once
// Temporaries: subexpressions that a program marks because it uses them several times. Balm eliminates common
// subexpressions without marks.

#include <cstddef>

#include "vexcl/cast.hpp"
#include "vexcl/operations.hpp"

namespace vex {

/// The expression itself, converted to T if given. It is computed once however often it is used.
///
///     auto t = vex::make_temp<1>(log(x));
///     y = 2 * t + sin(t);
template <std::size_t Tag, detail::vexpr A>
decltype(auto) make_temp(const A& a) {
    return detail::wrap(detail::lower(a), detail::queues_of(a));
}
template <std::size_t Tag, class T, detail::vexpr A>
decltype(auto) make_temp(const A& a) {
    return cast<T>(a);
}
template <std::size_t Tag, detail::host_value A>
A make_temp(const A& a) {
    return a;
}

}  // namespace vex
