// What a random array program computes, element by element.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <numeric>

#include "ir/with_type.hpp"
#include "support/array_program.hpp"
#include "support/exact_complex.hpp"
#include "support/random_reference.hpp"

namespace balm::test {

namespace {

real absolute(real v) { return v < 0 ? -v : v; }
real greatest_of(scalar type) {
    return type == scalar::f32 ? std::ldexp(1.0L, 127) : static_cast<real>(std::ldexp(1.0L, 1023));
}

/// The row-major coordinates of element k of a box.
extent_list coordinates(std::size_t k, const extent_list& box) {
    extent_list at(box.size());
    for (std::size_t d = box.size(); d-- > 0;) {
        at[d] = k % box[d];
        k /= box[d];
    }
    return at;
}
std::size_t flat(const extent_list& at, const extent_list& box) {
    std::size_t k = 0;
    for (std::size_t d = 0; d < box.size(); ++d) k = k * box[d] + at[d];
    return k;
}

/// The positions that a part takes of a dimension.
extent_list positions_of(const dimension_part& part, std::size_t size) {
    extent_list list;
    switch (part.what) {
        case dimension_part::kind::one: return {static_cast<std::size_t>(part.begin)};
        case dimension_part::kind::range:
            for (std::int64_t at = part.begin; part.stride > 0 ? at < part.end : at > part.end;
                 at += part.stride)
                list.push_back(static_cast<std::size_t>(at));
            return list;
        default: break;
    }
    for (std::size_t k = 0; k < size; ++k)
        list.push_back(part.what == dimension_part::kind::all ? k : size - 1 - k);
    return list;
}

/// Which element each one of a new box is, of the old box's.
struct rearrangement {
    extent_list box;
    extent_list from;
};

rearrangement sliced(const extent_list& box, const std::vector<dimension_part>& parts) {
    std::vector<extent_list> taken;
    extent_list all, kept;
    for (std::size_t d = 0; d < box.size(); ++d) {
        taken.push_back(positions_of(parts[d], box[d]));
        all.push_back(taken.back().size());
        if (parts[d].what != dimension_part::kind::one) kept.push_back(all.back());
    }
    rearrangement made{kept.empty() ? extent_list{1} : kept, {}};
    for (std::size_t k = 0; k < product_of(all); ++k) {
        extent_list at = coordinates(k, all);
        for (std::size_t d = 0; d < box.size(); ++d) at[d] = taken[d][at[d]];
        made.from.push_back(flat(at, box));
    }
    return made;
}
rearrangement transposed(const extent_list& box, const std::vector<int>& order) {
    rearrangement made;
    for (const int d : order) made.box.push_back(box[static_cast<std::size_t>(d)]);
    for (std::size_t k = 0; k < product_of(made.box); ++k) {
        const extent_list at = coordinates(k, made.box);
        extent_list old(box.size());
        for (std::size_t d = 0; d < order.size(); ++d) old[static_cast<std::size_t>(order[d])] = at[d];
        made.from.push_back(flat(old, box));
    }
    return made;
}
rearrangement broadcast(const extent_list& box, const extent_list& to) {
    rearrangement made{to, {}};
    for (std::size_t k = 0; k < product_of(to); ++k) {
        const extent_list at = coordinates(k, to);
        extent_list old(box.size());
        for (std::size_t d = 0; d < box.size(); ++d)
            old[d] = box[d] == 1 ? 0 : at[d + to.size() - box.size()];
        made.from.push_back(flat(old, box));
    }
    return made;
}

// ---- reductions ----

/// Whether numbers of a floating type can be added in any order without rounding.
bool adds_exactly(const std::vector<number>& all, scalar type) {
    const int digits = type == scalar::f32 ? 24 : 53;
    real sum = 0;
    for (const number& n : all) {
        if (n.error > 0) return false;
        const real scaled = n.value * 256;
        if (absolute(n.value) > real(1LL << 40) ||
            static_cast<real>(static_cast<long long>(scaled)) != scaled)
            return false;
        sum += absolute(scaled);
    }
    return sum < std::ldexp(1.0L, digits);
}

/// A sum or product with infinities or NaNs among its operands, in whatever order.
number special_result(const std::vector<number>& all, builtin row) {
    real result = row == builtin::add ? 0 : 1;
    for (const number& n : all) {
        if (n.is_finite() && n.error > 0 && row == builtin::mul && absolute(n.value) <= n.error)
            return number::unknown();
        if (row == builtin::add && n.is_finite()) continue;
        const real sign = n.value < 0 ? -1 : 1;
        result = row == builtin::add             ? result + n.value
                 : n.is_finite() && n.value != 0 ? result * sign
                                                 : result * n.value;
    }
    return {result, 0, true};
}
bool has_specials(const std::vector<number>& all) {
    return std::any_of(all.begin(), all.end(), [](const number& n) { return !n.is_finite(); });
}

number sum_of(const std::vector<number>& all, scalar type, bool is_compensated) {
    real sum = 0, magnitude = 0, error = 0;
    for (const number& n : all)
        if (n.is_finite()) magnitude += absolute(n.value) + n.error;
    if (is_floating(type) && magnitude > greatest_of(type)) return number::unknown();
    if (has_specials(all)) return special_result(all, builtin::add);
    magnitude = 0;
    for (const number& n : all) {
        sum += n.value;
        magnitude += absolute(n.value);
        error += n.error;
    }
    if (!is_floating(type)) {
        if (is_signed(type) && magnitude > real(INT32_MAX) && type == scalar::i32) return number::unknown();
        if (is_signed(type) && magnitude > real(INT64_MAX)) return number::unknown();
        number total{0, 0, true};
        for (const number& n : all) {
            const number both[] = {total, n};
            total = computed(builtin::add, type, both);
        }
        return total;
    }
    if (adds_exactly(all, type)) return sum == 0 ? number::either_zero(0) : number{sum, 0, true};
    const auto unit = static_cast<real>(std::ldexp(1.0L, type == scalar::f32 ? -24 : -53));
    // No term is in more than 64 + 32 + 32 additions and a tree's; the compensated sum rounds twice.
    const real of_order = is_compensated ? 4 * absolute(sum) * unit + 1024 * magnitude * unit * unit *
                                                                          static_cast<real>(all.size() + 16)
                                         : 160 * magnitude * unit;
    return rounded(type, sum, error + of_order);
}

number product_of(const std::vector<number>& all, scalar type) {
    number product{1, 0, true};
    real magnitude = 1, least = 1;
    for (const number& n : all) {
        const real v = absolute(n.value);
        if (v > 1 && n.is_finite()) magnitude *= v;
        if (v < 1 && v > 0) least *= v;
    }
    if (is_floating(type)) {
        // In another order other intermediate results are beyond the type, or too small for it.
        if (magnitude * 2 > greatest_of(type) || least * greatest_of(type) < 16) return number::unknown();
        if (has_specials(all)) return special_result(all, builtin::mul);
    } else if (is_signed(type) && magnitude > real(INT32_MAX)) {
        return number::unknown();
    }
    for (const number& n : all) {
        const number both[] = {product, n};
        product = computed(builtin::mul, type, both);
        if (!product.is_known) return product;
    }
    if (is_floating(type) && (product.value != 0 || product.error > 0))
        product.error += static_cast<real>(all.size()) * absolute(product.value) *
                         static_cast<real>(std::ldexp(1.0L, type == scalar::f32 ? -23 : -52));
    return product;
}

/// The extreme, or where it is; NaNs are passed over.
number extreme_of(const std::vector<number>& all, bool is_least, bool wants_position) {
    const auto first = std::find_if(all.begin(), all.end(), [](const number& n) { return !n.is_nan(); });
    if (first == all.end()) return wants_position ? number{0, 0, true} : number::not_a_number();
    auto best = first;
    real error = 0;
    for (auto each = first; each != all.end(); ++each) {
        error = std::max(error, each->error);
        if (is_least ? each->value < best->value : each->value > best->value) best = each;
    }
    if (wants_position)
        return error > 0 ? number::unknown() : number{static_cast<real>(best - all.begin()), 0, true};
    if (!best->is_finite()) return *best;
    return best->value == 0 ? number::either_zero(error) : number{best->value, error, true};
}

/// What a user's function makes of all elements.
number folded(const std::vector<number>& all, reduction_row row, scalar type) {
    number result{static_cast<real>(identity_of(row)), 0, true};
    for (const number& n : all) {
        if (n.is_nan()) return number::unknown();  // the identity does not leave it as it is
        const number both[] = {result, n};
        const number sizes[] = {computed(builtin::abs, type, &both[0]),
                                computed(builtin::abs, type, &both[1])};
        switch (row) {
            case reduction_row::fold_join: result = computed(builtin::bit_or, type, both); break;
            case reduction_row::fold_multiply: result = computed(builtin::mul, type, both); break;
            case reduction_row::fold_wrap: result = computed(builtin::add, type, both); break;
            default: result = computed(builtin::max, type, sizes);
        }
    }
    return result;
}

number counted(const std::vector<number>& all, scalar type, reduction_row row) {
    std::size_t count = 0;
    for (const number& n : all) {
        const number truth = converted(scalar::boolean, type, n);
        if (!truth.is_known) return truth;
        count += truth.value != 0;
    }
    if (row == reduction_row::any) return number::truth(count > 0);
    if (row == reduction_row::all) return number::truth(count == all.size());
    return {static_cast<real>(count), 0, true};
}

/// A reduction; of arg_min and arg_max the position.
number reduced(reduction_row row, scalar type, std::vector<number> all) {
    if (std::any_of(all.begin(), all.end(), [](const number& n) { return !n.is_known; }))
        return number::unknown();
    const scalar wide = row == reduction_row::sum || row == reduction_row::product || is_fold(row)
                            ? reduced_type(row, type)
                            : type;
    for (number& n : all) n = converted(wide, type, n);
    if (is_fold(row)) return folded(all, row, wide);
    switch (row) {
        case reduction_row::sum: return sum_of(all, wide, false);
        case reduction_row::sum_compensated: return sum_of(all, wide, true);
        case reduction_row::product: return product_of(all, wide);
        case reduction_row::min:
        case reduction_row::max: return extreme_of(all, row == reduction_row::min, false);
        case reduction_row::arg_min:
        case reduction_row::arg_max: return extreme_of(all, row == reduction_row::arg_min, true);
        default: return counted(all, type, row);
    }
}

}  // namespace

std::size_t product_of(const extent_list& box) {
    return std::accumulate(box.begin(), box.end(), std::size_t{1}, std::multiplies<>());
}

host_values array_oracle::viewed(host_values of, const std::vector<view_step>& steps) {
    for (const view_step& s : steps) {
        rearrangement made;
        switch (s.what) {
            case view_step::kind::reshape: of.box = s.to; continue;
            case view_step::kind::slice: made = sliced(of.box, s.parts); break;
            case view_step::kind::transpose: made = transposed(of.box, s.order); break;
            case view_step::kind::broadcast: made = broadcast(of.box, s.to); break;
            case view_step::kind::pick:
                made.box = s.to;
                for (const number& n : evaluate(*s.positions, product_of(s.to)).at)
                    made.from.push_back(static_cast<std::size_t>(n.value));
                break;
        }
        host_values moved{made.box, {}};
        for (const std::size_t k : made.from) moved.at.push_back(of.at.at(k));
        of = std::move(moved);
    }
    return of;
}

host_values array_oracle::along(const array_node& n) {
    const host_values of = evaluate(*n.in[0], n.count);
    extent_list kept, lost;
    const auto is_lost = [&](std::size_t d) {
        return std::find(n.dimensions.begin(), n.dimensions.end(), static_cast<int>(d)) != n.dimensions.end();
    };
    for (std::size_t d = 0; d < of.box.size(); ++d) (is_lost(d) ? lost : kept).push_back(of.box[d]);
    if (kept.empty()) kept = {1};
    std::vector<std::vector<number>> groups(product_of(kept));
    for (std::size_t k = 0; k < of.at.size(); ++k) {
        const extent_list at = coordinates(k, of.box);
        std::size_t place = 0;
        for (std::size_t d = 0; d < at.size(); ++d)
            if (!is_lost(d)) place = place * of.box[d] + at[d];
        groups[place].push_back(of.at[k]);
    }
    host_values made{kept, {}};
    for (const auto& group : groups) made.at.push_back(reduced(n.reduces, n.in[0]->type, group));
    return made;
}

namespace {

/// A number of the type's distribution.
template <class Generator, class T>
number reference_number(const array_node& n, std::uint64_t index, std::uint64_t seed) {
    if constexpr (std::floating_point<T>)
        if (n.is_normal) {
            const auto value = reference_normal<Generator, T>(index, seed, n.stream);
            const long double unit = std::numeric_limits<T>::epsilon() * std::max(1.0L, std::fabs(value));
            return {static_cast<real>(value), static_cast<real>(3 * unit), true};
        }
    return {static_cast<real>(reference_uniform<Generator, T>(index, seed, n.stream)), 0, true};
}
template <class T>
number reference_number(const array_node& n, std::uint64_t index, std::uint64_t seed) {
    return n.is_threefry ? reference_number<threefry, T>(n, index, seed)
                         : reference_number<philox, T>(n, index, seed);
}

}  // namespace

host_values array_oracle::random_numbers(const array_node& n, std::size_t count) {
    host_values made = evaluate(*n.in[0], count);
    const std::vector<number> seeds =
        n.in.size() > 1 ? evaluate(*n.in[1], count).at : std::vector<number>(made.at.size());
    for (std::size_t k = 0; k < made.at.size(); ++k) {
        number& at = made.at[k];
        at.is_known = at.is_known && seeds[k].is_known;
        if (!at.is_known) continue;
        const auto bits_of = [](const number& each) {
            return static_cast<std::uint64_t>(converted(scalar::u64, scalar::i64, each).value);
        };
        const std::uint64_t seed = n.in.size() > 1 ? bits_of(seeds[k]) : n.seed;
        ir::with_type(
            n.type, [&]<class T>(std::type_identity<T>) { at = reference_number<T>(n, bits_of(at), seed); });
    }
    return made;
}

host_values array_oracle::looked_up(const array_node& n, std::size_t count) {
    host_values made = evaluate(*n.in[0], count);
    for (number& each : made.at) each = vectors[n.which].at(static_cast<std::size_t>(each.value));
    return made;
}

namespace {

/// Combines the numbers of two values.
host_values zipped(const host_values& a, const host_values& b, builtin row, scalar type) {
    host_values made{a.box.size() > 1 ? a.box : b.box, {}};
    for (std::size_t k = 0; k < a.at.size(); ++k) {
        const number both[] = {a.at[k], b.at[k]};
        made.at.push_back(computed(row, type, both));
    }
    return made;
}

}  // namespace

namespace {

/// `&&` and `||`: known where one of the operands decides.
number joined(bool wants_both, const number& a, const number& b) {
    for (const number* n : {&a, &b})
        if (n->is_known && (n->value != 0) != wants_both) return number::truth(!wants_both);
    return a.is_known && b.is_known ? number::truth(wants_both) : number::unknown();
}

}  // namespace

/// An element from its operands' numbers, of complex numbers both.
template <class F>
host_values array_oracle::each_element(const array_node& n, std::size_t count, F&& number_of) {
    std::vector<std::vector<host_values>> in;
    host_values made{{count}, {}};
    for (const node_pointer& each : n.in) {
        const std::size_t numbers = is_complex(each->form) ? 2 : 1;
        std::vector<host_values>& parts = in.emplace_back();
        for (std::size_t part = 0; part < numbers; ++part) parts.push_back(evaluate(*each, count, part));
        if (parts[0].box.size() > 1) made.box = parts[0].box;
    }
    operand_numbers operands(in.size());
    for (std::size_t k = 0; k < in[0][0].at.size(); ++k) {
        for (std::size_t o = 0; o < in.size(); ++o) {
            operands[o].clear();
            for (const host_values& part : in[o]) operands[o].push_back(part.at[k]);
        }
        made.at.push_back(number_of(operands));
    }
    return made;
}

host_values array_oracle::product_of_complex(const array_node& n, std::size_t count, std::size_t lane) {
    return each_element(n, count, [&](const operand_numbers& in) {
        const auto product = [&](std::size_t a, std::size_t b) {
            const number both[] = {in[0][a], in[1][b]};
            return computed(builtin::mul, n.type, both);
        };
        const number products[] = {product(0, lane), product(1, 1 - lane)};
        return computed(lane == 0 ? builtin::sub : builtin::add, n.type, products);
    });
}

namespace {

/// A part of z / w, where w is finite and not 0 and nothing overflows: normwise as accurate as a product,
/// with the error of each part near the sizes of the products that it is the sum of.
number quotient_part(const number* z, const number* w, std::size_t lane, scalar type) {
    const auto size = [](const number& n) { return absolute(n.value) + n.error; };
    const auto off = [&](const number& a, const number& b) {
        return size(a) * size(b) - absolute(a.value * b.value);
    };
    const number &a = z[lane], &b = z[1 - lane];
    const real sign = lane == 0 ? 1 : -1;
    const real divisor = w[0].value * w[0].value + w[1].value * w[1].value;
    const real divisor_off = off(w[0], w[0]) + off(w[1], w[1]);
    if (divisor <= 2 * divisor_off) return number::unknown();
    const real least = divisor - divisor_off;
    const real part = (a.value * w[0].value + sign * b.value * w[1].value) / divisor;
    const real products = size(a) * size(w[0]) + size(b) * size(w[1]);
    const real all = (size(a) + size(b)) * (size(w[0]) + size(w[1]));
    const real given_off = off(a, w[0]) + off(b, w[1]) + absolute(part) * divisor_off;
    const bool is_double = type == scalar::f64;
    const auto unit = static_cast<real>(std::ldexp(1.0L, is_double ? -53 : -24)),
               underflow = static_cast<real>(std::ldexp(1.0L, is_double ? -512 : -64));
    const number rounding = rounded(
        type, part, (given_off + 4 * unit * products + underflow * all) / least + 6 * unit * absolute(part));
    return rounding.is_known && rounding.value == 0 && rounding.error == 0 ? number::either_zero(0)
                                                                           : rounding;
}

/// C99, Annex G.5.1: a finite number by an infinite one is 0; an infinite one by a finite one, and any but 0
/// by 0, as the example there has it, which the host's division follows.
number special_quotient_part(const number* z, const number* w, std::size_t lane, scalar type) {
    const auto is_exact = [](const number& n) { return n.error == 0; };
    if (!std::all_of(z, z + 2, is_exact) || !std::all_of(w, w + 2, is_exact)) return number::unknown();
    const auto is_infinite = [](const number* c) {
        return std::any_of(c, c + 2, [](const number& n) { return !n.is_finite() && !n.is_nan(); });
    };
    const bool is_finite = z[0].is_finite() && z[1].is_finite();
    if (is_infinite(w)) return is_finite ? number::either_zero(0) : number::unknown();
    number part;
    const auto divide = [&]<class T>(std::type_identity<T>) {
        const auto on_host = [](const number* c) {
            return std::complex<T>(static_cast<T>(c[0].value), static_cast<T>(c[1].value));
        };
        const std::complex<T> quotient = on_host(z) / on_host(w);
        part.value = static_cast<real>(lane == 0 ? quotient.real() : quotient.imag());
    };
    if (type == scalar::f64)
        divide(std::type_identity<double>{});
    else
        divide(std::type_identity<float>{});
    return !part.is_finite() && !part.is_nan() ? part : number::unknown();
}

/// Whether the parts of complex operands all are so.
template <class F>
bool all_parts(const std::vector<std::vector<number>>& in, F&& are) {
    return std::all_of(in.begin(), in.end(),
                       [&](const auto& parts) { return std::all_of(parts.begin(), parts.end(), are); });
}
bool are_known(const std::vector<std::vector<number>>& in) {
    return all_parts(in, [](const number& n) { return n.is_known; });
}
bool are_finite(const std::vector<std::vector<number>>& in) {
    return all_parts(in, [](const number& n) { return n.is_finite(); });
}

}  // namespace

host_values array_oracle::quotient_of_complex(const array_node& n, std::size_t count, std::size_t lane) {
    return each_element(n, count, [&](const operand_numbers& in) {
        if (!are_known(in)) return number::unknown();
        const bool is_zero = in[1][0].value == 0 && in[1][1].value == 0;
        return is_zero || !are_finite(in) ? special_quotient_part(in[0].data(), in[1].data(), lane, n.type)
                                          : quotient_part(in[0].data(), in[1].data(), lane, n.type);
    });
}

namespace {

using host_complex = std::complex<long double>;
host_complex host_number(const std::vector<number>& z) {
    return {static_cast<long double>(z[0].value), static_cast<long double>(z[1].value)};
}
real part_of(const host_complex& z, std::size_t lane) {
    return static_cast<real>(lane == 0 ? z.real() : z.imag());
}
/// How far the number may be from where it is.
long double reach_of(const std::vector<number>& z) {
    return std::hypot(static_cast<long double>(z[0].error), static_cast<long double>(z[1].error));
}

/// A result's part within `error` and some units of its last place, if it is in the type's range.
number within(real value, real error, real units, scalar type) {
    const int digits = type == scalar::f64 ? 53 : 24, most = type == scalar::f64 ? 1023 : 127;
    const auto end = [&](int beyond) { return static_cast<real>(std::ldexp(1.0L, most + beyond)); };
    const real size = absolute(value);
    if (size - error >= end(2))
        return {value < 0 ? -number::infinity().value : number::infinity().value, 0, true};
    if (size + error >= end(0)) return number::unknown();
    const auto least = static_cast<real>(std::ldexp(1.0L, 2 - most - digits));
    const real unit = std::max(least, (size + error) * static_cast<real>(std::ldexp(1.0L, 1 - digits)));
    return {value, error + units * unit, true};
}

/// The least distance from points where the function is not analytic; 0 on both sides of a cut.
long double distance_from_singularity(complex_row row, const std::vector<number>& z) {
    const host_complex at = host_number(z);
    const auto from = [&](const host_complex& point) {
        return std::min(std::abs(at - point), std::abs(at + point));
    };
    const auto is_either = [&](std::size_t part) {
        return z[part].error > 0 && absolute(z[part].value) <= z[part].error;
    };
    switch (row) {
        using enum complex_row;
        case exp:
        case sin:
        case cos:
        case sinh:
        case cosh: return 1;
        case tan: return std::min(1.0L, std::abs(std::cos(at)));
        case tanh: return std::min(1.0L, std::abs(std::cosh(at)));
        case log:
        case log10:
        case sqrt: return is_either(1) ? 0 : std::abs(at);
        case asin:
        case acos:
        case acosh:
        case atanh: return is_either(0) || is_either(1) ? 0 : from(1);
        default: return is_either(0) || is_either(1) ? 0 : from(host_complex(0, 1));
    }
}

/// C99's Annex G of infinities and NaN, where it leaves no choice.
number special_function_part(complex_row row, const std::vector<number>& z, std::size_t lane, scalar type) {
    if (z[0].error > 0 || z[1].error > 0) return number::unknown();
    const host_complex at = host_number(z), value = by_host(row, at);
    const bool is_turned = row == complex_row::sin || row == complex_row::cos || row == complex_row::tan;
    const long double angle = is_turned ? at.real() : at.imag(), size = is_turned ? at.imag() : at.real();
    const bool is_tangent = row == complex_row::tan || row == complex_row::tanh;
    // tanh(0 + inf i) is NaN + NaN i in C99, 0 + NaN i since.
    if (is_tangent && size == 0 && !std::isfinite(angle)) return number::unknown();
    const bool may_choose = std::isnan(at.real()) || std::isnan(at.imag()) || !std::isfinite(angle);
    const real part = part_of(value, lane);
    if (part != part) return number::not_a_number();
    if (part == 0) return number::either_zero(0);
    const bool is_inverse = row >= complex_row::asin || row == complex_row::log;
    const bool is_specified = !may_choose || (is_inverse && !std::isnan(at.real()) && !std::isnan(at.imag()));
    if (!std::isfinite(static_cast<long double>(part)))
        return is_specified ? number{part, 0, true} : number::unknown();
    return may_choose && !is_specified ? number::unknown() : within(part, 0, 16, type);
}

/// Within 16 units of the last place, as tests/kernel/complex_accuracy_test.cpp holds them to by MPFR; the
/// host's library computes with 64 bits.
number function_part(complex_row row, const std::vector<number>& z, std::size_t lane, scalar type) {
    constexpr real places = 16;
    if (!z[0].is_finite() || !z[1].is_finite()) return special_function_part(row, z, lane, type);
    const host_complex at = host_number(z);
    const real value = part_of(by_host(row, at), lane);
    if (!std::isfinite(static_cast<long double>(value))) return number::unknown();  // a pole, or beyond
    const long double reach = reach_of(z);
    if (reach == 0) return value == 0 ? number::either_zero(0) : within(value, 0, places, type);
    if (reach * 64 > distance_from_singularity(row, z)) return number::unknown();
    // Analytic around: no other number is twice as far as those of the corners.
    real spread = 0;
    for (int corner = 0; corner < 4; ++corner) {
        const auto moved = [&](std::size_t part) {
            return static_cast<long double>(z[part].value +
                                            ((corner >> part & 1) != 0 ? z[part].error : -z[part].error));
        };
        const real there = part_of(by_host(row, {moved(0), moved(1)}), lane);
        if (!std::isfinite(static_cast<long double>(there))) return number::unknown();
        spread = std::max(spread, absolute(there - value));
    }
    // A part may be stationary at all four: the distance moved bounds it, by the size of the derivative
    // there.
    const host_complex beside = by_host(row, at + host_complex(reach, 0));
    spread = std::max(spread, static_cast<real>(std::abs(beside - by_host(row, at))));
    return within(value, 2 * spread, places, type);
}

/// exp(w log z), with the digits that the exponent has behind the point.
number power_part(const std::vector<number>& z, const std::vector<number>& w, std::size_t lane, scalar type) {
    const host_complex base = host_number(z), exponent = host_number(w);
    const long double size = std::abs(base), reach = reach_of(z);
    const bool is_either = z[1].error > 0 && absolute(z[1].value) <= z[1].error;
    if (size == 0 || is_either || reach * 64 > size) return number::unknown();
    const host_complex logarithm = std::log(base);
    const long double lost = std::abs(exponent) * std::abs(logarithm);
    const long double moved = std::abs(exponent) * reach / size + std::abs(logarithm) * reach_of(w);
    if (lost > 1e4L || moved > 1 / 64.L) return number::unknown();
    const host_complex result = std::exp(exponent * logarithm);
    const auto distance = static_cast<real>(std::abs(result));
    const auto unit = static_cast<real>(std::ldexp(1.0L, type == scalar::f64 ? -52 : -23));
    const number whole = within(distance, 0, 0, type);
    if (!whole.is_finite()) return number::unknown();
    const auto relative = static_cast<real>(32 + 4 * lost) * unit + static_cast<real>(2 * moved);
    return within(part_of(result, lane), distance * relative, 4, type);
}

}  // namespace

host_values array_oracle::function_of_complex(const array_node& n, std::size_t count, std::size_t lane) {
    using kind = array_node::kind;
    const scalar type = n.in[0]->type;
    return each_element(n, count, [&](const operand_numbers& in) {
        if (!are_known(in)) return number::unknown();
        const std::vector<number>& z = in[0];
        const auto row = [&](builtin what, const number& a, const number& b) {
            const number both[] = {a, b};
            return computed(what, type, both);
        };
        const auto is_infinite = [](const number& part) { return !part.is_finite() && !part.is_nan(); };
        switch (n.what) {
            case kind::complex_row: return function_part(static_cast<complex_row>(n.which), z, lane, type);
            case kind::complex_pow:
                return are_finite(in) ? power_part(z, in[1], lane, type) : number::unknown();
            case kind::complex_abs: return row(builtin::hypot, z[0], z[1]);
            case kind::complex_arg: return row(builtin::atan2, z[1], z[0]);
            case kind::complex_norm: {
                const number three[] = {z[0], z[0], row(builtin::mul, z[1], z[1])};
                return three[2].is_known ? computed(builtin::fma, type, three) : three[2];
            }
            case kind::equal_complex: {
                const std::vector<number>& w = in[1];
                return joined(true, row(builtin::equal, z[0], w[0]), row(builtin::equal, z[1], w[1]));
            }
            case kind::polar: {
                const number& distance = z[0];
                const number& angle = in[1][0];
                if (distance.value == 0 && distance.error == 0) return number::either_zero(0);
                if (!are_finite(in)) return number::unknown();
                const number turned = row(lane == 0 ? builtin::cos : builtin::sin, angle, angle);
                return turned.is_known ? row(builtin::mul, distance, turned) : turned;
            }
            default: break;  // proj
        }
        if (!is_infinite(z[0]) && !is_infinite(z[1])) return z[lane];
        if (lane == 0) return number::infinity();
        if (z[1].is_nan() || (z[1].error > 0 && absolute(z[1].value) <= z[1].error))
            return number::either_zero(0);
        return number{std::signbit(static_cast<long double>(z[1].value)) ? real(-0.0L) : real(0), 0, true};
    });
}

host_values array_oracle::any_or_all(const array_node& n, std::size_t count) {
    const bool wants_any = n.what == array_node::kind::any_lane;
    const std::size_t lanes = numbers_of(n.in[0]->form).size();
    host_values made = evaluate(*n.in[0], count, 0);
    for (std::size_t lane = 1; lane < lanes; ++lane)
        made = zipped(made, evaluate(*n.in[0], count, lane), wants_any ? builtin::bit_or : builtin::bit_and,
                      scalar::boolean);
    return made;
}

/// {position + by, kind ^ 5, weight / 2 rounded down}
host_values array_oracle::advanced(const array_node& n, std::size_t count, std::size_t lane) {
    const host_values own = evaluate(*n.in[0], count, lane);
    if (lane == 0) return zipped(own, evaluate(*n.in[1], count), builtin::add, scalar::f32);
    host_values by = own;
    by.at.assign(own.at.size(), {real(lane == 1 ? 5 : 1), 0, true});
    return zipped(own, by, lane == 1 ? builtin::bit_xor : builtin::shr,
                  numbers_of(element_form::particle)[lane]);
}

number array_oracle::row_of(const array_node& n, const std::vector<host_values>& in, std::size_t k) const {
    const row_rule& rule = rule_for(n.row);
    const auto type = [&](std::size_t operand) { return n.in[operand]->type; };
    const bool is_in_lanes = std::any_of(n.in.begin(), n.in.end(), [](const node_pointer& each) {
        return each->form != element_form::scalar;
    });
    const scalar second = n.in.size() > 1 ? type(1) : type(0);
    scalar common = is_in_lanes ? type(0) : operand_type(rule, type(0), second);  // lanes are not promoted
    if (n.in.size() > 2) common = operand_type(rule, common, type(2));
    number operands[3];
    for (std::size_t o = 0; o < n.in.size(); ++o) {
        const scalar wanted =
            rule.takes == row_class::shift && o == 1 && !is_in_lanes ? promoted(second) : common;
        operands[o] = converted(wanted, type(o), in[o].at[k]);
    }
    return computed(n.row, common, operands);
}

host_values array_oracle::evaluate(const array_node& n, std::size_t count, std::size_t lane) {
    host_values made = evaluate_by_itself(n, count, lane);
    if (made.at.size() == 1 && count != 1) made = {{count}, std::vector(count, made.at[0])};
    return made;
}

host_values array_oracle::evaluate_by_itself(const array_node& n, std::size_t count, std::size_t lane) {
    using kind = array_node::kind;
    host_values made{{count}, {}};
    switch (n.what) {
        case kind::vector: {
            const array_vector& v = program_.vectors[n.which];
            made.box = {v.size};
            for (std::size_t k = 0; k < v.size; ++k)
                made.at.push_back(vectors[n.which][k * v.numbers() + lane]);
            return made;
        }
        case kind::lane: return evaluate(*n.in[0], count, n.which);
        case kind::turned: return evaluate(*n.in[0], count, numbers_of(n.form).size() - 1 - lane);
        case kind::any_lane:
        case kind::all_lanes: return any_or_all(n, count);
        case kind::advance: return advanced(n, count, lane);
        case kind::compose: {
            made = evaluate(*n.in[lane], count);
            for (number& each : made.at) each = converted(numbers_of(n.form)[lane], n.in[lane]->type, each);
            return made;
        }
        case kind::conj: {
            made = evaluate(*n.in[0], count, lane);
            for (number& each : made.at)
                if (lane == 1) each.value = -each.value;
            return made;
        }
        case kind::constant:
            made.at.assign(count, n.type == scalar::boolean ? number::truth(n.given != 0)
                                                            : number{static_cast<real>(n.given), 0, true});
            return made;
        case kind::scalar:
            made.at.assign(count, converted(n.type, n.given_as, {static_cast<real>(n.given), 0, true}));
            return made;
        case kind::random: return random_numbers(n, count);
        case kind::look_up: return looked_up(n, count);
        case kind::host_call: {
            std::vector<number> given;
            for (const node_pointer& each : n.in) given.push_back({static_cast<real>(each->given), 0, true});
            made.at.assign(count, host_call_of(given));
            return made;
        }
        case kind::index:
            for (std::size_t k = 0; k < count; ++k)
                made.at.push_back({static_cast<real>(n.offset) + static_cast<real>(k), 0, true});
            return made;
        case kind::view: return viewed(evaluate(*n.in[0], n.count, lane), n.steps);
        case kind::along: return along(n);
        case kind::kept: return {{count}, kept_[n.which]};
        case kind::let: {
            if (kept_.size() <= n.which) kept_.resize(n.which + 1);
            kept_[n.which] = evaluate(*n.in[0], count).at;
            return evaluate(*n.in[1], count);
        }
        default: break;
    }
    if (n.what >= kind::proj && n.what <= kind::equal_complex) return function_of_complex(n, count, lane);
    if (n.what == kind::row && n.row == builtin::mul && is_complex(n.form))
        return product_of_complex(n, count, lane);
    if (n.what == kind::row && n.row == builtin::div && is_complex(n.form))
        return quotient_of_complex(n, count, lane);
    std::vector<host_values> in;
    for (const node_pointer& each : n.in) {
        in.push_back(evaluate(*each, count, each->form == element_form::scalar ? 0 : lane));
        if (in.back().box.size() > 1) made.box = in.back().box;
    }
    const auto type = [&](std::size_t k) { return n.in[k]->type; };
    for (std::size_t k = 0; k < in[0].at.size(); ++k) {
        const auto at = [&](std::size_t operand, scalar wanted) {
            return converted(wanted, type(operand), in[operand].at[k]);
        };
        number result;
        switch (n.what) {
            case kind::cast: result = at(0, n.type); break;
            case kind::both:
            case kind::either:
                result = joined(n.what == kind::both, at(0, scalar::boolean), at(1, scalar::boolean));
                break;
            case kind::saturate: result = saturated(n.type, type(0), in[0].at[k]); break;
            case kind::bits: result = reinterpreted(n.type, type(0), in[0].at[k]); break;
            case kind::select: {
                const number which = at(0, scalar::boolean);
                const number either = at(1, n.type), other = at(2, n.type);
                result = !which.is_known ? number::unknown() : which.value != 0 ? either : other;
                break;
            }
            case kind::call: {
                const array_function& f = array_functions[n.which];
                const number a = at(0, f.first), b = at(1, f.second);
                result = a.is_known && b.is_known ? f.compute(a, b) : number::unknown();
                break;
            }
            default: result = row_of(n, in, k);
        }
        made.at.push_back(result);
    }
    return made;
}

std::vector<std::size_t> array_oracle::places_of(const array_target& to) {
    host_values places{{program_.vectors[to.vector].size}, {}};
    for (std::size_t k = 0; k < places.box[0]; ++k) places.at.push_back({static_cast<real>(k), 0, true});
    std::vector<std::size_t> found;
    for (const number& place : viewed(std::move(places), to.steps).at)
        found.push_back(static_cast<std::size_t>(place.value));
    return found;
}

void array_oracle::store(const array_target& to, const std::vector<std::size_t>& places, std::size_t lane,
                         scalar from, const std::vector<number>& values) {
    const array_vector& v = program_.vectors[to.vector];
    const scalar type = v.number_type(lane);
    for (std::size_t k = 0; k < places.size(); ++k) {
        const number stored = converted(type, from, values[k]);
        vectors[to.vector][places[k] * v.numbers() + lane] = stored;
        assigned_[{to.vector, places[k]}][lane].push_back(stored);
    }
}

std::vector<std::size_t> array_oracle::contested() const {
    std::vector<std::size_t> found;
    for (const auto& [place, values] : assigned_)
        if (values.begin()->second.size() > 1 && (found.empty() || found.back() != place.first))
            found.push_back(place.first);
    return found;
}

std::string array_oracle::settle(std::size_t vector, const std::vector<real>& got) {
    const std::size_t numbers = program_.vectors[vector].numbers();
    for (auto at = assigned_.lower_bound({vector, 0}); at != assigned_.end() && at->first.first == vector;
         ++at) {
        const std::size_t first = at->first.second * numbers;
        const auto& values = at->second;
        const std::size_t count = values.begin()->second.size();
        if (count == 1) continue;
        const auto is_chosen = [&](std::size_t k) {
            return std::all_of(values.begin(), values.end(),
                               [&](const auto& of) { return agrees(of.second[k], got[first + of.first]); });
        };
        std::size_t chosen = 0;
        while (chosen < count && !is_chosen(chosen)) ++chosen;
        if (chosen == count)
            return "element " + std::to_string(at->first.second) + " is " + words_of({got[first], 0, true}) +
                   ", which is none of the " + std::to_string(count) +
                   " values assigned, of which the last is " + words_of(values.begin()->second.back());
        for (const auto& of : values) vectors[vector][first + of.first] = {got[first + of.first], 0, true};
    }
    return "";
}

std::vector<number> array_oracle::run(const array_statement& s) {
    using kind = array_statement::kind;
    std::vector<number> results;
    assigned_.clear();
    if (s.what == kind::reduce) {
        for (std::size_t k = 0; k < s.values.size(); ++k) {
            const std::size_t count = program_.vectors[s.to[0].vector].size;
            const std::vector<number> all = evaluate(*s.values[k], count).at;
            if (gives_position(s.reduces[k]))
                results.push_back(
                    reduced(s.reduces[k] == reduction_row::arg_min ? reduction_row::min : reduction_row::max,
                            s.values[k]->type, all));
            results.push_back(reduced(s.reduces[k], s.values[k]->type, all));
        }
        return results;
    }
    if (s.what == kind::histogram) {
        const std::size_t count = program_.vectors[s.to[1].vector].size;
        for (const number& n : evaluate(*s.values[0], count).at) {
            std::vector<number>& bins = vectors[s.to[0].vector];
            if (!n.is_known) {
                std::fill(bins.begin(), bins.end(), number::unknown());
                break;
            }
            number& bin = bins[static_cast<std::size_t>(n.value) % bins.size()];
            const number both[] = {bin, {1, 0, true}};
            bin = computed(builtin::add, scalar::u32, both);
        }
        return results;
    }
    struct stored {
        std::size_t target, lane;
        std::vector<number> values;
    };
    std::vector<stored> all;
    std::vector<std::vector<std::size_t>> places;
    for (std::size_t k = 0; k < s.values.size(); ++k) {
        const array_vector& v = program_.vectors[s.to[k].vector];
        places.push_back(places_of(s.to[k]));
        const std::size_t count = places[k].size();
        if (s.to[k].part) {
            all.push_back({k, *s.to[k].part, evaluate(*s.values[k], count).at});
            continue;
        }
        for (std::size_t lane = 0; lane < v.numbers(); ++lane)
            all.push_back({k, lane, evaluate(*s.values[k], count, lane).at});
    }
    for (const stored& each : all) {
        const array_node& value = *s.values[each.target];
        const bool is_one = value.form == element_form::scalar;
        store(s.to[each.target], places[each.target], each.lane,
              is_one ? value.type : numbers_of(value.form)[each.lane], each.values);
    }
    return results;
}

bool agrees(const number& expected, real got) {
    if (!expected.is_known) return true;
    if (expected.is_nan()) return got != got;
    if (!expected.is_finite()) return got == expected.value;
    if (expected.value == 0 && expected.error == 0)
        return got == 0 && std::signbit(static_cast<long double>(got)) ==
                               std::signbit(static_cast<long double>(expected.value));
    return absolute(got - expected.value) <= expected.error;  // false for a NaN
}

std::string words_of(const number& n) {
    if (!n.is_known) return "anything";
    char text[80];
    std::snprintf(text, sizeof text, n.error > 0 ? "%.20Lg within %.3Lg" : "%.20Lg",
                  static_cast<long double>(n.value), static_cast<long double>(n.error));
    return text;
}

}  // namespace balm::test
