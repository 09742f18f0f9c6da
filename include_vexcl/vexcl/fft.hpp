#pragma once
// Fourier transforms of expressions, as expressions.

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <balm/fft.hpp>

#include "vexcl/vector.hpp"

namespace vex {

namespace fft {

/// What is computed along a dimension: the transform, its inverse (divided by the extent), or nothing.
enum direction { forward, inverse, none };

/// Finds efficient sizes: those without prime factors greater than 13.
struct planner {
    /// Without prime factors greater than `most`.
    planner(std::size_t most = 25) : most_(most) {}  // NOLINT
    std::size_t best_size(std::size_t n) const {
        while (!is_suited(n)) ++n;
        return n;
    }

private:
    bool is_suited(std::size_t n) const {
        for (const std::size_t p : {2, 3, 5, 7, 11, 13})
            while (p <= most_ && n > 1 && n % p == 0) n /= p;
        return n <= 1;
    }
    std::size_t most_;
};

/// Returns the next prime number on each call.
class prime_generator {
public:
    std::size_t operator()() {
        const auto divides = [&](std::size_t p) { return next_ % p == 0; };
        while (std::any_of(known_.begin(), known_.end(), divides)) ++next_;
        known_.push_back(next_);
        return next_++;
    }

private:
    std::vector<std::size_t> known_;
    std::size_t next_ = 2;
};

/// What a transform computes, to print; and a profiler, or null, that measures it.
struct plan_info {
    std::vector<std::size_t> sizes;
    profiler<>* profile = nullptr;

    std::string desc() const {
        std::ostringstream text;
        text << "FFT(";
        for (std::size_t d = 0; d < sizes.size(); ++d) text << (d == 0 ? "" : " x ") << sizes[d];
        text << ")";
        return text.str();
    }
    friend std::ostream& operator<<(std::ostream& to, const plan_info& p) { return to << p.desc(); }
};

}  // namespace fft

namespace detail {

/// The real type of a transform of T, a scalar or a pair.
template <class T>
using fft_number = balm_element<typename cl_scalar_of<T>::type>;

/// Scalars, or pairs, as complex numbers.
template <class R, class D>
balm::expr<balm::complex_value<R>> as_complex(const balm::expr<D>& e) {
    if constexpr (balm::vector_type<D>)
        return balm::compose<balm::complex_value<R>>(balm::cast<R>(balm::lane<0>(e)),
                                                     balm::cast<R>(balm::lane<1>(e)));
    else
        return balm::compose<balm::complex_value<R>>(balm::cast<R>(e), balm::constant(R(0)));
}

}  // namespace detail

/// The Fourier transform of expressions of In to Out, along one or several dimensions; dimensions with
/// fft::none are batches. cl_float2 and cl_double2 are complex numbers. If Out is a scalar type, the result
/// is the real part.
///
///     vex::FFT<double, cl_double2> forward(ctx, n);
///     vex::FFT<cl_double2, double> inverse(ctx, n, vex::fft::inverse);
///     u = inverse(K * forward(f));
///     vex::FFT<cl_float2> rows(ctx, {count, n}, {vex::fft::none, vex::fft::forward});
template <class In, class Out = In, class Planner = fft::planner>
class FFT {
    using R = detail::fft_number<In>;
    using number = balm::complex_value<R>;
    static_assert(std::same_as<R, detail::fft_number<Out>>,
                  "vex::FFT: In and Out must have the same precision");

public:
    typedef typename cl_scalar_of<In>::type value_type;

    fft::plan_info plan;

    FFT(const std::vector<command_queue>& queues, std::size_t n, fft::direction along = fft::forward,
        const Planner& = Planner())
        : FFT(queues, std::vector<std::size_t>{n}, along) {}
    FFT(const std::vector<command_queue>& queues, const std::vector<std::size_t>& sizes,
        fft::direction along = fft::forward, const Planner& = Planner())
        : FFT(queues, sizes, std::vector<fft::direction>(sizes.size(), along)) {}
    /// A direction for each dimension.
    FFT(const std::vector<command_queue>& queues, const std::vector<std::size_t>& sizes,
        const std::vector<fft::direction>& along, const Planner& = Planner())
        : plan{sizes}, queues_(queues), extents_(balm::shape(std::span<const std::size_t>(sizes))) {
        precondition(along.size() == sizes.size(),
                     "vex::FFT: the numbers of directions and dimensions differ");
        for (std::size_t d = 0; d < along.size(); ++d) {
            if (along[d] == fft::none) continue;
            balm::array::dimension_list& list = along[d] == fft::forward ? forward_ : inverse_;
            list.each[static_cast<std::size_t>(list.count++)] = static_cast<std::int64_t>(d);
        }
    }
    /// On the queues of the current context.
    explicit FFT(std::size_t n, fft::direction along = fft::forward, const Planner& = Planner())
        : FFT(current_context().queue(), n, along) {}
    explicit FFT(const std::vector<std::size_t>& sizes, fft::direction along = fft::forward,
                 const Planner& = Planner())
        : FFT(current_context().queue(), sizes, along) {}
    FFT(const std::vector<std::size_t>& sizes, const std::vector<fft::direction>& along,
        const Planner& = Planner())
        : FFT(current_context().queue(), sizes, along) {}

    /// The transform of an expression, whose number of elements is the product of the sizes.
    template <detail::vexpr A>
    decltype(auto) operator()(const A& a) const {
        balm::expr<number> e(balm::view<const number>(
            detail::placed(detail::as_complex<R>(detail::lower(a)), detail::queues_in(a), queues_),
            extents_));
        if (forward_.count > 0) e = balm::fft(std::move(e), forward_);
        if (inverse_.count > 0) e = balm::ifft(std::move(e), inverse_);
        e = balm::expr<number>(balm::view<const number>(std::move(e), balm::shape(extents_.count())));
        detail::queue_list queues = detail::queues_of(a);
        if (!queues) queues = queues_;
        if (plan.profile != nullptr) {  // computed now, to be measured
            const detail::on_queues scope(queues);
            plan.profile->tic_cl(plan.desc());
            e = balm::expr<number>(balm::vector<number>(std::move(e)));
            plan.profile->toc();
        }
        using D = detail::balm_element<Out>;
        if constexpr (balm::vector_type<D>)
            return detail::wrap(balm::compose<D>(real(e), imag(e)), std::move(queues));
        else
            return detail::wrap(balm::expr<D>(real(e)), std::move(queues));
    }

private:
    detail::queue_list queues_;
    balm::shape extents_;
    balm::array::dimension_list forward_, inverse_;
};

}  // namespace vex
