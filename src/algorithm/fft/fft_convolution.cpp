// Convolutions of two arrays. By transforms: arrays of real numbers are transformed in pairs (real_fft.cpp);
// one function, at the first load of the inverse transform, separates both spectra, multiplies them and packs
// the product into pairs again. By sums, if one array has few elements: the convolution with weights in
// memory of src/algorithm/stencil.

#include "algorithm/fft/fft_convolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <memory>
#include <vector>

#include "algorithm/fft/fft_dimensions.hpp"
#include "algorithm/fft/fft_lengths.hpp"
#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/fft/transform_producer.hpp"
#include "array/spread/parts.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/control.hpp"
#include "balm/error.hpp"
#include "balm/spectral.hpp"
#include "balm/stencil.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

std::atomic<convolution_way> forced_way{convolution_way::cheapest};

// ---- sizes

/// Sizes along the dimensions of a convolution.
struct convolution_sizes {
    shape a, b, full;
    shape result, padded;
    std::array<std::int64_t, shape::max_dimensions> start{};  ///< of the result, in the full convolution
    int last;                                                 ///< the last convolved dimension

    slice_part part(int d) const {
        const auto k = static_cast<std::size_t>(d);
        return slice(start[k], start[k] + static_cast<std::int64_t>(result[d]));
    }
    shape pairs() const { return with_extent(padded, last, padded[last] / 2); }
    /// Elements of the dimensions after the last convolved one.
    std::size_t inner() const {
        std::size_t made = 1;
        for (int d = last + 1; d < padded.dimensions(); ++d) made *= padded[d];
        return made;
    }
};

void check_operands(const shape& a, const shape& b) {
    if (a.count() == 0 || b.count() == 0)
        throw usage_error(fmt::format("cannot convolve {} elements with {}: both operands must have elements",
                                      to_string(a), to_string(b)));
    if (a.dimensions() != b.dimensions())
        throw usage_error(
            fmt::format("cannot convolve {} with {}: the numbers of dimensions differ; take a view of the "
                        "operand with fewer",
                        to_string(a), to_string(b)));
}

