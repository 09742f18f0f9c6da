// Transforms of real numbers. If their count is even, two neighbours form one complex number of a transform
// of half the size, and a formula separates the two (pair_formulas.hpp); otherwise half of a complex
// transform is kept.

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "algorithm/fft/fft_dimensions.hpp"
#include "algorithm/fft/fft_lengths.hpp"
#include "algorithm/fft/fft_transform.hpp"
#include "algorithm/fft/pair_formulas.hpp"
#include "algorithm/fft/spread_fft.hpp"
#include "algorithm/fft/spread_real_fft.hpp"
#include "algorithm/fft/transform_producer.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/fft.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using vector_handle = std::shared_ptr<vector_state>;

template <class T>
using complex_memory = In<complex_value<T>>;

/// All rows of the spectrum, from the transforms of the pairs.
template <class T>
const auto& spectrum_of_pairs() {
    static const auto& made = *new auto(
        function("spectrum_of_pairs(z, roots, half, at)",
                 [](complex_memory<T> z, complex_memory<T> roots, Long half, Long at) {
                     const Long row = at / (half + 1), k = at - row * (half + 1), first = row * half;
                     return spectrum_of_two<T>(z[first + select(k == half, Long(0), k)],
                                               z[first + select(k == 0, Long(0), half - k)], roots[k]);
                 }));
    return made;
}
/// The inverse, times 2.
template <class T>
const auto& pairs_of_spectrum() {
    static const auto& made =
        *new auto(function("pairs_of_spectrum(low, high, roots, half, at)",
                           [](Complex<T> low, Complex<T> high, complex_memory<T> roots, Long half, Long at) {
                               const Long k = at % half;
                               return pair_of_two<T>(low, high, roots[k], k);
                           }));
    return made;
}
/// The whole spectrum of real numbers, from its first n / 2 + 1.
template <class T>
const auto& mirrored() {
    static const auto& made =
        *new auto(function("mirrored(x, n, inner, at)", [](complex_memory<T> x, Long n, Long inner, Long at) {
            const Long row = at / (n * inner), place = at - row * n * inner;
            const Long k = place / inner, column = place - k * inner, stored = n / 2 + 1;
            const Bool is_far = k >= stored;
            const Complex<T> found = x[(row * stored + select(is_far, n - k, k)) * inner + column];
            const Bool is_real = k == 0 || 2 * k == n;
            const Var<T> imaginary = select(is_far, -found.imag(), found.imag());
            return Complex<T>(found.real(), select(is_real, Var<T>(T(0)), imaginary));
        }));
    return made;
}
/// The functions of a precision, as tapes.
template <class T>
struct real_functions {
    using complex_vector = balm::vector<std::complex<T>>;
    static tape spectrum(const vector_handle& z, const vector_handle& roots, std::size_t half,
                         std::size_t count) {
        return spectrum_of_pairs<T>()(complex_vector(z), complex_vector(roots),
                                      static_cast<std::int64_t>(half), element_index(0, count))
            .tape();
    }
    static tape pairs(const tape& x, const vector_handle& roots, std::size_t half, std::size_t count) {
        const expr<complex_value<T>> all{tape(x)};
        const auto at = element_index(0, count);
        const auto m = static_cast<std::int64_t>(half);
        // Each row has m + 1 numbers.
        return pairs_of_spectrum<T>()(all[at + at / m], all[m + (2 * m + 1) * (at / m) - at],
                                      complex_vector(roots), m, at)
            .tape();
    }
    /// Pairs of real neighbours, as complex numbers.
    static tape neighbours(const tape& x, std::size_t count) {
        const expr<T> all{tape(x)};
        const auto first = 2 * element_index(0, count);
        return compose<std::complex<T>>(all[first], all[first + 1]).tape();
    }
    static tape whole(const vector_handle& x, const fft_lines& lines) {
        return mirrored<T>()(complex_vector(x), static_cast<std::int64_t>(lines.count),
                             static_cast<std::int64_t>(lines.inner), element_index(0, lines.size()))
            .tape();
    }
    static tape real(const vector_handle& z) { return balm::real(complex_vector(z)).tape(); }
};
template <class Call>
auto of_precision(scalar element, Call&& call) {
    return element == scalar::f32 ? call(real_functions<float>{}) : call(real_functions<double>{});
}

