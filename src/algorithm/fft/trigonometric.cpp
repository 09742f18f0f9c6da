// Cosine and sine transforms: the functions of trigonometric_functions.hpp before and after a complex or real
// transform, along one dimension after the other.

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithm/fft/fft_dimensions.hpp"
#include "algorithm/fft/spread_fft.hpp"
#include "algorithm/fft/transform_producer.hpp"
#include "algorithm/fft/trigonometric_functions.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/spectral.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

using namespace trigonometry;
using vector_handle = std::shared_ptr<vector_state>;

/// A transform along one dimension.
template <class T>
class trigonometric_computation {
    using functions = trigonometric_functions<T>;
    using complex_vector = typename functions::complex_vector;

public:
    trigonometric_computation(trigonometric kind, int type, const fft_lines& lines, long double scale,
                              vector_state& into)
        : type_(type),
          lines_(lines),
          form_(form_of(lines)),
          n_(static_cast<std::int64_t>(lines.count)),
          inner_(static_cast<std::int64_t>(lines.inner)),
          sine_(kind == trigonometric::sine ? 1 : 0),
          scale_(static_cast<T>(scale)),
          into_(into),
          is_even_(lines.count % 2 == 0) {}

    /// Transforms a vector, which may be the target.
    void run(const vector_handle& from) const {
        const typename functions::real_vector x(from);
        switch (type_) {
            case 1: return of_type_1(x);
            case 2: return is_even_ ? of_type_2(x) : of_odd_type_2(x);
            case 3: return is_even_ ? of_type_3(x) : of_odd_type_3(x);
            default: return is_even_ ? of_type_4(x) : of_odd_type_4(x);
        }
    }

private:
    template <class Functions>
    const auto& of_form(const Functions& all) const {
        return all[form_.bits()];
    }
    expr<std::int64_t> positions(std::size_t length) const {
        return element_index(0, lines_.outer * length * lines_.inner);
    }
    expr<std::int64_t> positions() const { return positions(lines_.count); }
    complex_vector table(const root_list& of) const {
        return complex_vector(root_table(into_.device(), scalar_of<T>, of));
    }
    /// exp(-π i k / length), and exp(-π i k / (2 n)).
    complex_vector roots(std::size_t length) const { return table({2 * length, length + 1}); }
    complex_vector turns() const { return table({4 * lines_.count, lines_.count}); }
    /// exp(-π i (k + 1/8) / n)
    complex_vector turns_of_type_4() const { return table({16 * lines_.count, lines_.count / 2, 8, 1}); }
    complex_vector transformed(const tape& p, std::size_t length, bool is_inverse = false) const {
        const fft_lines lines{lines_.outer, length, lines_.inner};
        check_sizes(lines);
        const auto z =
            std::make_shared<vector_state>(into_.device_handle(), trace::type(scalar_of<T>, 2), lines.size());
        transform_lines(p, lines, {is_inverse, is_inverse, 1}, *z);
        return complex_vector(z);
    }
    void give(const expr<T>& results) const { assign(into_, tape(results.tape())); }

    void of_type_1(const typename functions::real_vector& x) const {
        const std::size_t m = sine_ != 0 ? lines_.count + 1 : lines_.count - 1;
        const complex_vector z =
            transformed(of_form(functions::one_in_pairs())(x, n_, inner_, sine_, positions(m)).tape(), m);
        give(of_form(functions::one_from_pairs())(z, roots(m), n_, inner_, sine_, scale_, positions()));
    }
    void of_type_2(const typename functions::real_vector& x) const {
        const std::size_t m = lines_.count / 2;
        const complex_vector z =
            transformed(of_form(functions::two_in_pairs())(x, n_, inner_, sine_, positions(m)).tape(), m);
        give(of_form(functions::two_from_pairs())(z, roots(m), turns(), n_, inner_, sine_, scale_,
                                                  positions()));
    }
    void of_odd_type_2(const typename functions::real_vector& x) const {
        const complex_vector z = transformed(
            of_form(functions::two_of_odd())(x, n_, inner_, sine_, positions()).tape(), lines_.count);
        give(of_form(functions::two_from_odd())(z, turns(), n_, inner_, sine_, scale_, positions()));
    }
    void of_type_3(const typename functions::real_vector& x) const {
        const std::size_t m = lines_.count / 2;
        const complex_vector z = transformed(
            of_form(functions::three_in_pairs())(x, roots(m), turns(), n_, inner_, sine_, positions(m))
                .tape(),
            m, true);
        give(of_form(functions::three_from_pairs())(z, n_, inner_, sine_, scale_, positions()));
    }
    void of_odd_type_3(const typename functions::real_vector& x) const {
        const complex_vector z =
            transformed(of_form(functions::three_of_odd())(x, turns(), n_, inner_, sine_, positions()).tape(),
                        lines_.count, true);
        give(of_form(functions::three_from_odd())(z, n_, inner_, sine_, scale_, positions()));
    }
    void of_type_4(const typename functions::real_vector& x) const {
        const std::size_t m = lines_.count / 2;
        const complex_vector z = transformed(
            of_form(functions::four_in_pairs())(x, turns_of_type_4(), n_, inner_, sine_, positions(m)).tape(),
            m);
        give(of_form(functions::four_from_pairs())(z, turns_of_type_4(), n_, inner_, sine_, scale_,
                                                   positions()));
    }
    void of_odd_type_4(const typename functions::real_vector& x) const {
        const complex_vector z = transformed(
            of_form(functions::four_of_odd())(x, n_, inner_, sine_, positions()).tape(), lines_.count);
        give(of_form(functions::four_from_odd())(z, n_, inner_, sine_, scale_, positions()));
    }

