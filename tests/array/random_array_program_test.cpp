// Random array programs against host arithmetic: views of views, targets that are read, positions that
// repeat, ties, reductions, every element type. BALM_TEST_CASES says how many, BALM_TEST_SEED the first
// case's seed; case k has seed + k, so that the seed of a failure with BALM_TEST_CASES=1 repeats it.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "array/layout.hpp"
#include "ir/with_type.hpp"
#include "kernel/run.hpp"
#include "support/array_program.hpp"
#include "support/case_count.hpp"
#include "support/exact_complex.hpp"

namespace balm::test {

namespace {

struct particle {
    float place;
    int kind;
    unsigned char weight;
};
BALM_STRUCT(particle, place, kind, weight)

using namespace balm::dsl;

constexpr int rounds = 2;  ///< of a program with other elements and scalars, which compile nothing

/// An expression of elements that are settled when it runs.
using array::tape;

template <class T>
expr<T> typed(tape p) {
    return expr<T>(array::tape_handle(std::move(p)));
}
template <class E>
tape untyped(E&& e) {
    return tape(std::forward<E>(e).tape());
}

shape shape_of(const extent_list& box) { return shape(std::span<const std::size_t>(box)); }

// ---- rows ----

template <builtin B, class... T>
constexpr bool takes = balm::detail::result_of(B, scalar_of<T>...) != scalar::nothing;
template <builtin B>
constexpr bool mixes = B == builtin::add || B == builtin::mul || B == builtin::less;
template <builtin B>
constexpr bool takes_double =
    B == builtin::add || B == builtin::sub || B == builtin::mul || B == builtin::div;

/// A row on an array and a host scalar, in either order.
template <builtin B, class T>
tape beside_scalar(tape of, const array_node& given, bool is_first) {
    const auto on = [&](auto value) -> tape {
        return is_first ? untyped(apply<B>(value, typed<T>(std::move(of))))
                        : untyped(apply<B>(typed<T>(std::move(of)), value));
    };
    if constexpr (mixes<B>) switch (given.given_as) {
            case scalar::u8: return on(static_cast<unsigned char>(given.given));
            case scalar::u32: return on(static_cast<unsigned>(given.given));
            case scalar::i64: return on(static_cast<long>(given.given));
            case scalar::f32: return on(static_cast<float>(given.given));
            default: break;
        }
    if constexpr (is_floating(scalar_of<T>) || takes_double<B> || mixes<B>)
        if (given.given_as == scalar::f64) return on(given.given);
    return on(static_cast<int>(given.given));
}

template <builtin B>
tape row_of_two(const array_node& first, tape a, const array_node& second, tape b) {
    const bool is_scalar[] = {first.what == array_node::kind::scalar,
                              second.what == array_node::kind::scalar};
    tape made;
    ir::with_type(is_scalar[0] ? second.type : first.type, [&]<class T>(std::type_identity<T>) {
        if constexpr (takes<B, T, T>) {
            if (is_scalar[0] || is_scalar[1]) {
                if constexpr (!std::same_as<T, bool>)
                    made = beside_scalar<B, T>(std::move(is_scalar[0] ? b : a), is_scalar[0] ? first : second,
                                               is_scalar[0]);
            } else if (first.type == second.type) {
                made = untyped(apply<B>(typed<T>(std::move(a)), typed<T>(std::move(b))));
            } else if constexpr (mixes<B>) {
                ir::with_type(second.type, [&]<class U>(std::type_identity<U>) {
                    made = untyped(apply<B>(typed<T>(std::move(a)), typed<U>(std::move(b))));
                });
            }
        }
    });
    return made;
}
template <builtin B>
tape row_of_one(scalar type, tape a) {
    tape made;
    ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (takes<B, T>) made = untyped(apply<B>(typed<T>(std::move(a))));
    });
    return made;
}
tape not_of(scalar type, tape a) {
    tape made;
    ir::with_type(type, [&]<class T>(std::type_identity<T>) { made = untyped(!typed<T>(std::move(a))); });
    return made;
}
template <builtin B>
tape row_of_three(scalar type, tape a, tape b, tape c) {
    tape made;
    ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (takes<B, T, T, T>)
            made = untyped(apply<B>(typed<T>(std::move(a)), typed<T>(std::move(b)), typed<T>(std::move(c))));
    });
    return made;
}

struct applied_row {
    builtin row;
    tape (*of_one)(scalar, tape);
    tape (*of_two)(const array_node&, tape, const array_node&, tape);
    tape (*of_three)(scalar, tape, tape, tape);
};
const applied_row& applied(builtin row) {
#define BALM_ONE(id) \
    { builtin::id, &row_of_one<builtin::id>, nullptr, nullptr }
#define BALM_TWO(id) \
    { builtin::id, nullptr, &row_of_two<builtin::id>, nullptr }
#define BALM_THREE(id) \
    { builtin::id, nullptr, nullptr, &row_of_three<builtin::id> }
    static const applied_row rows[] = {
        BALM_TWO(add),        BALM_TWO(sub),
        BALM_TWO(mul),        BALM_TWO(div),
        BALM_TWO(rem),        BALM_TWO(shl),
        BALM_TWO(shr),        BALM_TWO(bit_and),
        BALM_TWO(bit_or),     BALM_TWO(bit_xor),
        BALM_TWO(less),       BALM_TWO(greater),
        BALM_TWO(less_equal), BALM_TWO(equal),
        BALM_TWO(not_equal),  BALM_TWO(min),
        BALM_TWO(max),        BALM_TWO(greater_equal),
        BALM_TWO(add_sat),    BALM_TWO(sub_sat),
        BALM_TWO(hadd),       BALM_TWO(rhadd),
        BALM_TWO(mul_hi),     BALM_TWO(rotate),
        BALM_TWO(copysign),   BALM_ONE(neg),
        BALM_ONE(bit_not),    BALM_ONE(abs),
        BALM_ONE(popcount),   BALM_ONE(clz),
        BALM_ONE(sqrt),       BALM_ONE(floor),
        BALM_ONE(ceil),       BALM_ONE(trunc),
        BALM_ONE(rint),       BALM_ONE(isnan),
        BALM_ONE(isinf),      BALM_ONE(isfinite),
        BALM_ONE(signbit),    BALM_ONE(exp),
        BALM_ONE(exp2),       BALM_ONE(expm1),
        BALM_ONE(log),        BALM_ONE(log2),
        BALM_ONE(log1p),      BALM_ONE(sin),
        BALM_ONE(cos),        BALM_ONE(tan),
        BALM_ONE(atan),       BALM_ONE(tanh),
        BALM_ONE(cbrt),       BALM_ONE(rsqrt),
        BALM_TWO(pow),        BALM_TWO(atan2),
        BALM_TWO(hypot),      BALM_THREE(fma),
        BALM_THREE(clamp),    {builtin::logical_not, &not_of, nullptr, nullptr}};
#undef BALM_ONE
#undef BALM_TWO
#undef BALM_THREE
    return *std::find_if(std::begin(rows), std::end(rows),
                         [&](const applied_row& r) { return r.row == row; });
}