/// Whether computing elements costs little more than loading them.
bool is_light(const tape& p) {
    constexpr std::size_t few = 8;
    return p.steps.size() <= few && p.functions.empty();
}
/// Whether a complex transform of half the size suffices.
bool is_in_pairs(const fft_lines& lines) { return lines.count % 2 == 0 && lines.inner == 1; }

struct real_options {
    fft_norm norm = fft_norm::backward;
    bool is_light = true;  ///< the elements; index arithmetic of padding does not count
};

/// A transform of `arrays` arrays. Their slowest dimension is the last of the others, or the real one.
class real_producer : public transform_producer {
public:
    real_producer(tape&& of, const shape& extents, trace::type type, const real_dimensions& dimensions,
                  const real_options& options)
        : real_producer(vector_near(of, type), std::move(of), extents, type, dimensions, options,
                        dimensions.others.empty() ? dimensions.real.outer : dimensions.others.back().outer) {}
    real_producer(std::shared_ptr<vector_state> near, tape&& of, const shape& extents, trace::type type,
                  const real_dimensions& dimensions, const real_options& options, std::size_t arrays)
        : transform_producer({std::move(of)}, extents, type, std::move(near), arrays),
          dimensions_(dimensions),
          options_(options) {}

protected:
    const real_dimensions& dimensions() const { return dimensions_; }
    const real_options& options() const { return options_; }
    real_dimensions dimensions_for(std::size_t arrays) const {
        real_dimensions made = dimensions_;
        made.real = lines_of(made.real, arrays);
        for (fft_lines& each : made.others) each = lines_of(each, arrays);
        return made;
    }
    scalar precision() const { return type().element; }
    trace::type pair() const { return {precision(), 2}; }

    /// The slowest of the other dimensions is transformed by columns; if there is none, the real one, by
    /// columns or in four steps.
    bool has_exchange(std::size_t devices) const override {
        if (!dimensions_.others.empty()) return dimensions_.others.back().inner > 1;
        return dimensions_.real.inner > 1 ||
               (is_in_pairs(dimensions_.real) && rows_of_four_steps(dimensions_.real.count / 2, devices) > 0);
    }
    /// The dimensions of the rows that columns consist of.
    real_dimensions of_rows() const {
        real_dimensions made = dimensions_;
        made.others.pop_back();
        return made;
    }

private:
    void write_exchanged(std::span<const tape> operands, const vector_state& model,
                         vector_state& into) const override {
        const tape& p = operands[0];
        refuse_writing(p);
        if (!dimensions_.others.empty())
            write_by_slowest(p, dimensions_.others.back(), model, into);
        else if (dimensions_.real.inner > 1)
            write_columns(p, dimensions_.real, model, into);
        else
            write_in_four_steps(p, dimensions_.real, model, into);
    }
    /// Transforms the rows and the slowest of the other dimensions separately.
    virtual void write_by_slowest(const tape&, const fft_lines&, const vector_state& model,
                                  vector_state& into) const = 0;
    virtual void write_columns(const tape&, const fft_lines&, const vector_state& model,
                               vector_state& into) const = 0;
    virtual void write_in_four_steps(const tape&, const fft_lines&, const vector_state& model,
                                     vector_state& into) const = 0;

    real_dimensions dimensions_;
    real_options options_;
};

class forward_producer : public real_producer {
    using real_producer::real_producer;

