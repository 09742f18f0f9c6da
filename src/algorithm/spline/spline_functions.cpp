// All functions are traced on first use, per dimension count and precision.

#include "algorithm/spline/spline_functions.hpp"

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include "balm/dsl/control.hpp"

namespace balm {

namespace {

using namespace dsl;

/// Parameters of one kind, one per dimension.
template <class P>
using per_dimension = std::vector<const P*>;

/// The number of the cell at u, where u counts cells from the lower end, clamped to the first and the last
/// one. (A conversion to an integer saturates; NaN becomes 0.)
template <class T>
Int cell_at(const Var<T>& u, const Int& cells) {
    return min(max(cast<std::int32_t>(u), Int(0)), Int(cells - 1));
}

/// The distance of u into a cell, clamped to [0, 1]. NaN stays NaN: no comparison holds for it.
template <class T>
Var<T> clamped_distance(const Var<T>& u, const Int& cell) {
    const Var<T> t = u - cast<T>(cell);
    const Var<T> from_0 = select(t < T(0), T(0), t);
    return select(from_0 > T(1), T(1), from_0);
}

/// The four cubic B-splines at t, from that of the first control point on.
template <class T>
std::array<Var<T>, 4> basis_at(const Var<T>& t) {
    const Var<T> s = T(1) - t, s2 = s * s, t2 = t * t;
    return {s2 * s * T(1.0 / 6), T(2.0 / 3) - t2 * (T(1) - T(0.5) * t), T(2.0 / 3) - s2 * (T(1) - T(0.5) * s),
            t2 * t * T(1.0 / 6)};
}

/// The coordinates of an element of a box; the last one varies fastest.
template <class I>
std::vector<I> coordinates_in(const I& element, const std::vector<I>& extents) {
    std::vector<I> rest{element}, reversed;
    for (std::size_t d = extents.size(); d-- > 1;) {
        rest.push_back(rest.back() / extents[d]);
        reversed.push_back(rest[rest.size() - 2] - rest.back() * extents[d]);
    }
    reversed.push_back(rest.back());
    return {reversed.rbegin(), reversed.rend()};
}

template <class I>
std::vector<I> lattice_of(const std::vector<I>& cells) {
    std::vector<I> extents;
    extents.reserve(cells.size());
    for (const I& each : cells) extents.push_back(each + 3);
    return extents;
}

/// The stride of each dimension, in elements.
std::vector<Int> strides_of(const std::vector<Int>& extents) {
    std::vector<Int> reversed{Int(1)};
    for (std::size_t d = extents.size(); d-- > 1;) reversed.push_back(reversed.back() * extents[d]);
    return {reversed.rbegin(), reversed.rend()};
}

/// The sum of the control points from `first` on, each times its weights along dimensions d and later ones.
template <class T, std::size_t N>
Var<T> weighted_sum(const In<T>& lattice, const std::vector<std::array<Var<T>, N>>& weights,
                    const std::vector<Int>& strides, std::size_t d, const Int& first) {
    const bool is_last = d + 1 == weights.size();
    const auto term = [&](int k) {
        const Int at = k == 0 ? first : Int(first + (is_last ? Int(k) : Int(strides[d] * k)));
        return is_last ? Var<T>(lattice[at]) : weighted_sum(lattice, weights, strides, d + 1, at);
    };
    Var<T> sum = weights[d][0] * term(0);
    for (std::size_t k = 1; k < N; ++k) sum = weights[d][k] * term(static_cast<int>(k)) + sum;
    return sum;
}

template <class T, class = void>
struct recorded_functions;
template <class T, std::size_t... K>
struct recorded_functions<T, std::index_sequence<K...>> {
    template <std::size_t, class P>
    using each = P;
    using value = Var<T>;
    static constexpr std::size_t dimensions = sizeof...(K);

