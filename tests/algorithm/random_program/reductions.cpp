// Reductions of elements of every kind, to the host, into vectors and along dimensions.

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "algorithm/random_program/program_state.hpp"

namespace balm::test::random_algorithms {

namespace {

// ---- elements as lists of numbers: lanes, or the parts of complex numbers

template <class E>
struct parts_of {
    using type = E;
    static constexpr std::size_t count = 1;
};
template <class T, int N>
struct parts_of<vec<T, N>> {
    using type = T;
    static constexpr std::size_t count = N;
};
template <complex_type E>
struct parts_of<E> {
    using type = typename E::value_type;
    static constexpr std::size_t count = 2;
};
template <class E>
auto& part(E& of, std::size_t k) {
    using T = std::conditional_t<std::is_const_v<E>, const typename parts_of<std::remove_const_t<E>>::type,
                                 typename parts_of<E>::type>;
    return reinterpret_cast<T*>(&of)[k];
}

/// Calls f with an element type that is drawn.
template <class F>
void with_any_element(generator& random, F&& f) {
    switch (below(random, 14)) {
        case 0: return f(std::type_identity<std::int8_t>());
        case 1: return f(std::type_identity<std::uint8_t>());
        case 2: return f(std::type_identity<std::int16_t>());
        case 3: return f(std::type_identity<std::uint16_t>());
        case 4: return f(std::type_identity<std::int32_t>());
        case 5: return f(std::type_identity<std::uint64_t>());
        case 6: return f(std::type_identity<float>());
        case 7: return f(std::type_identity<double>());
        case 8: return f(std::type_identity<float2>());
        case 9: return f(std::type_identity<uchar4>());
        case 10: return f(std::type_identity<short3>());
        case 11: return f(std::type_identity<double4>());
        case 12: return f(std::type_identity<std::complex<float>>());
        default: return f(std::type_identity<std::complex<double>>());
    }
}

// ---- reductions on the device and on the host

/// Integers wrap.
template <class T, class F>
T wrapped(T a, T b, F&& f) {
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
    } else {
        return f(a, b);
    }
}
template <class R, class E, class F>
R by_part(const R& first, const E& b, F&& f) {
    R a = first;
    using T = typename parts_of<R>::type;
    for (std::size_t k = 0; k < parts_of<R>::count; ++k)
        part(a, k) = f(part(a, k), static_cast<T>(part(b, k)));
    return a;
}

#define BALM_DEVICE_REDUCTION(name)                                     \
    struct name##_on_device {                                           \
        static constexpr const char* word = #name;                      \
        template <class A>                                              \
        static auto of(const A& a, policy how) {                        \
            return name(a, how);                                        \
        }                                                               \
        template <class A>                                              \
        static auto of(const A& a, const array::dimension_list& over) { \
            return name(a, over);                                       \
        }                                                               \
        template <class R, class A>                                     \
        static void into(vector<R>& target, const A& a, policy how) {   \
            name##_into(target, a, how);                                \
        }                                                               \
    };
BALM_DEVICE_REDUCTION(sum)
BALM_DEVICE_REDUCTION(product)
BALM_DEVICE_REDUCTION(min)
BALM_DEVICE_REDUCTION(max)
#undef BALM_DEVICE_REDUCTION

struct sum_reducer : sum_on_device {
    template <class R, class E>
    static R begin(const std::vector<E>&) {
        return R{};
    }
    template <class R, class E>
    static R combined(const R& a, const E& b) {
        return by_part(a, b, [](auto x, auto y) {
            return wrapped(x, y, [](auto v, auto w) { return static_cast<decltype(v)>(v + w); });
        });
    }
};
struct product_reducer : product_on_device {
    template <class R, class E>
    static R begin(const std::vector<E>&) {
        R one{};
        for (std::size_t k = 0; k < (complex_type<E> ? 1 : parts_of<R>::count); ++k) part(one, k) = 1;
        return one;
    }
    template <class R, class E>
    static R combined(const R& a, const E& b) {
        if constexpr (complex_type<E>)
            return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
        else
            return by_part(a, b, [](auto x, auto y) {
                return wrapped(x, y, [](auto v, auto w) { return static_cast<decltype(v)>(v * w); });
            });
    }
};
struct min_reducer : min_on_device {
    template <class R, class E>
    static R begin(const std::vector<E>& all) {
        return all[0];
    }
    template <class R, class E>
    static R combined(const R& a, const E& b) {
        return by_part(a, b, [](auto x, auto y) { return std::min(x, y); });
    }
};
struct max_reducer : max_on_device {
    template <class R, class E>
    static R begin(const std::vector<E>& all) {
        return all[0];
    }
    template <class R, class E>
    static R combined(const R& a, const E& b) {
        return by_part(a, b, [](auto x, auto y) { return std::max(x, y); });
    }
};
template <class Reducer, class R, class E>
R reduced_on_host(const std::vector<E>& all) {
    R made = Reducer::template begin<R>(all);
    for (const E& each : all) made = Reducer::combined(made, each);
    return made;
}

/// Equal numbers: zeros of both signs are.
template <class R>
void expect_parts(const R& got, const R& wanted, const char* word, const char* where) {
    for (std::size_t k = 0; k < parts_of<R>::count; ++k)
        if (!(part(got, k) == part(wanted, k))) {
            ADD_FAILURE() << "part " << k << " of the " << word << ' ' << where << " is " << +part(got, k)
                          << ", not " << +part(wanted, k);
            return;
        }
}