// ---- reductions ----

struct asked_reduction {
    tape of;
    array::reduction how;
};
template <class Lazy>
asked_reduction asked(Lazy&& lazy) {
    const array::reduction how = lazy.how();
    return {std::forward<Lazy>(lazy).tape(), how};
}
/// A function of two elements for each fold.
template <class V>
auto function_of(reduction_row row) {
    static const auto join = balm::function("join(a, b)", [](UInt a, UInt b) { return a | b; });
    static const auto multiply = balm::function("multiply(a, b)", [](UInt a, UInt b) { return a * b; });
    static const auto wrap = balm::function("wrap(a, b)", [](ULong a, ULong b) { return a + b; });
    static const auto farther = balm::function(
        "farther(a, b)", [](Double a, Double b) { return max(balm::dsl::abs(a), balm::dsl::abs(b)); });
    if constexpr (std::same_as<V, UInt>)
        return row == reduction_row::fold_join ? join : multiply;
    else if constexpr (std::same_as<V, ULong>)
        return wrap;
    else
        return farther;
}
template <class V, class T>
asked_reduction folded(reduction_row row, const expr<T>& e) {
    using R = typename V::value_type;
    if constexpr (kind_of(scalar_of<T>) <= kind_of(scalar_of<R>))
        return asked(balm::fold_of(e, static_cast<R>(identity_of(row)), function_of<V>(row)));
    else
        return {};
}
asked_reduction asked(reduction_row row, scalar type, tape of) {
    asked_reduction made;
    ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        const auto e = typed<T>(std::move(of));
        switch (row) {
            case reduction_row::sum: made = asked(balm::sum_of(e)); break;
            case reduction_row::sum_compensated:
                if constexpr (std::floating_point<T>) made = asked(balm::sum_compensated_of(e));
                break;
            case reduction_row::product: made = asked(balm::product_of(e)); break;
            case reduction_row::min: made = asked(balm::min_of(e)); break;
            case reduction_row::max: made = asked(balm::max_of(e)); break;
            case reduction_row::arg_min: made = asked(balm::arg_min_of(e)); break;
            case reduction_row::arg_max: made = asked(balm::arg_max_of(e)); break;
            case reduction_row::any: made = asked(balm::any_of(e)); break;
            case reduction_row::all: made = asked(balm::all_of(e)); break;
            case reduction_row::count: made = asked(balm::count_of(e)); break;
            case reduction_row::fold_join: made = folded<UInt>(row, e); break;
            case reduction_row::fold_multiply: made = folded<UInt>(row, e); break;
            case reduction_row::fold_wrap: made = folded<ULong>(row, e); break;
            case reduction_row::fold_farther: made = folded<Double>(row, e); break;
        }
    });
    return made;
}

// ---- elements of several numbers ----

/// Calls f with the host's type.
template <class F>
void with_form(element_form form, F&& f) {
    switch (form) {
        case element_form::scalar:
        case element_form::half3:
        case element_form::half4: break;
        case element_form::float4: return f(std::type_identity<float4>{});
        case element_form::int2: return f(std::type_identity<int2>{});
        case element_form::uchar4: return f(std::type_identity<uchar4>{});
        case element_form::double2: return f(std::type_identity<double2>{});
        case element_form::float3: return f(std::type_identity<float3>{});
        case element_form::complex_float: return f(std::type_identity<std::complex<float>>{});
        case element_form::complex_double: return f(std::type_identity<std::complex<double>>{});
        case element_form::particle: return f(std::type_identity<particle>{});
    }
}
template <class T>
using in_expressions = balm::detail::element_of<vector<T>>;
template <class T>
constexpr bool is_complex_number =
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// The numbers that an element has, and one of them; of scalars the value.
template <class T>
constexpr std::size_t count_of_numbers = 1;
template <class T, int N>
constexpr std::size_t count_of_numbers<vec<T, N>> = N;
template <class T>
constexpr std::size_t count_of_numbers<std::complex<T>> = 2;
template <>
constexpr std::size_t count_of_numbers<particle> = 3;

/// Part k of an element, as an expression.
template <class T, std::size_t K = 0>
tape number_of(tape of, std::size_t k) {
    if constexpr (K < count_of_numbers<T>) {
        if (k != K) return number_of<T, K + 1>(std::move(of), k);
        auto e = typed<in_expressions<T>>(std::move(of));
        if constexpr (is_complex_number<T>)
            return K == 0 ? untyped(balm::real(std::move(e))) : untyped(balm::imag(std::move(e)));
        else if constexpr (!std::same_as<T, particle>)
            return untyped(balm::lane<static_cast<int>(K)>(std::move(e)));
        else if constexpr (K == 0)
            return untyped(balm::field<&particle::place>(std::move(e)));
        else if constexpr (K == 1)
            return untyped(balm::field<&particle::kind>(std::move(e)));
        else
            return untyped(balm::field<&particle::weight>(std::move(e)));
    } else {
        return {};
    }
}

