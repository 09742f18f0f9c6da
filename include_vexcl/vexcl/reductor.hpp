#pragma once
// Reductions of expressions to a single value.

#include <array>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <balm/along.hpp>
#include <balm/reduce.hpp>

#include "vexcl/detail/expression.hpp"
#include "vexcl/devlist.hpp"
#include "vexcl/function.hpp"
#include "vexcl/types.hpp"
#include "vexcl/vector.hpp"

namespace vex {

// A reduction has impl<T>: the result for no elements, and the function that combines two elements, on
// devices (device_in, device_out) and on the host.
#define VEX_REDUCTION(Name, nothing, combined)                                                     \
    struct Name {                                                                                  \
        template <class T>                                                                         \
        struct impl {                                                                              \
            typedef T result_type;                                                                 \
            static T initial() { return nothing; }                                                 \
            struct device_in : UserFunction<device_in, T(T, T)> {                                  \
                static std::string name() { return #Name "_" + type_name<T>(); }                   \
                static std::string body() { return "return " VEX_STRINGIZE_SOURCE(combined) ";"; } \
            };                                                                                     \
            typedef device_in device_out;                                                          \
            T operator()(const T& prm1, const T& prm2) const { return combined; }                  \
            template <class Iterator>                                                              \
            T operator()(Iterator first, Iterator last) const {                                    \
                T all = initial();                                                                 \
                for (; first != last; ++first) all = (*this)(all, *first);                         \
                return all;                                                                        \
            }                                                                                      \
        };                                                                                         \
    };
/// The sum of the elements.
VEX_REDUCTION(SUM, T(), prm1 + prm2)
/// The largest and the smallest element. Device reductions ignore NaNs.
VEX_REDUCTION(MAX, std::numeric_limits<T>::lowest(), prm1 > prm2 ? prm1 : prm2)
VEX_REDUCTION(MIN, std::numeric_limits<T>::max(), prm1 < prm2 ? prm1 : prm2)
#undef VEX_REDUCTION
/// The sum, compensated for rounding errors; see balm::sum_compensated.
struct SUM_Kahan : SUM {};

/// Several reductions in one kernel; the results are the lanes of a short vector.
///
///     vex::Reductor<double, vex::CombineReductors<vex::MIN, vex::SUM>> both(ctx);
///     cl_double2 found = both(x);
template <class... R>
struct CombineReductors {
    template <class T>
    struct impl {
        typedef typename cl_vector_of<T, cl_fit_vec_size<sizeof...(R)>::value>::type result_type;
        static result_type initial() {
            result_type all{};
            std::size_t lane = 0;
            ((all.s[lane++] = R::template impl<T>::initial()), ...);
            return all;
        }
    };
};
/// The smallest and the largest element.
typedef CombineReductors<MIN, MAX> MIN_MAX;

namespace detail {

/// A reduction in Balm's terms, for elements of D: `described` for balm::reduce, `along` dimensions, and
/// `whole` for short vectors. Custom reductions are folds.
template <class R, class D>
struct reduction_of {
    using impl = typename R::template impl<host_element<D>>;
    static auto described(balm::expr<D> e) {
        return balm::fold_of(std::move(e), to_balm(impl::initial()), impl::device_in::balm_function());
    }
    template <class View, class Along>
    static auto along(View&& v, const Along& dimensions) {
        return balm::fold(std::forward<View>(v), to_balm(impl::initial()), impl::device_in::balm_function(),
                          dimensions);
    }
};
#define VEX_REDUCTION_OF(Name, function)                                                     \
    template <class D>                                                                       \
    struct reduction_of<Name, D> {                                                           \
        static auto described(balm::expr<D> e) { return balm::function##_of(std::move(e)); } \
        static auto whole(balm::expr<D> e) { return balm::function(std::move(e)); }          \
        template <class View, class Along>                                                   \
        static auto along(View&& v, const Along& dimensions) {                               \
            return balm::function(std::forward<View>(v), dimensions);                        \
        }                                                                                    \
    };
VEX_REDUCTION_OF(SUM, sum)
VEX_REDUCTION_OF(SUM_Kahan, sum_compensated)
VEX_REDUCTION_OF(MIN, min)
VEX_REDUCTION_OF(MAX, max)
#undef VEX_REDUCTION_OF

/// Computes a reduction of elements of T.
template <class R, class T>
struct reduced {
    using D = balm_element<T>;
    static T value(balm::expr<D> e) {
        if constexpr (balm::vector_type<D>) {
            const auto wide =
                reduction_of<R, D>::whole(std::move(e));  // small integers are summed in 64 bits
            D lanes;
            for (int k = 0; k < D::size(); ++k) lanes[k] = static_cast<typename D::value_type>(wide[k]);
            return from_balm<T>(lanes);
        } else
            return static_cast<T>(balm::reduce(reduction_of<R, D>::described(std::move(e))));
    }
};
template <class T, class... R>
struct reduced<CombineReductors<R...>, T> {
    using D = balm_element<T>;
    static auto value(const balm::expr<D>& e) {
        typename CombineReductors<R...>::template impl<T>::result_type lanes{};
        const auto each = balm::reduce(reduction_of<R, D>::described(e)...);
        std::apply(
            [&](const auto&... value) {
                std::size_t lane = 0;
                ((lanes.s[lane++] = static_cast<T>(value)), ...);
            },
            each);
        return lanes;
    }
};

/// Prepares an expression for a reduction: an expression without vectors is placed on the queues `on`; if a
/// function in it may write memory, it is materialised.
template <class D>
balm::expr<D> reducible(balm::expr<D> e, const queue_list& own, const queue_list& on) {
    if (e.writes_memory()) return balm::expr<D>(balm::vector<D>(std::move(e)));
    return placed(std::move(e), own, on);
}

}  // namespace detail

/// Reduces expressions, converted to T. The result for no elements is RDC::impl<T>::initial().
///
///     vex::Reductor<double, vex::SUM> sum(ctx);
///     double dot = sum(x * y);
template <class T, class RDC = SUM>
class Reductor {
public:
    typedef typename RDC::template impl<T>::result_type result_type;

    Reductor(const std::vector<command_queue>& queues = current_context().queue())  // NOLINT
        : queues_(queues) {}

    /// Returns the value; for a multivector, a std::array of the components' values. Blocks. Throws
    /// std::runtime_error if nothing in the expression determines the number of elements.
    template <detail::vexpr A>
    result_type operator()(const A& a) const {
        balm::expr<detail::balm_element<T>> e = detail::assigned<detail::balm_element<T>>(a);
        precondition(e.has_extents(), "Cannot determine the size of the expression to reduce");
        if (e.size() == 0) return RDC::template impl<T>::initial();
        const detail::on_queues scope(queues_);
        return detail::reduced<RDC, T>::value(detail::reducible(std::move(e), detail::queues_of(a), queues_));
    }
    template <detail::multi A>
    auto operator()(const A& a) const {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return std::array<result_type, sizeof...(K)>{{(*this)(detail::component<K>(a))...}};
        }
        (std::make_index_sequence<detail::components_of<A>>());
    }

private:
    detail::queue_list queues_;
};

/// A reductor on these queues.
template <class T, class RDC>
Reductor<T, RDC> get_reductor(const std::vector<command_queue>& queues) {
    return Reductor<T, RDC>(queues);
}

}  // namespace vex
