#pragma once
// Temporaries: sub-expressions that a program uses several times. Balm finds common sub-expressions by
// itself.

#include <cstddef>

#include "vexcl/cast.hpp"
#include "vexcl/operations.hpp"

namespace vex {

/// The expression itself, of type T if it is given: it is computed once however often it is used.
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