/// The rows that are drawn for short vectors and complex numbers.
template <class T, class A, class B>
tape row_of_elements(builtin row, A&& a, B&& b) {
    switch (row) {
        case builtin::add: return untyped(a + b);
        case builtin::sub: return untyped(a - b);
        case builtin::mul: return untyped(a * b);
        case builtin::div: return untyped(a / b);
        default: break;
    }
    if constexpr (vector_type<T>) {
        switch (row) {
            case builtin::min: return untyped(min(a, b));
            case builtin::max: return untyped(max(a, b));
            case builtin::less: return untyped(a < b);
            case builtin::equal: return untyped(a == b);
            default: break;
        }
        if constexpr (std::integral<typename T::value_type>) {
            if (row == builtin::bit_and) return untyped(a & b);
            if (row == builtin::bit_or) return untyped(a | b);
            return untyped(a ^ b);
        }
    }
    return {};
}

// ---- programs on devices ----

/// Calls f with the host's type for elements in memory.
template <class F>
void with_element(const array_vector& v, F&& f) {
    if (v.form == element_form::half3)
        f(std::type_identity<half3>{});
    else if (v.form == element_form::half4)
        f(std::type_identity<half4>{});
    else if (v.form != element_form::scalar)
        with_form(v.form, f);
    else if (v.type == scalar::f16)
        f(std::type_identity<half>{});
    else
        ir::with_type(v.type, f);
}
template <class T>
real as_real(T value) {
    if constexpr (std::same_as<T, half>)
        return static_cast<real>(static_cast<float>(value));
    else
        return static_cast<real>(value);
}
template <class T>
T from_real(real value) {
    if constexpr (std::same_as<T, half>)
        return half(static_cast<float>(value));
    else
        return static_cast<T>(value);
}

template <class T>
void append_numbers(std::vector<real>& list, const T& element) {
    if constexpr (std::same_as<T, particle>)
        list.insert(list.end(), {as_real(element.place), as_real(element.kind), as_real(element.weight)});
    else if constexpr (is_complex_number<T>)
        list.insert(list.end(), {as_real(element.real()), as_real(element.imag())});
    else if constexpr (vector_type<T>)
        for (int k = 0; k < T::size(); ++k) list.push_back(as_real(element[k]));
    else
        list.push_back(as_real(element));
}
template <class T>
T element_from(const number* numbers) {
    const auto at = [&]<class P>(std::type_identity<P>, std::size_t k) {
        return from_real<P>(numbers[k].value);
    };
    if constexpr (std::same_as<T, particle>) {
        return {at(std::type_identity<float>{}, 0), at(std::type_identity<int>{}, 1),
                at(std::type_identity<unsigned char>{}, 2)};
    } else if constexpr (is_complex_number<T>) {
        using part = std::type_identity<typename T::value_type>;
        return {at(part{}, 0), at(part{}, 1)};
    } else if constexpr (vector_type<T>) {
        T made{};
        for (int k = 0; k < T::size(); ++k)
            made[k] = at(std::type_identity<typename T::value_type>{}, static_cast<std::size_t>(k));
        return made;
    } else {
        return at(std::type_identity<T>{}, 0);
    }
}

const auto& twice_and() {
    static const auto f =
        balm::function("twice_and(a, b)", [](Float a, Float b) { return balm::dsl::fma(a, Float(2.f), b); });
    return f;
}

class array_device {
public:
    array_device(const context& where, const array_program& p)
        : where_(where), program_(p), states_(p.vectors.size()) {}

