#pragma once
// Random numbers as a function of a position and a seed.

#include <balm/random.hpp>

#include "vexcl/detail/expression.hpp"

namespace vex {

namespace random {
/// Counter-based generators; see balm::philox and balm::threefry. Their streams are Balm's.
using philox = balm::philox;
using threefry = balm::threefry;
}  // namespace random

namespace detail {

/// Calls a generator with a position and a seed, each a number of the host or an expression.
template <class Numbers, class Index, class Seed>
auto drawn(const Numbers& numbers, const Index& index, const Seed& seed) {
    const auto integer = [](const auto& a) { return assigned<std::uint64_t>(a); };
    return wrap(numbers(integer(index), integer(seed)), queues_of(index, seed));
}

}  // namespace detail

/// Uniformly distributed numbers: of floating types in [0, 1), integers of their whole range; of short
/// vectors in each lane. The same position and seed give the same number on every device.
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

/// Normally distributed numbers of mean 0 and variance 1; else as Random.
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
