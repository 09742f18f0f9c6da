#pragma once
// Keys of several vectors, packed into structures: Balm's sort by a comparison takes one vector of keys.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <balm/dsl/fields.hpp>
#include <balm/kernel.hpp>
#include <balm/structure.hpp>

#include "vexcl/detail/functors.hpp"

namespace vex {
namespace detail {

/// A structure of elements of several types, each a scalar or a short vector.
template <class First, class... Rest>
struct packed_keys {
    First first;
    packed_keys<Rest...> rest;
};
template <class Last>
struct packed_keys<Last> {
    Last first;
};

/// The fields as BALM_STRUCT declares them; BALM_STRUCT itself does not support templates.
template <class Access, class First, class... Rest>
struct packed_fields {
    explicit packed_fields(const typename Access::pointer& at, int next = 0)
        : first(at, next), rest(at, next + 1) {}
    typename Access::template field<First> first;
    typename Access::template field<packed_keys<Rest...>> rest;
};
template <class Access, class Last>
struct packed_fields<Access, Last> {
    explicit packed_fields(const typename Access::pointer& at, int next = 0) : first(at, next) {}
    typename Access::template field<Last> first;
};
template <class Access, class... K>
packed_fields<Access, K...> balm_fields_of(Access, const packed_keys<K...>*);

/// "keys_i32x1_f32x1": a unique name for each structure.
template <class... K>
const std::string& name_of_packed() {
    static const std::string name = [] {
        std::string words = "keys";
        const auto add = [&](balm::trace::type type) {
            words += '_' + std::string(balm::to_string(type.element)) + 'x' + std::to_string(type.lanes);
        };
        (add(balm::detail::type_of_element<K>()), ...);
        return words;
    }();
    return name;
}

template <class First, class Second, class... Rest>
const balm::trace::structure& balm_structure(const packed_keys<First, Second, Rest...>*) {
    using S = packed_keys<First, Second, Rest...>;
    static const balm::trace::member members[] = {
        balm::detail::describe_member<First>("first", offsetof(S, first)),
        balm::detail::describe_member<packed_keys<Second, Rest...>>("rest", offsetof(S, rest))};
    static const balm::trace::structure description{name_of_packed<First, Second, Rest...>().c_str(),
                                                    sizeof(S), alignof(S), members, 2};
    return description;
}
template <class Last>
const balm::trace::structure& balm_structure(const packed_keys<Last>*) {
    using S = packed_keys<Last>;
    static const balm::trace::member members[] = {
        balm::detail::describe_member<Last>("first", offsetof(S, first))};
    static const balm::trace::structure description{name_of_packed<Last>().c_str(), sizeof(S), alignof(S),
                                                    members, 1};
    return description;
}

template <class Fields, class First, class... Rest>
void store_packed(Fields& to, const First& first, const Rest&... rest) {
    to.first = first;
    if constexpr (sizeof...(Rest) > 0) store_packed(to.rest, rest...);
}
/// Calls f with the members of the first structure, then those of the second.
template <std::size_t Left, class F, class Fields, class... Done>
auto call_unpacked(const F& f, const Fields& next, const auto& second, const Done&... done) {
    using T = typename std::remove_cvref_t<decltype(next.first)>::value_type;
    const balm::dsl::Var<T> own = next.first;
    if constexpr (requires { next.rest; })
        return call_unpacked<Left>(f, next.rest, second, done..., own);
    else if constexpr (Left > 0)
        return call_unpacked<0>(f, second, second, done..., own);
    else
        return call_converted(f, done..., own);
}

/// Packs vectors of keys into a vector of structures.
template <class... K>
balm::vector<packed_keys<K...>> packed(const balm::vector<K>&... keys) {
    static const auto& pack = *new auto(balm::function("packed", [](balm::dsl::Var<K>... each) {
        balm::dsl::Var<packed_keys<K...>> made;
        store_packed(made, each...);
        return made;
    }));
    return balm::call_function(pack, keys...);
}
/// The program's comparison, as a comparison of structures.
template <class... K, class F>
const auto& packed_comparison(const F& functor) {
    using S = packed_keys<K...>;
    return kept(device_part(functor).balm_function(), [](const auto& f) {
        return balm::function("is_ahead", [f](balm::dsl::Var<S> a, balm::dsl::Var<S> b) {
            return balm::dsl::Bool(as_value<bool>(balm::dsl::Var(call_unpacked<sizeof...(K)>(f, a, b))));
        });
    });
}

}  // namespace detail
}  // namespace vex