    void write(std::size_t k, const std::vector<number>& elements) {
        with_element(program_.vectors[k], [&]<class T>(std::type_identity<T>) {
            host_array<T> host{shape(program_.vectors[k].size)};
            for (std::size_t i = 0; i < host.size(); ++i)
                host[i] = element_from<T>(&elements[i * count_of_numbers<T>]);
            states_[k] = vector<T>(where_, host).state();
        });
    }
    std::vector<real> read(std::size_t k) const {
        std::vector<real> elements;
        with_element(program_.vectors[k], [&]<class T>(std::type_identity<T>) {
            for (const T& value : vector<T>(states_[k]).to_host()) append_numbers(elements, value);
        });
        return elements;
    }
    /// Launches a statement; the results of a reduction.
    std::vector<real> run(const array_statement& s) {
        using kind = array_statement::kind;
        if (s.to[0].part) {
            assign_part(s);
            return {};
        }
        switch (s.what) {
            case kind::assign: assign(s); break;
            case kind::compound: assign_compound(s); break;
            case kind::tie: tie(s); break;
            case kind::multi: assign_components(s); break;
            case kind::fill: fill(s); break;
            case kind::copy: copy(s); break;
            case kind::make: make(s); break;
            case kind::histogram: count(s); break;
            case kind::reduce: return reduce(s);
        }
        return {};
    }

private:
    tape build(const array_node& n) {
        using kind = array_node::kind;
        switch (n.what) {
            case kind::vector: return n.is_constant_memory ? table_program(n.which) : vector_program(n.which);
            case kind::constant: return constant_program(n);
            case kind::random: return random_program(n);
            case kind::look_up: return looked_up(n);
            case kind::host_call: return host_call(n);
            case kind::saturate: return saturated(n);
            case kind::bits: return reinterpreted(n);
            case kind::lane: return number_program(n);
            case kind::compose: return composed(n);
            case kind::turned:
            case kind::conj: return of_one_element(n);
            case kind::proj:
            case kind::complex_row:
            case kind::complex_abs:
            case kind::complex_arg:
            case kind::complex_norm:
            case kind::complex_pow:
            case kind::equal_complex: return function_of_complex(n);
            case kind::polar: return polar_program(n);
            case kind::any_lane:
            case kind::all_lanes: return any_or_all(n);
            case kind::advance: return advanced(n);
            case kind::scalar: return {};  // whoever is beside it takes it
            case kind::index:
                return untyped(n.is_sized ? element_index(n.offset, n.count) : element_index(n.offset));
            case kind::row: return row(n);
            case kind::both:
            case kind::either: return logic(n);
            case kind::cast: return cast_program(n);
            case kind::select: return select_program(n);
            case kind::let: return let_program(n);
            case kind::kept: return kept_.at(n.which);
            case kind::call: return call(n);
            case kind::view: return array::read(viewed(build(*n.in[0]), n.steps));
            case kind::along: break;
        }
        asked_reduction a = asked(n.reduces, n.in[0]->type, build(*n.in[0]));
        array::dimension_list over;
        for (const int d : n.dimensions) over.each[static_cast<std::size_t>(over.count++)] = d;
        return array::reduced_along(std::move(a.of), a.how, over);
    }
    tape vector_program(std::size_t k) {
        tape made;
        with_element(program_.vectors[k], [&]<class T>(std::type_identity<T>) {
            made = untyped(expr<balm::detail::element_of<vector<T>>>(vector<T>(states_[k])));
        });
        return made;
    }
    tape table_program(std::size_t k) {
        tape made;
        with_element(program_.vectors[k], [&]<class T>(std::type_identity<T>) {
            made = untyped(balm::constant_memory(vector<T>(states_[k])));
        });
        return made;
    }
    tape constant_program(const array_node& n) {
        tape made;
        ir::with_type(n.type, [&]<class T>(std::type_identity<T>) {
            made = untyped(balm::constant(static_cast<T>(n.given)));
        });
        return made;
    }
    template <class Numbers>
    tape numbers_at(const array_node& n) {
        const Numbers number;
        const auto at = [&](auto&& index) {
            return n.in.size() > 1 ? untyped(number(index, typed<std::int64_t>(build(*n.in[1])), n.stream))
                                   : untyped(number(index, n.seed, n.stream));
        };
        return n.in[0]->type == scalar::u32 ? at(typed<unsigned>(build(*n.in[0])))
                                            : at(typed<std::int64_t>(build(*n.in[0])));
    }
    tape random_program(const array_node& n) {
        tape made;
        ir::with_type(n.type, [&]<class T>(std::type_identity<T>) {
            if constexpr (std::floating_point<T>)
                if (n.is_normal) {
                    made = n.is_threefry ? numbers_at<normal<T, threefry>>(n) : numbers_at<normal<T>>(n);
                    return;
                }
            if constexpr (std::floating_point<T> || std::same_as<T, std::uint32_t>)
                if (n.is_threefry) {
                    made = numbers_at<uniform<T, threefry>>(n);
                    return;
                }
            made = numbers_at<uniform<T>>(n);
        });
        return made;
    }
    tape looked_up(const array_node& n) {
        static const auto of_floats =
            balm::function("look_up(at, in)", [](Long at, In<float> in) { return Float(in[at]); });
        static const auto of_ints =
            balm::function("look_up(at, in)", [](Long at, In<int> in) { return Int(in[at]); });
        static const auto of_halves =
            balm::function("look_up(at, in)", [](Long at, In<half> in) { return Float(in[at]); });
        auto at = typed<std::int64_t>(build(*n.in[0]));
        if (program_.vectors[n.which].type == scalar::f16)
            return untyped(of_halves(std::move(at), vector<half>(states_[n.which])));
        return n.type == scalar::f32 ? untyped(of_floats(std::move(at), vector<float>(states_[n.which])))
                                     : untyped(of_ints(std::move(at), vector<int>(states_[n.which])));
    }
    tape host_call(const array_node& n) {
        const auto given = [&](std::size_t k) { return static_cast<float>(n.in[k]->given); };
        const auto& f = twice_and();
        return untyped(balm::detail::per_element(f(f(given(0), given(1)), given(2)) * given(3)));
    }
    tape saturated(const array_node& n) {
        tape made;
        ir::with_type(n.in[0]->type, [&]<class U>(std::type_identity<U>) {
            auto e = typed<U>(build(*n.in[0]));
            switch (n.type) {
                case scalar::i8: made = untyped(balm::convert_sat<std::int8_t>(std::move(e))); break;
                case scalar::u8: made = untyped(balm::convert_sat<std::uint8_t>(std::move(e))); break;
                case scalar::i32: made = untyped(balm::convert_sat<std::int32_t>(std::move(e))); break;
                default: made = untyped(balm::convert_sat<std::uint64_t>(std::move(e)));
            }
        });
        return made;
    }
    tape reinterpreted(const array_node& n) {
        tape made;
        ir::with_type(n.type, [&]<class T>(std::type_identity<T>) {
            ir::with_type(n.in[0]->type, [&]<class U>(std::type_identity<U>) {
                if constexpr (sizeof(T) == sizeof(U) && sizeof(T) >= 4)
                    made = untyped(balm::bit_cast<T>(typed<U>(build(*n.in[0]))));
            });
        });
        return made;
    }
    tape number_program(const array_node& n) {
        tape made;
        with_form(n.in[0]->form,
                  [&]<class T>(std::type_identity<T>) { made = number_of<T>(build(*n.in[0]), n.which); });
        return made;
    }
    tape composed(const array_node& n) {
        tape made;
        with_form(n.form, [&]<class T>(std::type_identity<T>) {
            if constexpr (!std::same_as<T, particle>) {
                [&]<std::size_t... K>(std::index_sequence<K...>) {
                    made = untyped(balm::compose<T>(typed<typename T::value_type>(build(*n.in[K]))...));
                }
                (std::make_index_sequence<count_of_numbers<T>>());
            }
        });
        return made;
    }
    tape of_one_element(const array_node& n) {
        tape made, in = build(*n.in[0]);
        with_form(n.form, [&]<class T>(std::type_identity<T>) {
            auto e = typed<in_expressions<T>>(std::move(in));
            if constexpr (is_complex_number<T>)
                made = untyped(balm::conj(std::move(e)));
            else if constexpr (count_of_numbers<T> == 2)
                made = untyped(balm::lanes<1, 0>(std::move(e)));
            else if constexpr (count_of_numbers<T> == 4)
                made = untyped(balm::lanes<3, 2, 1, 0>(std::move(e)));
            else if constexpr (vector_type<T>)
                made = untyped(balm::lanes<2, 1, 0>(std::move(e)));
        });
        return made;
    }
    tape function_of_complex(const array_node& n) {
        tape made, first = build(*n.in[0]), second = n.in.size() > 1 ? build(*n.in[1]) : tape{};
        with_form(n.in[0]->form, [&]<class T>(std::type_identity<T>) {
            if constexpr (is_complex_number<T>) {
                auto z = typed<in_expressions<T>>(std::move(first));
                const auto other = [&] { return typed<in_expressions<T>>(std::move(second)); };
                switch (n.what) {
                    case array_node::kind::proj: made = untyped(balm::proj(z)); break;
                    case array_node::kind::complex_abs: made = untyped(abs(z)); break;
                    case array_node::kind::complex_arg: made = untyped(balm::arg(z)); break;
                    case array_node::kind::complex_norm: made = untyped(balm::norm(z)); break;
                    case array_node::kind::complex_pow: made = untyped(pow(z, other())); break;
                    case array_node::kind::equal_complex: made = untyped(z == other()); break;
                    default: made = complex_row_of(static_cast<complex_row>(n.which), z);
                }
            }
        });
        return made;
    }
    template <class E>
    static tape complex_row_of(complex_row row, const E& z) {
        switch (row) {
            case complex_row::exp: return untyped(balm::exp(z));
            case complex_row::log: return untyped(balm::log(z));
            case complex_row::log10: return untyped(balm::log10(z));
            case complex_row::sqrt: return untyped(balm::sqrt(z));
            case complex_row::sin: return untyped(balm::sin(z));
            case complex_row::cos: return untyped(balm::cos(z));
            case complex_row::tan: return untyped(balm::tan(z));
            case complex_row::sinh: return untyped(balm::sinh(z));
            case complex_row::cosh: return untyped(balm::cosh(z));
            case complex_row::tanh: return untyped(balm::tanh(z));
            case complex_row::asin: return untyped(balm::asin(z));
            case complex_row::acos: return untyped(balm::acos(z));
            case complex_row::atan: return untyped(balm::atan(z));
            case complex_row::asinh: return untyped(balm::asinh(z));
            case complex_row::acosh: return untyped(balm::acosh(z));
            default: return untyped(balm::atanh(z));
        }
    }
    tape polar_program(const array_node& n) {
        tape made, distance = build(*n.in[0]), angle = build(*n.in[1]);
        ir::with_type(n.in[0]->type, [&]<class T>(std::type_identity<T>) {
            if constexpr (std::floating_point<T>)
                made = untyped(balm::polar(typed<T>(std::move(distance)), typed<T>(std::move(angle))));
        });
        return made;
    }
    tape any_or_all(const array_node& n) {
        tape made, in = build(*n.in[0]);
        with_form(n.in[0]->form, [&]<class T>(std::type_identity<T>) {
            if constexpr (vector_type<T>) {
                auto e = typed<vec<bool, static_cast<int>(count_of_numbers<T>)>>(std::move(in));
                made = n.what == array_node::kind::any_lane ? untyped(balm::any_lane(std::move(e)))
                                                            : untyped(balm::all_lanes(std::move(e)));
            }
        });
        return made;
    }
    tape advanced(const array_node& n) {
        static const auto advance = balm::function("advance(p, by)", [](Var<particle> p, Float by) {
            Var<particle> moved(p);
            moved.place += by;
            moved.kind = p.kind ^ 5;
            moved.weight = balm::dsl::cast<unsigned char>(p.weight >> 1);
            return moved;
        });
        tape p = build(*n.in[0]), by = build(*n.in[1]);
        return untyped(advance(typed<particle>(std::move(p)), typed<float>(std::move(by))));
    }
    tape row_on_elements(const array_node& n) {
        tape made, a = build(*n.in[0]), b = build(*n.in[1]);
        const array_node& other = *n.in[1];
        with_form(n.form, [&]<class T>(std::type_identity<T>) {
            if constexpr (!std::same_as<T, particle>) {
                auto first = typed<in_expressions<T>>(std::move(a));
                if (other.what == array_node::kind::scalar) {
                    if constexpr (vector_type<T>)
                        made = row_of_elements<T>(n.row, first, static_cast<int>(other.given));
                } else {
                    made = row_of_elements<T>(n.row, first, typed<in_expressions<T>>(std::move(b)));
                }
            }
        });
        return made;
    }
    tape select_elements(const array_node& n) {
        tape made, which = build(*n.in[0]), a = build(*n.in[1]), b = build(*n.in[2]);
        with_form(n.form, [&]<class T>(std::type_identity<T>) {
            if constexpr (is_complex_number<T>) {
                made = untyped(balm::select(typed<bool>(std::move(which)),
                                            typed<in_expressions<T>>(std::move(a)),
                                            typed<in_expressions<T>>(std::move(b))));
            } else if constexpr (vector_type<T>) {
                auto first = typed<T>(std::move(a)), second = typed<T>(std::move(b));
                if (n.in[0]->form == element_form::scalar)
                    made = untyped(balm::select(typed<bool>(std::move(which)), first, second));
                else
                    made =
                        untyped(balm::select(typed<vec<bool, T::size()>>(std::move(which)), first, second));
            }
        });
        return made;
    }
    tape row(const array_node& n) {
        if (n.form != element_form::scalar) return row_on_elements(n);
        const applied_row& r = applied(n.row);
        if (n.in.size() == 1) return r.of_one(n.in[0]->type, build(*n.in[0]));
        if (n.in.size() == 2) return r.of_two(*n.in[0], build(*n.in[0]), *n.in[1], build(*n.in[1]));
        return r.of_three(n.type, build(*n.in[0]), build(*n.in[1]), build(*n.in[2]));
    }
    /// Operands of one type, one that is a truth value, or a host scalar.
    tape logic(const array_node& n) {
        const array_node &first = *n.in[0], &second = *n.in[1];
        const bool is_scalar[] = {first.what == array_node::kind::scalar,
                                  second.what == array_node::kind::scalar};
        const auto join = [&](auto&& a, auto&& b) {
            return n.what == array_node::kind::both ? untyped(a && b) : untyped(a || b);
        };
        const auto beside = [&](auto&& e, double given, bool is_double) {
            const auto whole = static_cast<int>(given);
            if (is_double) return is_scalar[0] ? join(given, e) : join(e, given);
            return is_scalar[0] ? join(whole, e) : join(e, whole);
        };
        tape a = build(first), b = build(second);
        tape made;
        const bool is_first_given = is_scalar[1] || first.type != scalar::boolean;
        ir::with_type(is_first_given && !is_scalar[0] ? first.type : second.type,
                      [&]<class T>(std::type_identity<T>) {
                          if (is_scalar[0] || is_scalar[1]) {
                              const array_node& given = is_scalar[0] ? first : second;
                              made = beside(typed<T>(std::move(is_scalar[0] ? b : a)), given.given,
                                            given.given_as == scalar::f64);
                          } else if (first.type == second.type) {
                              made = join(typed<T>(std::move(a)), typed<T>(std::move(b)));
                          } else if (first.type == scalar::boolean) {
                              made = join(typed<bool>(std::move(a)), typed<T>(std::move(b)));
                          } else {
                              made = join(typed<T>(std::move(a)), typed<bool>(std::move(b)));
                          }
                      });
        return made;
    }
    tape cast_program(const array_node& n) {
        tape made;
        ir::with_type(n.type, [&]<class T>(std::type_identity<T>) {
            ir::with_type(n.in[0]->type, [&]<class U>(std::type_identity<U>) {
                made = untyped(balm::cast<T>(typed<U>(build(*n.in[0]))));
            });
        });
        return made;
    }
    tape select_program(const array_node& n) {
        if (n.form != element_form::scalar) return select_elements(n);
        expr<bool> which = typed<bool>({});
        ir::with_type(n.in[0]->type, [&]<class T>(std::type_identity<T>) {
            which = balm::detail::as_condition(typed<T>(build(*n.in[0])));
        });
        tape made;
        ir::with_type(n.type, [&]<class T>(std::type_identity<T>) {
            made = untyped(balm::select(which, typed<T>(build(*n.in[1])), typed<T>(build(*n.in[2]))));
        });
        return made;
    }
    tape let_program(const array_node& n) {
        tape made;
        ir::with_type(n.type, [&]<class T>(std::type_identity<T>) {
            made = untyped(balm::let(typed<T>(build(*n.in[0])), [&](const expr<T>& kept) {
                if (kept_.size() <= n.which) kept_.resize(n.which + 1);
                kept_[n.which] = kept.tape();
                return typed<T>(build(*n.in[1]));
            }));
        });
        return made;
    }
    tape call(const array_node& n) {
        static const auto bits_of_both = balm::function(
            "bits_of_both(a, b)", [](Int a, UInt b) { return (balm::dsl::cast<unsigned>(a) << 3) ^ b; });
        static const auto greater_of =
            balm::function("greater_of(a, b)", [](Long a, Long b) { return balm::dsl::select(a > b, a, b); });
        tape a = build(*n.in[0]), b = build(*n.in[1]);
        if (n.which == 0) return untyped(twice_and()(typed<float>(std::move(a)), typed<float>(std::move(b))));
        if (n.which == 1)
            return untyped(bits_of_both(typed<int>(std::move(a)), typed<unsigned>(std::move(b))));
        return untyped(greater_of(typed<std::int64_t>(std::move(a)), typed<std::int64_t>(std::move(b))));
    }