    /// The name of a function and its parameters; those in the middle occur once per dimension.
    static std::string words(const char* name, const char* first,
                             std::initializer_list<const char*> of_each_dimension, const char* last = "") {
        std::string list = name + std::to_string(dimensions) + "(" + first;
        const auto add = [&](const std::string& word) { list += (list.back() == '(' ? "" : ", ") + word; };
        for (const char* word : of_each_dimension)
            for (std::size_t d = 0; d < dimensions; ++d) add(word + std::to_string(d));
        if (*last != 0) add(last);
        return list + ")";
    }

    static auto spline() {
        return function(words("spline", "lattice", {"x", "lower", "scale", "cells"}),
                        [](In<T> lattice, each<K, value>... x, each<K, value>... lower,
                           each<K, value>... scale, each<K, Int>... cells) {
                            const std::vector<Int> strides =
                                strides_of(lattice_of(std::vector<Int>{cells...}));
                            std::vector<std::array<value, 4>> weights;
                            Int first = 0;
                            const auto locate = [&](const value& at, const value& from, const value& factor,
                                                    const Int& count, const Int& stride) {
                                const value u = (at - from) * factor;
                                const Int cell = cell_at(u, count);
                                weights.push_back(basis_at(clamped_distance(u, cell)));
                                first = first + cell * stride;
                            };
                            (locate(x, lower, scale, cells, strides[K]), ...);
                            return weighted_sum(lattice, weights, strides, 0, first);
                        });
    }

    static auto code() {
        return function(
            words("cell_code", "", {"x", "lower", "scale", "cells"}, "table"),
            [](each<K, value>... x, each<K, value>... lower, each<K, value>... scale, each<K, Int>... cells,
               In<std::uint32_t> table) {
                if constexpr (dimensions == 1) {
                    return UInt(cast<std::uint32_t>(cell_at(value((x - lower) * scale), cells)...));
                } else {
                    UInt sum = 0u;
                    Int begin = 0;
                    const auto add = [&](const value& u, const Int& count) {
                        sum = sum + table[begin + cell_at(u, count)];
                        begin = begin + count;
                    };
                    (add((x - lower) * scale, cells), ...);
                    return sum;
                }
            });
    }

    static auto squares() {
        return function(
            words("sum_of_squares", "", {"x", "lower", "scale", "cells"}),
            [](each<K, value>... x, each<K, value>... lower, each<K, value>... scale, each<K, Int>... cells) {
                const auto along = [](const value& u, const Int& count) {
                    const std::array<value, 4> b = basis_at(clamped_distance(u, cell_at(u, count)));
                    return value(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3]);
                };
                value product = T(1);
                ((product = product * along((x - lower) * scale, cells)), ...);
                return product;
            });
    }

