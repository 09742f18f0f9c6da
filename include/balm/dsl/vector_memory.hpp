#pragma once
// Loads and stores of vectors in memory of scalars: OpenCL C's vloadN and vstoreN. No alignment is required.
//
//     Float3 p = vload<3>(coordinates, i);  // elements 3 i, 3 i + 1, 3 i + 2
//     vstore(p * 2.f, coordinates, i);

#include <cstdint>
#include <utility>

#include "balm/dsl/lanes.hpp"
#include "balm/dsl/memory.hpp"

namespace balm::dsl {

namespace detail {

/// Memory, a pointer or an array: anything with an index operator.
template <class M>
concept indexed = requires(const M& memory, const located_index& i) {
    memory[i];
};

/// The index i * lanes + k.
inline located_index scalar_of_vector(const located_index& i, int lanes, int k) {
    const Index first = Index(trace::convert(i.value, scalar::i64)) * lanes;
    return {first + k, i.where.file, i.where.line};
}

/// The value loaded at an index.
template <indexed M>
auto value_at(const M& memory, const located_index& i) {
    using element = std::remove_cvref_t<decltype(memory[i])>;
    static_assert(device_value<element>, "Balm: vload and vstore take memory of scalars");
    static_assert(balm::detail::lanes_of<typename value_type<element>::type> == 1,
                  "Balm: vload and vstore take memory of scalars; memory of vectors is indexed: v[i]");
    return Var<typename value_type<element>::type>(memory[i]);
}

template <int N, indexed M, std::size_t... K>
auto loaded_lanes(const M& memory, const located_index& i, std::index_sequence<K...>) {
    using T = typename decltype(value_at(memory, i))::value_type;
    node lanes[N];
    ((lanes[K] = trace::read(value_at(memory, scalar_of_vector(i, N, static_cast<int>(K))).node())), ...);
    return Var<vec<T, N>>(trace::compose(trace::type(scalar_of<T>, N), lanes, N));
}

}  // namespace detail

/// The N scalars from element i * N on, as a vector. `memory` is an In, Mixed or Local, a pointer, an array
/// or constants. Elements of type half are loaded as Float.
template <int N, detail::indexed M>
auto vload(const M& memory, located_index i) {
    static_assert(N == 2 || N == 3 || N == 4 || N == 8 || N == 16,
                  "Balm: a vector has 2, 3, 4, 8 or 16 lanes");
    return detail::loaded_lanes<N>(memory, i, std::make_index_sequence<N>());
}

/// Writes the lanes of v to the elements from i * N on, where N is the number of lanes of v.
template <detail::vector_operand V, detail::indexed M>
void vstore(V&& v, const M& memory, located_index i) {
    constexpr int lanes = detail::lanes_in<V>();
    const auto value = detail::as_vector(static_cast<V&&>(v));
    for (int k = 0; k < lanes; ++k) memory[detail::scalar_of_vector(i, lanes, k)] = value[k];
}

}  // namespace balm::dsl