    tape positions(const array_node& n) {
        tape made;
        ir::with_type(n.type, [&]<class T>(std::type_identity<T>) {
            if constexpr (std::integral<T> && !std::same_as<T, bool>)
                made = balm::detail::positions(typed<T>(build(n)));
        });
        return made;
    }
    array::selection viewed(tape of, const std::vector<view_step>& steps) {
        using kind = view_step::kind;
        array::selection s = steps[0].what == kind::pick
                                 ? array::selection{std::move(of), positions(*steps[0].positions)}
                                 : array::viewed(std::move(of), shape_of(steps[0].to));
        for (std::size_t k = 1; k < steps.size(); ++k) {
            const view_step& next = steps[k];
            switch (next.what) {
                case kind::reshape: s = array::reshaped(s, shape_of(next.to)); break;
                case kind::slice: s = array::sliced(s, parts_of(next)); break;
                case kind::transpose: s = array::transposed(s, next.order); break;
                case kind::broadcast: s = array::broadcast(s, shape_of(next.to)); break;
                case kind::pick: s = array::picked(s, positions(*next.positions)); break;
            }
        }
        return s;
    }
    static std::vector<array::slice_part> parts_of(const view_step& s) {
        std::vector<array::slice_part> parts;
        for (const dimension_part& p : s.parts) switch (p.what) {
                case dimension_part::kind::all: parts.push_back(array::part_of(balm::all)); break;
                case dimension_part::kind::reversed: parts.push_back(balm::reversed); break;
                case dimension_part::kind::range:
                    parts.push_back(balm::slice(p.begin, p.end, p.stride));
                    break;
                case dimension_part::kind::one: parts.push_back(array::part_of(p.begin)); break;
            }
        return parts;
    }