    void write(std::span<const tape> operands, std::size_t arrays, vector_state& into) const override {
        refuse_writing(operands[0]);
        const real_dimensions own = dimensions_for(arrays);
        write_lines(operands[0], own.real, into);
        for (const fft_lines& each : own.others)
            transform_lines(of_vector(borrowed(into)), each, manner_of(each), into);
    }
    fft_manner manner_of(const fft_lines& lines) const {
        return {false, false, factor_of(options().norm, false, lines.count)};
    }
    void write_lines(const tape& p, const fft_lines& lines, vector_state& into) const {
        const std::shared_ptr<runtime::device_state> device = into.device().shared_from_this();
        if (is_in_pairs(lines))
            write_from_pairs(p, lines, into, device);
        else
            write_half(p, lines, into, device);
    }
    void write_from_pairs(const tape& p, const fft_lines& lines, vector_state& into,
                          const std::shared_ptr<runtime::device_state>& device) const {
        const std::size_t half = lines.count / 2;
        const auto z = std::make_shared<vector_state>(device, pair(), lines.outer * half);
        const vector_handle pairs = is_vector(p, precision()) ? as_pairs(*p.vectors[0]) : nullptr;
        const tape values = pairs != nullptr ? of_vector(pairs) : of_precision(precision(), [&](auto of) {
            return of.neighbours(p, z->size());
        });
        transform_lines(values, {lines.outer, half, 1}, manner_of(lines), *z);
        const vector_handle roots = root_table(*device, precision(), {lines.count, half + 1});
        assign(into,
               of_precision(precision(), [&](auto of) { return of.spectrum(z, roots, half, into.size()); }));
    }
    void write_half(const tape& p, const fft_lines& lines, vector_state& into,
                    const std::shared_ptr<runtime::device_state>& device) const {
        const auto whole = std::make_shared<vector_state>(device, pair(), lines.size());
        transform_lines(p, lines, manner_of(lines), *whole);
        affine_map map{shape(lines.outer, lines.count / 2 + 1, lines.inner), {}, 0};
        map.strides[0] = static_cast<std::int64_t>(lines.count * lines.inner);
        map.strides[1] = static_cast<std::int64_t>(lines.inner);
        map.strides[2] = 1;
        tape values;
        values.push_position(map);
        values.append_at(of_vector(whole));
        assign(into, std::move(values));
    }

    void write_in_four_steps(const tape& p, const fft_lines& all, const vector_state& model,
                             vector_state& into) const override {
        transform_reals_in_four_steps(p, all, manner_of(all).scale, model, into);
    }
    void write_columns(const tape& p, const fft_lines& all, const vector_state& model,
                       vector_state& into) const override {
        transform_columns(p, precision(), all, model, into, [&](const auto& block, const fft_lines& lines) {
            auto made = std::make_shared<vector_state>(block->device_handle(), pair(),
                                                       lines.outer * (lines.count / 2 + 1) * lines.inner);
            write_lines(of_vector(block), lines, *made);
            return made;
        });
    }
    void write_by_slowest(const tape& p, const fft_lines& slowest, const vector_state& model,
                          vector_state& into) const override {
        const forward_producer rows(near(), tape(p), extents(), type(), of_rows(), options(),
                                    slowest.outer * slowest.count);
        transform_columns(of_vector(rows.compute()), pair(), slowest, model, into,
                          [&](const auto& block, const fft_lines& lines) {
                              return transformed_block(block, lines, manner_of(slowest));
                          });
    }
};

class inverse_producer : public real_producer {
    using real_producer::real_producer;

    void write(std::span<const tape> operands, std::size_t arrays, vector_state& into) const override {
        refuse_writing(operands[0]);
        write_all(operands[0], dimensions_for(arrays), into);
    }
    long double factor_of(const fft_lines& lines) const {
        return array::factor_of(options().norm, true, lines.count);
    }
    void write_all(const tape& p, const real_dimensions& own, vector_state& into) const {
        const fft_lines& lines = own.real;
        const std::shared_ptr<runtime::device_state> device = into.device().shared_from_this();
        const std::size_t stored = lines.outer * (lines.count / 2 + 1) * lines.inner;
        long double scale = factor_of(lines);
        vector_handle x;
        const std::vector<fft_lines>& others = own.others;
        if (others.empty()) {
            // The elements are computed twice: expensive ones are stored.
            x = options().is_light ? nullptr : as_vector(p, pair(), stored, into);
        } else {
            x = std::make_shared<vector_state>(device, pair(), stored);
            for (std::size_t k = 0; k < others.size(); ++k) {
                scale *= factor_of(others[k]);
                transform_lines(k == 0 ? p : of_vector(x), others[k], {k == 0, k + 1 == others.size(), 1},
                                *x);
            }
        }
        const vector_handle pairs = is_in_pairs(lines) ? as_pairs(into) : nullptr;
        if (pairs != nullptr) {
            const std::size_t half = lines.count / 2;
            const vector_handle roots = root_table(*device, precision(), {lines.count, half + 1});
            const tape z = of_precision(precision(), [&](auto of) {
                return of.pairs(x != nullptr ? of_vector(x) : p, roots, half, lines.outer * half);
            });
            return transform_lines(z, {lines.outer, half, 1}, {true, true, scale}, *pairs);
        }
        if (x == nullptr) x = as_vector(p, pair(), stored, into);
        const auto whole = std::make_shared<vector_state>(device, pair(), lines.size());
        const tape all = of_precision(precision(), [&](auto of) { return of.whole(x, lines); });
        transform_lines(all, lines, {true, true, scale}, *whole);
        assign(into, of_precision(precision(), [&](auto of) { return of.real(whole); }));
    }

