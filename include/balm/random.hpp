#pragma once
// Random numbers as a function of a seed, a stream and an index: no state, and the same numbers on every
// device, in every order, in kernels, in expressions and on the host.
//
//     balm::uniform<float> number;
//     x = number(balm::element_index(), seed);                  // a vector of numbers in [0, 1)
//     Float f = number(global_id(0), seed, stream);             // in a kernel
//     float g = number(42, seed);                               // element 42 on the host: x[42]

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "balm/expr.hpp"
#include "balm/kernel.hpp"

namespace balm {

namespace detail {

enum class random_generator : std::uint8_t { philox, threefry };
enum class random_distribution : std::uint8_t { uniform, normal };

/// What to draw: elements of `lanes` numbers of this type.
struct random_kind {
    random_generator from;
    random_distribution as;
    scalar element;
    int lanes;
};

/// u64 index, u64 seed, u64 stream -> element; traced once.
const std::shared_ptr<const ir::function>& random_function(const random_kind&);
/// The same on the host; writes the element in its memory layout.
void random_on_host(const random_kind&, std::uint64_t index, std::uint64_t seed, std::uint64_t stream,
                    void* element);

template <class T>
struct random_element {
    static constexpr scalar type = scalar_of<T>;
    static constexpr int lanes = 1;
};
template <class T, int N>
struct random_element<vec<T, N>> {
    static constexpr scalar type = scalar_of<T>;
    static constexpr int lanes = N;
};

template <class A>
concept integer_on_host = std::integral<A> && !std::same_as<A, bool>;

template <class T, class Generator, random_distribution As>
class random_numbers {
    using element = random_element<T>;
    static constexpr random_kind kind{Generator::which, As, element::type, element::lanes};

public:
    using value_type = T;

    /// The element at this index, on the host.
    template <integer_on_host I, integer_on_host S, integer_on_host N = int>
    T operator()(I index, S seed, N stream = 0) const {
        T drawn;
        random_on_host(kind, static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(seed),
                       static_cast<std::uint64_t>(stream), &drawn);
        return drawn;
    }
    /// In a kernel if an argument is a device value; element by element if one is a vector or an expression
    /// of integers. The others are host integers; changing them never recompiles.
    template <class I, class S, class N = int>
    requires(dsl::detail::on_device<I> || dsl::detail::on_device<S> || dsl::detail::on_device<N> ||
             array_value<I> || array_value<S> || array_value<N>) auto
    operator()(I&& index, S&& seed, N&& stream = 0) const {
        static const auto& f = *new device_function<dsl::Var<T>, dsl::ULong, dsl::ULong, dsl::ULong>(
            traced([] { return random_function(kind); }));  // outlives every static object
        return f(static_cast<I&&>(index), static_cast<S&&>(seed), static_cast<N&&>(stream));
    }
};

}  // namespace detail

/// Philox 4x32 with 10 rounds: the seed is the key, index and stream are the counter. The default: the
/// cheaper of the two on GPUs and CPUs alike. Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw,
/// "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
struct philox {
    static constexpr detail::random_generator which = detail::random_generator::philox;
};
/// Threefry 4x32 with 20 rounds: seed and stream are the key, the index is the counter. It needs no
/// multiplications. Source: the same.
struct threefry {
    static constexpr detail::random_generator which = detail::random_generator::threefry;
};

/// Uniformly distributed numbers: floating types in [0, 1), in steps of 2^-24 (float) or 2^-53 (double);
/// integers over their whole range; bool with equal probability. T is a scalar or a short vector, whose lanes
/// are independent.
///
/// A generator produces consecutive blocks of four 32-bit words. Element i uses the words from i * w on,
/// where w is 1 for scalars of up to 4 bytes and 2 for those of 8; for a vector, w is multiplied by the
/// number of lanes (four for three). All 64 bits of index, seed and stream are significant; for elements of
/// more than four words, the index is taken modulo 2^64 * 4 / w.
///
///     y = balm::uniform<double>()(balm::element_index(), seed, stream);
///     double pi = 4.0 * balm::sum(cast<std::int64_t>(a * a + b * b < 1.0)) / n;
template <class T, class Generator = philox>
requires scalar_type<T> || vector_type<T>
class uniform : public detail::random_numbers<T, Generator, detail::random_distribution::uniform> {
};

/// Normally distributed numbers of mean 0 and variance 1, by the Box-Muller method. Logarithm, sine and
/// cosine are Balm's, so that these numbers too are bit-identical on every device (if its square root and
/// division round correctly). T is float, double or a short vector of these. The largest magnitude is 6.7 for
/// float and 8.7 for double.
///
///     x = mean + deviation * balm::normal<float>()(balm::element_index(), seed);
template <class T, class Generator = philox>
requires std::floating_point<T> || vector_type<T>
class normal : public detail::random_numbers<T, Generator, detail::random_distribution::normal> {
    static_assert(std::floating_point<typename detail::host_type<detail::random_element<T>::type>::type>,
                  "Balm: normally distributed numbers must be float or double");
};

}  // namespace balm
