// The values that an array program runs on: elements of vectors, host scalars, seeds.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/array_program.hpp"

namespace balm::test {

namespace {

void redraw(array_node& n, std::mt19937_64& random) {
    if (n.what == array_node::kind::random) {
        n.seed = random() % 2 == 0 ? random() : random() % 100;
        n.stream = random() % 2 == 0 ? 0 : random();
    }
    if (n.what == array_node::kind::scalar && !n.is_fixed) {
        constexpr double special[] = {-0.0, HUGE_VAL, -HUGE_VAL, NAN};
        n.given = static_cast<double>(random() % 12 + (random() % 8 == 0 ? 50 : 0));
        if (is_floating(n.given_as))
            n.given = random() % 10 == 0
                          ? special[random() % 4]
                          : (n.given - 6) / static_cast<double>(std::uint64_t{1} << random() % 4);
        else if (is_signed(n.given_as) && random() % 5 == 0)
            n.given = 0 - n.given;  // no integer is -0
    }
    for (const node_pointer& each : n.in) redraw(*each, random);
}

/// Where a type's rules change: zeros, infinities, NaN, subnormal numbers, the ends of its range.
number special_number(scalar type, std::mt19937_64& random) {
    const std::uint64_t which = random() % 8;
    if (!is_floating(type)) {
        const real range = std::ldexp(1.0L, static_cast<int>(8 * size_of(type)) - (is_signed(type) ? 1 : 0));
        const real ends[] = {range - 1, is_signed(type) ? -range : 0, 0,
                             is_signed(type) ? real(-1) : range - 1};
        return {ends[which % 4], 0, true};
    }
    const int digits = type == scalar::f64 ? 53 : type == scalar::f32 ? 24 : 11;
    const int least = type == scalar::f64 ? -1022 : type == scalar::f32 ? -126 : -14;
    const auto some = static_cast<long double>(random() % ((std::uint64_t{1} << (digits - 1)) - 1) + 1);
    const real subnormal = std::ldexp(some, least - digits + 1);
    const real values[] = {0.0L,
                           -0.0L,
                           HUGE_VALL,
                           -HUGE_VALL,
                           std::nanl(""),
                           random() % 2 == 0 ? subnormal : -subnormal,
                           std::ldexp(random() % 2 == 0 ? 1.0L : 3.0L, least),
                           std::ldexp(2 - std::ldexp(1.0L, 1 - digits), 1 - least)};
    return {values[which], 0, true};
}

/// Of one kind: any real numbers or integers; quarters; small whole numbers.
number draw_number(scalar type, int kind, std::mt19937_64& random) {
    const std::uint64_t bits = random();
    const auto small = static_cast<real>(static_cast<long>(bits % 41) - 20);
    if (type == scalar::boolean) return number::truth((bits >> 20 & 1) != 0);
    if (!is_floating(type)) {
        const auto any = static_cast<real>(static_cast<std::int64_t>(bits));
        return converted(type, scalar::i64,
                         {kind == 0         ? any
                          : is_signed(type) ? small
                                            : small + 20,
                          0, true});
    }
    if (kind > 0) return {kind == 1 ? small / 4 : small, 0, true};
    const int digits = type == scalar::f64 ? 32 : type == scalar::f32 ? 24 : 10;  // in [-32, 32)
    const auto drawn = static_cast<long double>(bits >> (64 - digits));
    return {static_cast<real>(std::ldexp(drawn, 6 - digits) - 32), 0, true};
}

}  // namespace

void redraw_scalars(array_program& p, std::mt19937_64& random) {
    for (array_statement& s : p.statements)
        for (const node_pointer& each : s.values) redraw(*each, random);
}

std::vector<number> draw_elements(const array_vector& v, std::mt19937_64& random) {
    std::vector<number> elements(v.size);
    if (v.positions_in > 0) {
        if (v.may_repeat) {
            for (number& each : elements) each.value = static_cast<real>(random() % v.positions_in);
            return elements;
        }
        std::vector<std::size_t> positions(v.positions_in);
        std::iota(positions.begin(), positions.end(), std::size_t{0});
        std::shuffle(positions.begin(), positions.end(), random);
        for (std::size_t k = 0; k < v.size; ++k) elements[k].value = static_cast<real>(positions[k]);
        return elements;
    }
    const int kind = static_cast<int>(random() % 4);
    const std::size_t specials = random() % 4 == 0 ? random() % 10 + 1 : 0;  // of 20 elements
    elements.resize(v.size * v.numbers());
    for (std::size_t k = 0; k < elements.size(); ++k) {
        const scalar type = v.number_type(k % v.numbers());
        const bool is_special = type != scalar::boolean && random() % 20 < specials;
        elements[k] = is_special ? special_number(type, random) : draw_number(type, kind, random);
    }
    return elements;
}

}  // namespace balm::test