    /// Calls f(vector or view that the target is, type of its elements).
    template <class F>
    void with_target(const array_target& to, F&& f) {
        with_element(program_.vectors[to.vector], [&]<class T>(std::type_identity<T>) {
            vector<T> whole(states_[to.vector]);
            if (to.steps.empty()) return f(whole, std::type_identity<in_expressions<T>>{});
            view<T> some(viewed(vector_program(to.vector), to.steps));
            f(some, std::type_identity<in_expressions<T>>{});
        });
    }
    /// Calls f(part k of each element of the target, its type).
    template <std::size_t K = 0, class To, class F>
    static void with_part(To& to, std::size_t k, F&& f) {
        using element = balm::detail::element_of<To>;
        if constexpr ((vector_type<element> || std::same_as<element, particle>)&&K <
                      count_of_numbers<element>) {
            if (k != K) return with_part<K + 1>(to, k, f);
            const auto with = [&](auto part) {
                f(part, std::type_identity<typename decltype(part)::value_type>{});
            };
            if constexpr (!std::same_as<element, particle>)
                with(balm::lane<static_cast<int>(K)>(to));
            else if constexpr (K == 0)
                with(balm::field<&particle::place>(to));
            else if constexpr (K == 1)
                with(balm::field<&particle::kind>(to));
            else
                with(balm::field<&particle::weight>(to));
        }
    }
    void assign_part(const array_statement& s) {
        const bool is_compound = s.what == array_statement::kind::compound;
        const array_node& value = is_compound ? *s.values[0]->in[1] : *s.values[0];
        with_target(s.to[0], [&]<class To, class E>(To& to, std::type_identity<E>) {
            with_part(to, *s.to[0].part, [&]<class P>(auto& part, std::type_identity<P>) {
                const auto given = typed<P>(build(value));
                if (!is_compound)
                    part = given;
                else if (s.row == builtin::add)
                    part += given;
                else if (s.row == builtin::sub)
                    part -= given;
                else
                    part *= given;
            });
        });
    }
    void assign(const array_statement& s) {
        const array_node& value = *s.values[0];
        with_target(s.to[0], [&]<class To, class E>(To& to, std::type_identity<E>) {
            if constexpr (!scalar_type<E>)
                to = typed<E>(build(value));
            else if (value.type == scalar_of<E>)
                to = typed<E>(build(value));
            else if constexpr (balm::detail::is_vector<To>)
                array::assign(*to.state(), build(value));
            else
                array::assign(to.what(), build(value));
        });
    }
    void assign_compound(const array_statement& s) {
        const array_node& other = *s.values[0]->in[1];
        with_target(s.to[0], [&]<class To, class E>(To& to, std::type_identity<E>) {
            if constexpr (!scalar_type<E>) return;
            const auto value = typed<E>(build(other));
            if constexpr (std::integral<E>) {
                if (s.row == builtin::bit_and) to &= value;
                if (s.row == builtin::bit_or) to |= value;
                if (s.row == builtin::bit_xor) to ^= value;
            }
            if constexpr (std::integral<E> && !std::same_as<E, bool>) {
                if (s.row == builtin::rem) to %= value;
                if (s.row == builtin::shl) to <<= value;
                if (s.row == builtin::shr) to >>= value;
            }
            if constexpr (scalar_type<E> && !std::same_as<E, bool>) {
                if (s.row == builtin::add) to += value;
                if (s.row == builtin::sub) to -= value;
                if (s.row == builtin::mul) to *= value;
                if (s.row == builtin::div) to /= value;
            }
        });
    }
    void assign_components(const array_statement& s) {
        ir::with_type(s.values[0]->type, [&]<class T>(std::type_identity<T>) {
            if constexpr (sizeof(T) >= 4)
                s.to.size() == 2 ? assign_components<T, 2>(s) : assign_components<T, 3>(s);
        });
    }
    template <class T, std::size_t N>
    void assign_components(const array_statement& s) {
        const auto product = [&](std::size_t k) -> const array_node& {
            return *s.values[k]->in[s.row == builtin::add ? 0 : 1];
        };
        std::array<vector<T>, N> targets, sources;
        std::array<T, N> factors;
        for (std::size_t k = 0; k < N; ++k) {
            targets[k] = vector<T>(states_[s.to[k].vector]);
            sources[k] = vector<T>(states_[product(k).in[0]->which]);
            factors[k] = static_cast<T>(product(k).in[1]->given);
        }
        multivector<T, N> to(std::move(targets));
        const multivector<T, N> from(std::move(sources));
        if (s.row == builtin::add)
            to = from * factors + vector<T>(states_[s.values[0]->in[1]->which]);
        else
            to -= from * factors;
    }
    void tie(const array_statement& s) {
        tape values;
        std::vector<array::selection> views(s.to.size());
        std::vector<array::target> targets;
        for (std::size_t k = 0; k < s.to.size(); ++k) {
            values.append(build(*s.values[k]));
            const array_target& to = s.to[k];
            if (!to.steps.empty()) views[k] = viewed(vector_program(to.vector), to.steps);
            targets.push_back({states_[to.vector].get(), to.steps.empty() ? nullptr : &views[k].where});
        }
        array::assign(targets, std::move(values));
    }
    void fill(const array_statement& s) {
        const double value = s.values[0]->given;
        with_target(s.to[0], [&]<class To, class E>(To& to, std::type_identity<E>) {
            if constexpr (std::same_as<E, bool>)
                to = value != 0;
            else if constexpr (scalar_type<E>)
                to = static_cast<int>(value);
        });
    }
    void copy(const array_statement& s) {
        with_element(program_.vectors[s.to[0].vector], [&]<class T>(std::type_identity<T>) {
            vector<T> to(states_[s.to[0].vector]);
            const vector<T> from(states_[s.values[0]->which]);
            to = from;
        });
    }
    void make(const array_statement& s) {
        tape made = build(*s.values[0]);
        array::place_on(where_, made);
        ir::with_type(s.values[0]->type, [&]<class T>(std::type_identity<T>) {
            if constexpr (std::same_as<T, float>)
                if (program_.vectors[s.to[0].vector].type == scalar::f16) {
                    states_[s.to[0].vector] = vector<half>(typed<T>(std::move(made))).state();
                    return;
                }
            states_[s.to[0].vector] = vector<T>(typed<T>(std::move(made))).state();
        });
    }
    void count(const array_statement& s) {
        static const auto count_in = balm::function(
            "count_in(key, mask, bins)",
            [](UInt key, UInt mask, Mixed<unsigned> bins) { atomic_add(bins[key & mask], 1u); });
        vector<unsigned> bins(states_[s.to[0].vector]);
        balm::eval(
            count_in(typed<unsigned>(build(*s.values[0])), static_cast<unsigned>(bins.size() - 1), bins));
    }
    std::vector<real> reduce(const array_statement& s) {
        tape all;
        std::vector<array::reduction> how;
        for (std::size_t k = 0; k < s.values.size(); ++k) {
            asked_reduction a = asked(s.reduces[k], s.values[k]->type, build(*s.values[k]));
            how.push_back(a.how);
            all.append(std::move(a.of));
        }
        const policy order = s.is_portable ? policy::portable : policy::run_to_run;
        if (s.stays_on_device) return reduce_into_vectors(s, std::move(all), how, order);
        array::place_on(where_, all);
        std::vector<std::uint64_t> slots(2 * how.size());
        array::reduce(std::move(all), how.data(), how.size(), order, slots.data());
        std::vector<real> results;
        const std::uint64_t* slot = slots.data();
        for (std::size_t k = 0; k < s.values.size(); ++k) {
            ir::with_type(reduced_type(s.reduces[k], s.values[k]->type), [&]<class T>(std::type_identity<T>) {
                results.push_back(as_real(balm::detail::result_from<T>(slot++)));
            });
            if (gives_position(s.reduces[k])) results.push_back(static_cast<real>(*slot++));
        }
        return results;
    }