    static auto gather() {
        return kernel<1>(
            words("gather_points", "splits, starts, table, share", {"x", "lower", "scale", "cells"},
                  "sums, squares"),
            [](UInt splits, In<std::uint32_t> starts, In<std::uint32_t> table, In<T> share,
               each<K, In<T>>... x, each<K, value>... lower, each<K, value>... scale, each<K, Int>... cells,
               Out<T> sums, Out<T> squares) {
                const UInt e = cast<std::uint32_t>(global_id(0));
                const UInt control = e / splits, split = e - control * splits;
                const std::vector<UInt> count{cast<std::uint32_t>(cells)...};
                const std::vector<UInt> position = coordinates_in(control, lattice_of(count));
                const per_dimension<In<T>> points{&x...};
                const per_dimension<value> from{&lower...}, factor{&scale...};
                value sum = T(0), square = T(0);
                for (UInt q : named("q", range(1u << 2 * dimensions))) {
                    // The control point is number k of the cell along each dimension. Cell numbers below 0
                    // wrap.
                    std::vector<UInt> k, cell;
                    for (std::size_t d = 0; d < dimensions; ++d) {
                        k.push_back(q >> static_cast<unsigned>(2 * d) & 3u);
                        cell.push_back(position[d] - k[d]);
                    }
                    BALM_IF (are_below(cell, count)) {
                        const UInt code = dimensions == 1 ? cell[0] : coded(table, cell, count);
                        std::vector<backwards_cubic> basis;
                        for (std::size_t d = 0; d < dimensions; ++d) basis.push_back(backwards_cubic(k[d]));
                        std::vector<value> begin;
                        begin.reserve(dimensions);
                        for (const UInt& each_cell : cell) begin.push_back(cast<T>(each_cell));
                        const UInt first = starts[code] + split, last = starts[code + 1u];
                        for (UInt p : named("p", range(first, last, splits))) {
                            const auto along = [&](std::size_t d) {
                                return basis[d].at(((*points[d])[p] - *from[d]) * *factor[d] - begin[d]);
                            };
                            value weight = along(0);
                            if constexpr (dimensions > 1) weight = value(weight * along(1));
                            if constexpr (dimensions > 2) weight = value(weight * along(2));
                            const value w2 = weight * weight;
                            square += w2;
                            sum = w2 * (weight * share[p]) + sum;
                        }
                    }
                }
                sums[e] = sum;
                squares[e] = square;
            });
    }
    static Bool are_below(const std::vector<UInt>& numbers, const std::vector<UInt>& ends) {
        std::vector<Bool> tests{numbers[0] < ends[0]};
        for (std::size_t d = 1; d < dimensions; ++d) tests.push_back(tests[d - 1] & (numbers[d] < ends[d]));
        return tests.back();
    }
    /// The sum of the table's entries for a cell's numbers along each dimension.
    static UInt coded(const In<std::uint32_t>& table, const std::vector<UInt>& cell,
                      const std::vector<UInt>& count) {
        std::vector<UInt> sums{table[cell[0]]}, begins{count[0]};
        for (std::size_t d = 1; d < dimensions; ++d) {
            sums.push_back(sums[d - 1] + table[begins[d - 1] + cell[d]]);
            begins.push_back(begins[d - 1] + count[d]);
        }
        return sums.back();
    }
    /// Basis function k of a cell as one of the last two, s^3 / 6 or 1/6 + s/2 + s^2/2 - s^3/2, at s = t or,
    /// for the first two, at s = 1 - t.
    class backwards_cubic {
    public:
        explicit backwards_cubic(const UInt& k) : backwards_cubic(Bool(k < 2u), Bool(k == 0u | k == 3u)) {}
        value at(const value& t) const {
            const value s = slope_ * t + at_0_;
            return ((cubic_ * s + others_) * s + others_) * s + constant_;
        }

    private:
        backwards_cubic(const Bool& is_in_first_half, const Bool& is_outer)
            : at_0_(select(is_in_first_half, T(1), T(0))),
              slope_(select(is_in_first_half, T(-1), T(1))),
              constant_(select(is_outer, T(0), T(1.0 / 6))),
              others_(select(is_outer, T(0), T(0.5))),
              cubic_(select(is_outer, T(1.0 / 6), T(-0.5))) {}

        value at_0_, slope_, constant_, others_, cubic_;
    };

    static auto refined() {
        return function(words("refine_lattice", "element, coarse", {"cells"}), [](Long element, In<T> coarse,
                                                                                  each<K, Int>... cells) {
            const std::vector<Int> position =
                coordinates_in(cast<std::int32_t>(element), lattice_of(std::vector<Int>{cells...}));
            std::vector<Int> extents;
            (extents.push_back((cells >> 1) + 3), ...);
            const std::vector<Int> strides = strides_of(extents);
            // A control point at one of the coarse lattice has the weights 1/8, 3/4 and 1/8. One between them
            // has 1/2 and 1/2: it does not read a third one, which may not exist.
            std::vector<std::array<value, 2>> outer;
            std::vector<value> middle;
            std::vector<Bool> is_between;
            Int first = 0;
            for (std::size_t d = 0; d < dimensions; ++d) {
                is_between.push_back((position[d] & 1) == 0);
                first = first + (position[d] >> 1) * strides[d];
                outer.push_back(
                    {select(is_between[d], T(0.5), T(0.125)), select(is_between[d], T(0), T(0.125))});
                middle.push_back(select(is_between[d], T(0.5), T(0.75)));
            }
            return sum_of_three(coarse, outer, middle, is_between, strides, 0, first);
        });
    }
    static value sum_of_three(const In<T>& coarse, const std::vector<std::array<value, 2>>& outer,
                              const std::vector<value>& middle, const std::vector<Bool>& is_between,
                              const std::vector<Int>& strides, std::size_t d, const Int& first) {
        const auto at = [&](const Int& place) {
            return d + 1 == dimensions
                       ? value(coarse[place])
                       : sum_of_three(coarse, outer, middle, is_between, strides, d + 1, place);
        };
        const Int third = select(is_between[d], first, Int(first + strides[d] * 2));
        return outer[d][0] * at(first) + middle[d] * at(first + strides[d]) + outer[d][1] * at(third);
    }

