#pragma once
// Functors of sorts, scans and reductions by key: VexCL's predefined ones, and the adapters that pass a
// program's functors to Balm's algorithms. A functor has a custom function `device` in addition to its host
// operator(), or is a custom function itself.
//
//     detail::predicate<D…>(f)   a device function from elements D… to Bool
//     detail::combination<D>(f)  a device function from two elements D to one

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <balm/kernel.hpp>

#include "vexcl/function.hpp"

namespace vex {

// less and less_equal sort in ascending order, greater and greater_equal in descending order.
#define VEX_STANDARD_FUNCTOR(name, result, symbol)                      \
    template <class T>                                                  \
    struct name : std::name<T> {                                        \
        VEX_FUNCTION(result, device, (T, x)(T, y), return x symbol y;); \
        name() {}                                                       \
    };
VEX_STANDARD_FUNCTOR(plus, T, +)
VEX_STANDARD_FUNCTOR(less, bool, <)
VEX_STANDARD_FUNCTOR(less_equal, bool, <=)
VEX_STANDARD_FUNCTOR(greater, bool, >)
VEX_STANDARD_FUNCTOR(greater_equal, bool, >=)
#undef VEX_STANDARD_FUNCTOR

namespace detail {

template <class F>
inline constexpr bool is_plus = false;
template <class T>
inline constexpr bool is_plus<plus<T>> = true;

/// The device function of a functor.
template <class F>
const auto& device_part(const F& f) {
    if constexpr (requires { f.device; })
        return f.device;
    else
        return f;
}

/// Converts a device value to another type.
template <class To, class T>
balm::dsl::Var<To> as_value(const balm::dsl::Var<T>& value) {
    if constexpr (std::same_as<To, T>)
        return value;
    else
        return balm::dsl::cast<To>(value);
}
/// Calls a function with values converted to its parameter types.
template <class R, class... P, class... V>
auto call_converted(const balm::device_function<R, P...>& f, const V&... values) {
    static_assert(sizeof...(P) == sizeof...(V),
                  "the functor's number of parameters does not match the elements it is called with");
    return f(as_value<typename P::value_type>(values)...);
}

/// make(f), cached per thread as long as f is the same function.
template <class F, class Make>
const auto& kept(const F& f, const Make& make) {
    thread_local std::shared_ptr<const balm::ir::function> of;
    thread_local std::optional<decltype(make(f))> made;
    if (!made || of != f.function()) {
        made.emplace(make(f));
        of = f.function();
    }
    return *made;
}

template <class... D, class F>
const auto& predicate(const F& functor) {
    return kept(device_part(functor).balm_function(), [](const auto& f) {
        return balm::function("predicate", [f](balm::dsl::Var<D>... values) {
            return balm::dsl::Bool(as_value<bool>(balm::dsl::Var(call_converted(f, values...))));
        });
    });
}
template <class D, class F>
const auto& combination(const F& functor) {
    return kept(device_part(functor).balm_function(), [](const auto& f) {
        return balm::function("combination", [f](balm::dsl::Var<D> a, balm::dsl::Var<D> b) {
            return as_value<D>(balm::dsl::Var(call_converted(f, a, b)));
        });
    });
}

}  // namespace detail
}  // namespace vex