convolution_sizes sizes_of(const shape& a, const shape& b, convolution_mode mode,
                           const dimension_list& over) {
    check_operands(a, b);
    const std::vector<bool> is_named = named_dimensions(a, over);
    convolution_sizes made{a, b, a, a, {}, {}, last_dimension(a, over)};
    bool first_is_shorter = false, second_is_shorter = false;
    for (int d = 0; d < a.dimensions(); ++d) {
        const std::size_t n = a[d], m = b[d];
        if (!is_named[static_cast<std::size_t>(d)]) {
            if (n == m) continue;
            throw usage_error(
                fmt::format("a convolution of {} with {} does not run along dimension {}, whose extents "
                            "differ; name it, or broadcast one of them",
                            to_string(a), to_string(b), d));
        }
        first_is_shorter = first_is_shorter || n < m;
        second_is_shorter = second_is_shorter || m < n;
        made.full = with_extent(made.full, d, n + m - 1);
        const std::size_t least = std::min(n, m);
        const std::size_t start = mode == convolution_mode::full   ? 0
                                  : mode == convolution_mode::same ? (m - 1) / 2
                                                                   : least - 1;
        made.start[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(start);
        if (mode == convolution_mode::full) made.result = with_extent(made.result, d, n + m - 1);
        if (mode == convolution_mode::valid)
            made.result = with_extent(made.result, d, std::max(n, m) - least + 1);
    }
    if (mode == convolution_mode::valid && first_is_shorter && second_is_shorter)
        throw usage_error(
            fmt::format("a valid convolution of {} with {} needs an operand that is at least as long as the "
                        "other along every dimension",
                        to_string(a), to_string(b)));
    return made;
}

/// Chooses the padded extents; real elements need an even number along the last dimension.
void pad(convolution_sizes& sizes, bool is_complex, const dimension_list& over) {
    const std::vector<bool> is_named = named_dimensions(sizes.a, over);
    sizes.padded = sizes.full;
    for (int d = 0; d < sizes.full.dimensions(); ++d) {
        if (!is_named[static_cast<std::size_t>(d)]) continue;
        const std::size_t least = sizes.full[d];
        const bool is_halved = d == sizes.last && !is_complex;
        sizes.padded = with_extent(
            sizes.padded, d, is_halved ? 2 * quick_length((least + 1) / 2, {}) : quick_length(least, {}));
    }
}

// ---- positions

/// The position opposite to each in a box: of the frequency with the other sign along each transformed
/// dimension.
index_values opposite(const std::vector<fft_lines>& dimensions, const index_values& at) {
    index_values made = at;
    for (const fft_lines& each : dimensions) {
        const auto count = static_cast<std::int64_t>(each.count),
                   inner = static_cast<std::int64_t>(each.inner);
        const index_values own = at / inner % count;
        made = made + (select(own == 0, std::int64_t{0}, count - own) - own) * inner;
    }
    return made;
}

// ---- products of spectra

using namespace balm::dsl;

/// Twice X[k] and conj(X[m - k]) of a spectrum X, from the transform z of pairs; `root` is exp(-π i k / m).
template <class T>
struct both_ends {
    Complex<T> low, high;

    both_ends(const In<complex_value<T>>& z, const Complex<T>& root, const Long& near, const Long& far) {
        const Complex<T> one = z[near], other = conj(Complex<T>(z[far]));
        const Complex<T> even = one + other, turned = root * (one - other);
        const Complex<T> odd(turned.imag(), -turned.real());
        low = even + odd;
        high = even - odd;
    }
};
// NOLINTBEGIN(performance-unnecessary-value-param): a function's parameters are values
/// The pairs of the product of two spectra, times 8.
template <class T>
const auto& product_of_pairs() {
    using memory = In<complex_value<T>>;
    static const auto& made =
        *new auto(function("product_of_pairs(a, b, roots, k, near, far)",
                           [](memory a, memory b, memory roots, Long k, Long near, Long far) {
                               const Complex<T> root = roots[k];
                               const both_ends<T> x(a, root, near, far), y(b, root, near, far);
                               const Complex<T> low = x.low * y.low, high = x.high * y.high;
                               const Complex<T> turned = (low - high) * conj(root);
                               return Complex<T>(low + high + Complex<T>(-turned.imag(), turned.real()));
                           }));
    return made;
}

// NOLINTEND(performance-unnecessary-value-param)

/// A convolution by transforms, with the padded extents. Real elements are stored in pairs: the numbers 2 k
/// and 2 k + 1 along the last convolved dimension are adjacent.
class spectral_producer : public transform_producer {
public:
    spectral_producer(tape&& a, tape&& b, std::shared_ptr<vector_state> near, const convolution_sizes& sizes,
                      trace::type type, const dimension_list& over, std::array<bool, 2> is_complex)
        : transform_producer({std::move(a), std::move(b)}, sizes.padded, type, std::move(near)),
          sizes_(sizes),
          is_complex_(is_complex),
          dimensions_(dimensions_of(type.lanes == 1 ? sizes.pairs() : sizes.padded, over)) {}

private:
    void write(std::span<const tape> operands, std::size_t /*arrays*/, vector_state& into) const override {
        for (const tape& each : operands) refuse_writing(each);
        if (type().element == scalar::f32)
            write_of<float>(operands, into);
        else
            write_of<double>(operands, into);
    }
    template <class T>
    void write_of(std::span<const tape> operands, vector_state& into) const {
        if (type().lanes > 1) return write_complex<T>(operands, into);
        if (const std::shared_ptr<vector_state> pairs = as_pairs(into))
            return write_pairs<T>(operands, *pairs);
        vector_state aligned(into.device_handle(), type(), into.size());
        write_pairs<T>(operands, *as_pairs(aligned));
        copy_elements(into, 0, aligned, 0, into.size());
    }

    long double scale() const {
        long double made = 1;
        for (const fft_lines& each : dimensions_) made /= static_cast<long double>(each.count);
        return made;
    }
    std::shared_ptr<vector_state> transformed(const tape& p, const vector_state& like) const {
        auto made =
            std::make_shared<vector_state>(like.device_handle(), trace::type(type().element, 2), like.size());
        transform_dimensions(p, dimensions_, false, 1, *made);
        return made;
    }

    template <class T>
    tape padded_pairs(const tape& p, const shape& from) const {
        const expr<T> x{tape(p)};
        const index_values at = element_index(0, sizes_.pairs().count());
        const auto apart = static_cast<std::int64_t>(sizes_.inner());
        const index_values first = apart == 1 ? 2 * at : at + at / apart * apart;
        return compose<std::complex<T>>(padded_at(x, from, sizes_.padded, first),
                                        padded_at(x, from, sizes_.padded, first + apart))
            .tape();
    }
    template <class T>
    void write_pairs(std::span<const tape> operands, vector_state& into) const {
        using complex_vector = balm::vector<std::complex<T>>;
        const std::size_t half = sizes_.padded[sizes_.last] / 2;
        const auto a = transformed(padded_pairs<T>(operands[0], sizes_.a), into);
        const auto b = transformed(padded_pairs<T>(operands[1], sizes_.b), into);
        const auto roots = root_table(into.device(), type().element, {2 * half, half});
        const index_values at = element_index(0, into.size());
        const index_values k =
            at / static_cast<std::int64_t>(sizes_.inner()) % static_cast<std::int64_t>(half);
        const tape product = product_of_pairs<T>()(complex_vector(a), complex_vector(b),
                                                   complex_vector(roots), k, at, opposite(dimensions_, at))
                                 .tape();
        transform_dimensions(product, dimensions_, true, scale() / 8, into);
    }
    template <class T>
    tape padded_numbers(const tape& p, const shape& from, bool is_complex) const {
        const index_values at = element_index(0, sizes_.padded.count());
        if (is_complex) return padded_at(expr<complex_value<T>>{tape(p)}, from, sizes_.padded, at).tape();
        return padded_at(expr<T>{tape(p)}, from, sizes_.padded, at).tape();
    }
    template <class T>
    void write_complex(std::span<const tape> operands, vector_state& into) const {
        using complex_vector = balm::vector<std::complex<T>>;
        const auto a = transformed(padded_numbers<T>(operands[0], sizes_.a, is_complex_[0]), into);
        const auto b = transformed(padded_numbers<T>(operands[1], sizes_.b, is_complex_[1]), into);
        transform_dimensions((complex_vector(a) * complex_vector(b)).tape(), dimensions_, true, scale(),
                             into);
    }

    convolution_sizes sizes_;
    std::array<bool, 2> is_complex_;
    std::vector<fft_lines> dimensions_;
};

// ---- sums

/// Two operands of one dimension; the one with fewer elements is the weights.
struct weighted_sums {
    const tape& x;
    const tape& weights;
    std::size_t x_count, weight_count;
    bool x_is_complex, weights_are_complex;
};

template <class T, class W>
tape summed(const weighted_sums& of, const convolution_sizes& sizes) {
    const convolution_terms terms = balm::detail::convolution_recorder<W, T>::terms();
    tape nothing;
    balm::detail::append_host<T>(nothing, T{});
    const auto start = static_cast<std::size_t>(sizes.start[0]);
    const std::size_t count = sizes.result[0];
    // Element i of the convolution about the centre c is element i + c of the full one.
    if (count <= of.x_count && start < of.weight_count) {
        tape all =
            convolved(tape(of.x), tape(of.weights), std::move(nothing), border::clamp, terms, start, 0);
        if (count == of.x_count) return all;
        const slice_part first = slice(0, static_cast<std::int64_t>(count));
        return read(sliced(viewed(std::move(all), shape(of.x_count)), {&first, 1}));
    }
    const shape whole = sizes.full;
    tape padded =
        padded_at(expr<T>{tape(of.x)}, shape(of.x_count), whole, element_index(0, whole.count())).tape();
    tape all = convolved(std::move(padded), tape(of.weights), std::move(nothing), border::clamp, terms, 0, 0);
    if (count == whole.count()) return all;
    const slice_part part = sizes.part(0);
    return read(sliced(viewed(std::move(all), whole), {&part, 1}));
}
template <class T>
tape summed_of(const weighted_sums& of, const convolution_sizes& sizes) {
    using complex = complex_value<T>;
    if (of.x_is_complex)
        return of.weights_are_complex ? summed<complex, complex>(of, sizes) : summed<complex, T>(of, sizes);
    return of.weights_are_complex ? summed<T, complex>(of, sizes) : summed<T, T>(of, sizes);
}

/// The number of weights up to which sums cost less than transforms of long arrays. On CPUs, 2^20 f32 take 19
/// ms with 512 weights, 37 with 1024, and 31 by transforms; 2^18 complex numbers take 9 with 128 weights, 3
/// by transforms (PoCL 3.1, 2 cores of an EPYC). On GPUs, transforms of 2^24 f32 move some 0.9 GB; 400
/// weights take as long at the full rate of FMA (H100: calculated, not measured).
constexpr std::size_t most_real_weights_of_cpus = 512, most_real_weights_of_gpus = 256;
/// A complex product takes four real ones, and CPUs compute it in scalars.
constexpr std::size_t most_complex_weights_of_cpus = 32, most_complex_weights_of_gpus = 64;
/// The number of products that cost no more than the launches of transforms.
constexpr std::size_t products_of_launches = std::size_t{1} << 18;

class convolution_plan_of_two {
public:
    convolution_plan_of_two(const tape& a, trace::type of_a, const tape& b, trace::type of_b,
                            convolution_mode mode, const dimension_list& over)
        : a_(a),
          b_(b),
          over_(over),
          is_complex_{of_a.lanes > 1, of_b.lanes > 1},
          type_(of_a.element, static_cast<std::uint8_t>(is_complex_[0] || is_complex_[1] ? 2 : 1)),
          near_(vector_near(a.vectors.empty() ? b : a, type_)),
          sizes_(sizes_of(box_of(a), box_of(b), mode, over)) {
        if (!a.vectors.empty() && !b.vectors.empty()) check_same_devices(*near_, *vector_near(b, type_));
        pad(sizes_, type_.lanes > 1, over);
    }

    bool is_by_sums() const {
        if (sizes_.a.dimensions() > 1 || forced_way == convolution_way::by_transforms) return false;
        if (forced_way == convolution_way::by_sums) return true;
        const bool is_cpu = near_->device().info().type == device_type::cpu;
        const std::size_t weights = std::min(sizes_.a[0], sizes_.b[0]);
        const std::size_t most = type_.lanes == 1
                                     ? (is_cpu ? most_real_weights_of_cpus : most_real_weights_of_gpus)
                                     : (is_cpu ? most_complex_weights_of_cpus : most_complex_weights_of_gpus);
        return weights <= most || weights <= products_of_launches / sizes_.full[0];
    }
    tape by_sums() const {
        const std::size_t n = sizes_.a[0], m = sizes_.b[0];
        const weighted_sums of = n >= m ? weighted_sums{a_, b_, n, m, is_complex_[0], is_complex_[1]}
                                        : weighted_sums{b_, a_, m, n, is_complex_[1], is_complex_[0]};
        return type_.element == scalar::f32 ? summed_of<float>(of, sizes_) : summed_of<double>(of, sizes_);
    }
    tape by_transforms() const {
        tape padded;
        padded.push_produced(std::make_shared<spectral_producer>(tape(a_), tape(b_), near_, sizes_, type_,
                                                                 over_, is_complex_));
        if (type_.lanes == 1 && sizes_.inner() > 1) padded = in_rows(std::move(padded));
        std::vector<slice_part> parts;
        parts.reserve(static_cast<std::size_t>(sizes_.result.dimensions()));
        for (int d = 0; d < sizes_.result.dimensions(); ++d) parts.push_back(sizes_.part(d));
        return read(sliced(viewed(std::move(padded), sizes_.padded), parts));
    }
    std::string words() const {
        if (is_by_sums())
            return fmt::format("sums of {} products each\n", std::min(sizes_.a[0], sizes_.b[0]));
        std::string made = fmt::format("{} elements are padded to {}; two transforms, and one back:\n",
                                       to_string(sizes_.full), to_string(sizes_.padded));
        for (const fft_lines& each : dimensions_of(type_.lanes == 1 ? sizes_.pairs() : sizes_.padded, over_))
            made += describe_lines(near_->device(), type_.element, each);
        return made;
    }

private:
    /// Puts pairs of numbers of neighbouring rows in row-major order.
    tape in_rows(tape&& pairs) const {
        const std::size_t count = sizes_.padded.count();
        const auto inner = static_cast<std::int64_t>(sizes_.inner());
        const index_values at = element_index(0, count), row = at / inner;
        const index_values place = 2 * (row / 2 * inner + at % inner) + row % 2;
        return read(picked(viewed(std::move(pairs), shape(count)), place.tape()));
    }

    const tape& a_;
    const tape& b_;
    dimension_list over_;
    std::array<bool, 2> is_complex_;
    trace::type type_;
    std::shared_ptr<vector_state> near_;
    convolution_sizes sizes_;
};

}  // namespace

void force_convolutions(convolution_way way) { forced_way = way; }

tape convolved(tape&& a, trace::type of_a, tape&& b, trace::type of_b, convolution_mode mode,
               const dimension_list& over) {
    const convolution_plan_of_two plan(a, of_a, b, of_b, mode, over);
    return plan.is_by_sums() ? plan.by_sums() : plan.by_transforms();
}

std::string convolution_words(tape&& a, trace::type of_a, tape&& b, trace::type of_b, convolution_mode mode,
                              const dimension_list& over) {
    return convolution_plan_of_two(a, of_a, b, of_b, mode, over).words();
}

tape backwards(tape&& x, const dimension_list& over) {
    const shape box = box_of(x);
    const std::vector<bool> is_named = named_dimensions(box, over);
    std::vector<slice_part> parts;
    parts.reserve(is_named.size());
    for (const bool each : is_named) parts.push_back(each ? reversed : slice_part{});
    return read(sliced(viewed(std::move(x), box), parts));
}

}  // namespace balm::array