/// Numbers whose sums, or products, are exact.
template <class E, bool multiplies>
E drawn_element(generator& random) {
    using T = typename parts_of<E>::type;
    E made{};
    if (complex_type<E> && multiplies) {
        part(made, below(random, 2)) = static_cast<T>(below(random, 2) == 0 ? 1 : -1);
        return made;
    }
    for (std::size_t k = 0; k < parts_of<E>::count; ++k) {
        if constexpr (std::is_integral_v<T>)
            part(made, k) = static_cast<T>(random());
        else if (multiplies)
            part(made, k) = static_cast<T>(below(random, 2) == 0 ? 1 : -1);
        else
            part(made, k) = small_value<T>(random);
    }
    return made;
}

template <class Reducer, class E>
class one_reduction {
public:
    one_reduction(const context& ctx, generator& random, std::size_t n) : ctx_(ctx), random_(random), x_(n) {
        constexpr bool multiplies = std::is_same_v<Reducer, product_reducer>;
        for (E& each : x_) each = drawn_element<E, multiplies>(random);
    }
    void run() {
        const vector<E> all(ctx_, x_.begin(), x_.end());
        has_functions_ = is_drawn(random_);
        const auto X = with_functions(all);
        const policy how = is_drawn(random_) ? policy::portable : policy::run_to_run;
        using R = std::remove_const_t<decltype(Reducer::of(X, how))>;
        if (x_.empty() && !can_be_empty) return;
        const R wanted = reduced_on_host<Reducer, R>(x_);
        expect_parts<R>(Reducer::of(X, how), wanted, Reducer::word, "on the host");
        vector<R> target(context(std::vector<device>{ctx_.device(0)}), 1);
        if (ctx_.size() == 1) {
            Reducer::into(target, X, how);
            expect_parts<R>(R(target.to_host()[0]), wanted, Reducer::word, "in a vector");
        }
        along<R>(all);
    }

private:
    static constexpr bool can_be_empty =
        std::is_same_v<Reducer, sum_reducer> || std::is_same_v<Reducer, product_reducer>;

    /// Floating-point numbers, maybe computed with functions.
    template <class A>
    auto with_functions(const A& of) const {
        if constexpr (std::is_floating_point_v<typename parts_of<E>::type> && !complex_type<E>)
            return has_functions_ ? through_functions(expr<E>(of)) : expr<E>(of);
        else
            return of;
    }
    template <class R>
    void along(const vector<E>& X) {
        // A box of as many of the elements as three factors allow.
        if (x_.empty()) return;
        const std::size_t n = x_.size(), a = 1 + below(random_, std::min<std::size_t>(n, 40)),
                          b = 1 + below(random_, std::min<std::size_t>(n / a, 70)), c = n / (a * b);
        const std::size_t first = below(random_, 3);
        const bool is_of_two = is_drawn(random_);
        const std::size_t second = (first + 1 + below(random_, 2)) % 3;
        const std::size_t extents[] = {a, b, c};
        bool is_reduced[3] = {};
        is_reduced[first] = true;
        if (is_of_two) is_reduced[second] = true;
        std::vector<std::vector<E>> groups;
        std::size_t results = 1;
        for (std::size_t d = 0; d < 3; ++d) results *= is_reduced[d] ? 1 : extents[d];
        groups.resize(results);
        for (std::size_t i = 0; i < a * b * c; ++i) {
            const std::size_t at[] = {i / (b * c), i / c % b, i % c};
            std::size_t place = 0;
            for (std::size_t d = 0; d < 3; ++d)
                if (!is_reduced[d]) place = place * extents[d] + at[d];
            groups[place].push_back(x_[i]);
        }
        const auto some = X(slice(0, static_cast<std::int64_t>(a * b * c)));
        const auto box = view(with_functions(some), {a, b, c});
        const auto over = is_of_two ? balm::along(first, second) : balm::along(first);
        const auto got = vector<R>(Reducer::of(box, over)).to_host();
        ASSERT_EQ(got.size(), results);
        for (std::size_t k = 0; k < results && !testing::Test::HasFailure(); ++k)
            expect_parts<R>(got[k], reduced_on_host<Reducer, R>(groups[k]), Reducer::word,
                            "along dimensions");
    }

    const context& ctx_;
    generator& random_;
    std::vector<E> x_;
    bool has_functions_ = false;
};

}  // namespace

void program_state::reduce_any_elements() {
    with_any_element(random_, [&]<class E>(std::type_identity<E>) {
        const auto run = [&]<class Reducer>(Reducer) {
            say(std::string(Reducer::word) + " of " + std::to_string(parts_of<E>::count) + " numbers of " +
                std::to_string(sizeof(typename parts_of<E>::type)) + " bytes");
            one_reduction<Reducer, E>(ctx_, random_, n_).run();
        };
        const std::size_t drawn = below(complex_type<E> ? 2 : 4);
        if (drawn == 0) return run(sum_reducer());
        if (drawn == 1) return run(product_reducer());
        if constexpr (!complex_type<E>) {
            if (drawn == 2) return run(min_reducer());
            run(max_reducer());
        }
    });
}

}  // namespace balm::test::random_algorithms