    std::vector<real> reduce_into_vectors(const array_statement& s, tape all,
                                          const std::vector<array::reduction>& how, policy order) {
        std::vector<std::shared_ptr<array::vector_state>> into;
        std::vector<array::vector_state*> targets;
        const auto with_result = [&](std::size_t k, auto&& f) {
            ir::with_type(reduced_type(s.reduces[k], s.values[k]->type), f);
        };
        for (std::size_t k = 0; k < how.size(); ++k)
            with_result(k, [&]<class T>(std::type_identity<T>) {
                into.push_back(vector<T>(where_, 1).state());
                targets.push_back(into.back().get());
            });
        array::reduce_into(targets.data(), std::move(all), how.data(), how.size(), order);
        std::vector<real> results;
        for (std::size_t k = 0; k < how.size(); ++k)
            with_result(k, [&]<class T>(std::type_identity<T>) {
                results.push_back(as_real(vector<T>(into[k])[0]));
            });
        return results;
    }

    const context& where_;
    const array_program& program_;
    std::vector<std::shared_ptr<array::vector_state>> states_;
    std::vector<tape> kept_;
};

/// The first that differs, in words; "" for none.
std::string difference(const std::string& what, const std::vector<number>& expected,
                       const std::vector<real>& got) {
    if (expected.size() != got.size()) return what + " has another number of elements";
    for (std::size_t k = 0; k < got.size(); ++k)
        if (!agrees(expected[k], got[k]))
            return what + "[" + std::to_string(k) + "] is " + words_of({got[k], 0, true}) + ", not " +
                   words_of(expected[k]);
    return "";
}