    static auto plane() {
        return function(words("plane_point", "element, at_lower", {"rise", "cells"}),
                        [](Long element, value at_lower, each<K, value>... rise, each<K, Int>... cells) {
                            const std::vector<Int> position = coordinates_in(
                                cast<std::int32_t>(element), lattice_of(std::vector<Int>{cells...}));
                            value sum = at_lower;
                            ((sum = sum + rise * (cast<T>(position[K] - 1) / cast<T>(cells))), ...);
                            return sum;
                        });
    }
};
template <int D, class T>
using recorded_of = recorded_functions<T, std::make_index_sequence<D>>;

}  // namespace

// The functions are kept in objects that are never destroyed, so that they outlive what is destroyed at exit.

namespace detail {

template <int D, class T>
const typename spline_function<T, std::make_index_sequence<D>>::type& spline_value() {
    static const auto& made = *new auto(recorded_of<D, T>::spline());
    return made;
}

}  // namespace detail

namespace array {

template <int D, class T>
const typename spline_signatures_of<D, T>::code& cell_code() {
    static const auto& made = *new auto(recorded_of<D, T>::code());
    return made;
}
template <int D, class T>
const typename spline_signatures_of<D, T>::squares& sum_of_squares() {
    static const auto& made = *new auto(recorded_of<D, T>::squares());
    return made;
}
template <int D, class T>
const typename spline_signatures_of<D, T>::gather& gather_points() {
    static const auto& made = *new auto(recorded_of<D, T>::gather());
    return made;
}
template <int D, class T>
const typename spline_signatures_of<D, T>::refined& refined_point() {
    static const auto& made = *new auto(recorded_of<D, T>::refined());
    return made;
}
template <int D, class T>
const typename spline_signatures_of<D, T>::plane& plane_point() {
    static const auto& made = *new auto(recorded_of<D, T>::plane());
    return made;
}

#define BALM_SPLINE_FUNCTIONS(D, T)                                             \
    template const spline_signatures_of<D, T>::code& cell_code<D, T>();         \
    template const spline_signatures_of<D, T>::squares& sum_of_squares<D, T>(); \
    template const spline_signatures_of<D, T>::gather& gather_points<D, T>();   \
    template const spline_signatures_of<D, T>::refined& refined_point<D, T>();  \
    template const spline_signatures_of<D, T>::plane& plane_point<D, T>();
BALM_SPLINE_FUNCTIONS(1, float)
BALM_SPLINE_FUNCTIONS(2, float)
BALM_SPLINE_FUNCTIONS(3, float)
BALM_SPLINE_FUNCTIONS(1, double)
BALM_SPLINE_FUNCTIONS(2, double)
BALM_SPLINE_FUNCTIONS(3, double)
#undef BALM_SPLINE_FUNCTIONS

}  // namespace array

namespace detail {

#define BALM_SPLINE_VALUE(D, T) \
    template const spline_function<T, std::make_index_sequence<D>>::type& spline_value<D, T>();
BALM_SPLINE_VALUE(1, float)
BALM_SPLINE_VALUE(2, float)
BALM_SPLINE_VALUE(3, float)
BALM_SPLINE_VALUE(1, double)
BALM_SPLINE_VALUE(2, double)
BALM_SPLINE_VALUE(3, double)
#undef BALM_SPLINE_VALUE

}  // namespace detail

}  // namespace balm