    void write_in_four_steps(const tape& p, const fft_lines& all, const vector_state& model,
                             vector_state& into) const override {
        transform_back_to_reals_in_four_steps(p, all, factor_of(all), model, into);
    }
    void write_columns(const tape& p, const fft_lines& all, const vector_state& model,
                       vector_state& into) const override {
        const fft_lines stored{all.outer, all.count / 2 + 1, all.inner};
        transform_columns(p, pair(), stored, model, into, [&](const auto& block, const fft_lines& lines) {
            const fft_lines own{lines.outer, all.count, lines.inner};
            auto made = std::make_shared<vector_state>(block->device_handle(), type(), own.size());
            write_all(of_vector(block), {own, {}}, *made);
            return made;
        });
    }
    void write_by_slowest(const tape& p, const fft_lines& slowest, const vector_state& model,
                          vector_state& into) const override {
        const std::size_t rows = slowest.outer * slowest.count;
        const vector_handle spectra = made_of_units(model, units_like(model, rows), slowest.inner, pair());
        const long double scale = factor_of(slowest);
        transform_columns(p, pair(), slowest, model, *spectra,
                          [&](const auto& block, const fft_lines& lines) {
                              return transformed_block(block, lines, {true, true, scale});
                          });
        inverse_producer(near(), of_vector(spectra), extents(), type(), of_rows(), options(), rows)
            .compute_into(into);
    }
};

}  // namespace

tape real_transformed(tape&& elements, scalar precision, const dimension_list& over,
                      const fft_options& options) {
    const shape box = with_lengths("rfft", box_of(elements), over, options.lengths);
    const int last = last_dimension(box, over);
    const shape extents = with_extent(box, last, box[last] / 2 + 1);
    if (box[last] == 0)
        throw usage_error(
            fmt::format("rfft runs along dimension {} of {}, which has no elements", last, to_string(box)));
    tape p;
    p.push_produced(std::make_shared<forward_producer>(
        resized("rfft", std::move(elements), precision, box), extents, trace::type(precision, 2),
        real_dimensions_of(extents, over, box[last]), real_options{options.norm}));
    return p;
}

tape inverse_real_transformed(tape&& elements, scalar precision, std::size_t count,
                              const dimension_list& over, const fft_options& options) {
    const shape result = with_lengths("irfft", box_of(elements), over, options.lengths);
    const int last = last_dimension(result, over);
    if (!options.lengths.empty() && result[last] != count)
        throw usage_error(fmt::format(
            "irfft returns {} real numbers along dimension {}, but its length is {}; they must be equal",
            count, last, result[last]));
    const shape box = options.lengths.empty() ? result : with_extent(result, last, count / 2 + 1);
    if (count == 0 || box[last] != count / 2 + 1)
        throw usage_error(
            fmt::format("irfft of {} elements along dimension {} cannot return {} real numbers: for n of "
                        "them, at least 1, it needs n / 2 + 1 elements",
                        box[last], last, count));
    tape p;
    const bool is_cheap = is_light(elements);
    p.push_produced(std::make_shared<inverse_producer>(
        resized("irfft", std::move(elements), trace::type(precision, 2), box), with_extent(box, last, count),
        precision, real_dimensions_of(box, over, count), real_options{options.norm, is_cheap}));
    return p;
}

}  // namespace balm::array