std::string run_round(const context& where, array_program& p, std::mt19937_64& random, std::size_t& known) {
    redraw_scalars(p, random);
    array_device device(where, p);
    array_oracle oracle(p);
    for (std::size_t k = 0; k < p.vectors.size(); ++k) {
        oracle.vectors.push_back(draw_elements(p.vectors[k], random));
        device.write(k, oracle.vectors[k]);
    }
    for (const array_statement& s : p.statements) {
        const std::vector<number> expected = oracle.run(s);
        const std::string found = difference("result", expected, device.run(s));
        if (!found.empty()) return found;
        for (const std::size_t k : oracle.contested()) {
            const std::string unsettled = oracle.settle(k, device.read(k));
            if (!unsettled.empty()) return "v" + std::to_string(k) + ": " + unsettled;
        }
    }
    for (std::size_t k = 0; k < p.vectors.size(); ++k) {
        const std::string found = difference("v" + std::to_string(k), oracle.vectors[k], device.read(k));
        if (!found.empty()) return found;
        for (const number& n : oracle.vectors[k]) known += n.is_known;
    }
    return "";
}

bool can_run(const context& where, const array_program& p) {
    // What writes memory is for vectors on one device.
    return where.size() == 1 ||
           std::none_of(p.statements.begin(), p.statements.end(),
                        [](const array_statement& s) { return s.what == array_statement::kind::histogram; });
}

TEST(V4_random_programs, compute_what_the_host_computes) {
    const std::size_t cases = case_count(6);  // half a second to compile each
    on_all_contexts([&](const context& where) {
        std::atomic<std::size_t> expressions = 0, known = 0;
        for_each_case(cases, [&](std::size_t k) {
            std::mt19937_64 random(seed() + k);
            array_program p = draw_array_program(random);
            if (!can_run(where, p)) return;
            std::string found;
            std::size_t compared = 0;
            try {
                for (int round = 0; round < rounds && found.empty(); ++round)
                    found = run_round(where, p, random, compared);
            } catch (const std::exception& fault) {
                found = fault.what();
            }
            for (const array_statement& s : p.statements) expressions += s.values.size();
            known += compared;
            if (!found.empty())
                ADD_FAILURE() << "BALM_TEST_SEED=" << seed() + k << " BALM_TEST_CASES=1: " << found << "\n"
                              << text_of(p);
        });
        std::cout << expressions << " expressions, " << known << " elements known\n";
        EXPECT_TRUE(known > 0 || cases < 10);
    });
}

TEST(V4_random_programs_of_three_devices, compute_the_same) {
    run_on_three_devices("test_array", "V4_random_programs.compute_what*");
}

}  // namespace

}  // namespace balm::test
