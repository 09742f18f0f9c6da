#pragma once
// Random numbers as a function of an index and a seed.

#include <balm/random.hpp>

#include "vexcl/detail/expression.hpp"

namespace vex {

namespace random {
/// Counter-based generators; see balm::philox and balm::threefry. Their streams differ from VexCL's.
using philox = balm::philox;
using threefry = balm::threefry;
}  // namespace random

namespace detail {

/// Calls a generator with an index and a seed, each a host number or an expression.
template <class Numbers, class Index, class Seed>
auto drawn(const Numbers& numbers, const Index& index, const Seed& seed) {
    balm::expr<std::uint64_t> i = assigned<std::uint64_t>(index), s = assigned<std::uint64_t>(seed);
    match(i, s);
    return wrap(numbers(std::move(i), std::move(s)), queues_of(index, seed));
}

}  // namespace detail

/// Uniformly distributed numbers: floating-point types in [0, 1), integers over their whole range; short
/// vectors have independent lanes. The same index and seed yield the same number on every device.
///
///     vex::Random<double> number;
///     x = 2 * number(vex::element_index(), std::rand()) - 1;
template <class T, class Generator = random::philox>
class Random {
public:
    typedef T result_type;

    template <class Index, class Seed>
    requires detail::operands<Index, Seed>
    decltype(auto) operator()(const Index& index, const Seed& seed) const {
        return detail::drawn(balm::uniform<detail::balm_element<T>, Generator>(), index, seed);
    }
};

/// Normally distributed numbers of mean 0 and variance 1. Otherwise as Random.
template <class T, class Generator = random::philox>
class RandomNormal {
public:
    typedef T result_type;

    template <class Index, class Seed>
    requires detail::operands<Index, Seed>
    decltype(auto) operator()(const Index& index, const Seed& seed) const {
        return detail::drawn(balm::normal<detail::balm_element<T>, Generator>(), index, seed);
    }
};

}  // namespace vex