    int type_;
    fft_lines lines_;
    line_form form_;
    std::int64_t n_, inner_, sine_;
    T scale_;
    vector_state& into_;
    bool is_even_;
};

/// The properties of a transform, apart from its dimensions.
struct trigonometric_manner {
    scalar precision;
    trigonometric kind;
    int type;
    long double scale;

    /// Transforms a vector along one dimension. The vector may be the target.
    void transform(const vector_handle& from, const fft_lines& lines, bool is_scaled,
                   vector_state& into) const {
        const long double factor = is_scaled ? scale : 1;
        if (precision == scalar::f32)
            trigonometric_computation<float>(kind, type, lines, factor, into).run(from);
        else
            trigonometric_computation<double>(kind, type, lines, factor, into).run(from);
    }
};

class trigonometric_producer : public transform_producer {
public:
    /// `dimensions`: the fastest first; `arrays`: the number of arrays.
    trigonometric_producer(tape&& of, std::shared_ptr<vector_state> near, const shape& extents,
                           const trigonometric_manner& how, std::vector<fft_lines> dimensions,
                           std::size_t arrays)
        : transform_producer({std::move(of)}, extents, how.precision, std::move(near), arrays),
          how_(how),
          dimensions_(std::move(dimensions)) {}

private:
    // The pass that reads the elements writes a temporary.
    bool may_overwrite(std::span<const tape>, vector_state&) const override { return true; }
    void write(std::span<const tape> operands, std::size_t arrays, vector_state& into) const override {
        refuse_writing(operands[0]);
        vector_handle from = as_vector(operands[0], type(), into.size(), into);
        for (std::size_t k = 0; k < dimensions_.size(); ++k) {
            how_.transform(from, lines_of(dimensions_[k], arrays), k + 1 == dimensions_.size(), into);
            from = borrowed(into);
        }
    }

    bool has_exchange(std::size_t /*devices*/) const override { return dimensions_.back().inner > 1; }
    void write_exchanged(std::span<const tape> operands, const vector_state& model,
                         vector_state& into) const override {
        refuse_writing(operands[0]);
        const fft_lines& slowest = dimensions_.back();
        tape rows = operands[0];
        if (dimensions_.size() > 1) {
            trigonometric_manner unscaled = how_;
            unscaled.scale = 1;
            const trigonometric_producer of_rows(std::move(rows), near(), extents(), unscaled,
                                                 {dimensions_.begin(), dimensions_.end() - 1},
                                                 slowest.outer * slowest.count);
            rows = of_vector(of_rows.compute());
        }
        transform_columns(rows, type(), slowest, model, into, [&](const auto& block, const fft_lines& lines) {
            how_.transform(block, lines, true, *block);
            return block;
        });
    }

    trigonometric_manner how_;
    std::vector<fft_lines> dimensions_;
};

const char* word_of(trigonometric kind) { return kind == trigonometric::cosine ? "cosine" : "sine"; }

}  // namespace

tape trigonometrically_transformed(tape&& elements, scalar precision, trigonometric kind, int type,
                                   bool is_inverse, const dimension_list& over) {
    if (type < 1 || type > 4)
        throw usage_error(
            fmt::format("there is no {} transform of type {}; types are 1 to 4", word_of(kind), type));
    const shape box = box_of(elements);
    const std::vector<fft_lines> dimensions = named_lines(box, over);
    long double scale = 1;
    for (const fft_lines& each : dimensions) {
        if (kind == trigonometric::cosine && type == 1 && each.count < 2)
            throw usage_error(
                fmt::format("a cosine transform of type 1 of {} needs at least 2 elements along each "
                            "dimension that it transforms",
                            to_string(box)));
        const auto n = static_cast<long double>(each.count);
        if (is_inverse) scale /= 2 * (type > 1 ? n : kind == trigonometric::cosine ? n - 1 : n + 1);
    }
    // Types 2 and 3 are each other's inverse.
    const int computed = is_inverse && (type == 2 || type == 3) ? 5 - type : type;
    std::shared_ptr<vector_state> near = vector_near(elements, precision);
    tape p;
    p.push_produced(std::make_shared<trigonometric_producer>(
        std::move(elements), std::move(near), box, trigonometric_manner{precision, kind, computed, scale},
        dimensions, dimensions.empty() ? 1 : dimensions.back().outer));
    return p;
}

}  // namespace balm::array
