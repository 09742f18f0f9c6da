// The formulas that separate a transform of pairs, and the inverse, read elements k and m - k. Each device
// has consecutive k; the other elements are consecutive too, in reverse order.

#include "algorithm/fft/spread_real_fft.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithm/fft/pair_formulas.hpp"
#include "algorithm/fft/row_exchange.hpp"
#include "algorithm/fft/spread_fft.hpp"
#include "array/spread/parts.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using vector_handle = std::shared_ptr<vector_state>;

/// exp(-2 π i k / n), from a table of two factors.
template <class T>
Complex<T> turn(const In<complex_value<T>>& turns, const Long& bits, const Long& k) {
    const Long fine = Long(1) << bits;
    return Complex<T>(Complex<T>(turns[k & (fine - 1)]) * Complex<T>(turns[fine + (k >> bits)]));
}
template <class T>
const auto& spectrum_in_part() {
    static const auto& made = *new auto(
        function("spectrum_of_two(near, opposite, turns, bits, k)",
                 [](Complex<T> near, Complex<T> opposite, In<complex_value<T>> turns, Long bits, Long k) {
                     return spectrum_of_two<T>(near, opposite, turn<T>(turns, bits, k));
                 }));
    return made;
}
template <class T>
const auto& pairs_in_part() {
    static const auto& made =
        *new auto(function("pair_of_two(low, high, turns, bits, k)",
                           [](Complex<T> low, Complex<T> high, In<complex_value<T>> turns, Long bits,
                              Long k) { return pair_of_two<T>(low, high, turn<T>(turns, bits, k), k); }));
    return made;
}

enum class formula : std::uint8_t { spectrum, pairs };

/// Elements k of one device, from `first` on, and those that they are combined with, in ascending order.
struct two_ranges {
    vector_handle near, opposite;
    std::size_t first;

    template <class T>
    tape combined_as(formula how, const vector_handle& turns, std::size_t n) const {
        affine_map backwards{shape(opposite->size()), {}, static_cast<std::int64_t>(opposite->size()) - 1};
        backwards.strides[0] = -1;
        const balm::vector<std::complex<T>> low(near), table(turns);
        const expr<complex_value<T>> high{elements_at(opposite, backwards)};
        const auto k = element_index(static_cast<std::int64_t>(first), near->size());
        const auto bits = static_cast<std::int64_t>(turn_bits(n));
        return how == formula::spectrum ? spectrum_in_part<T>()(low, high, table, bits, k).tape()
                                        : pairs_in_part<T>()(low, high, table, bits, k).tape();
    }
    tape combined(formula how, std::size_t n) const {
        const scalar element = near->type().element;
        const vector_handle turns = turn_table(near->device(), element, n);
        return element == scalar::f32 ? combined_as<float>(how, turns, n)
                                      : combined_as<double>(how, turns, n);
    }
};

/// Copies elements first … first + count - 1 of the `size` ones of `from` at `base`, which repeat cyclically.
vector_handle copied(const vector_state& from, std::size_t base, std::size_t size, std::size_t first,
                     std::size_t count, const std::shared_ptr<runtime::device_state>& to) {
    auto made = std::make_shared<vector_state>(to, from.type(), count);
    const std::size_t before_end = std::min(count, size - first);
    copy_elements(*made, 0, from, base + first, before_end);
    copy_elements(*made, before_end, from, base, count - before_end);
    return made;
}

}  // namespace

void transform_reals_in_four_steps(const tape& p, const fft_lines& lines, long double scale,
                                   const vector_state& model, vector_state& into) {
    const scalar element = into.type().element;
    const std::size_t n = lines.count, half = n / 2;
    const four_steps steps(model, element, half);
    for (std::size_t array = 0; array < lines.outer; ++array) {
        const vector_handle z = make_like(model, trace::type(element, 2), half);
        steps.run(steps.loaded_pairs(one_array(p, lines.outer, n, array)), {false, false, scale}, *z, 0);
        const std::size_t base = array * (half + 1);
        for (const vector_state::part& part : into.parts()) {
            const std::size_t begin = std::max(part.first, base),
                              end = std::min(part.first + part.elements->size(), base + half + 1);
            if (begin >= end) continue;
            const std::size_t first = begin - base, count = end - begin;
            const auto& device = part.elements->device_handle();
            const two_ranges of{copied(*z, 0, half, first % half, count, device),
                                copied(*z, 0, half, (half - (first + count - 1)) % half, count, device),
                                first};
            assign_in_part(*part.elements, part.first, grid_of(1, count, count, 1, begin),
                           of.combined(formula::spectrum, n));
            device->default_queue().flush();
        }
    }
}

void transform_back_to_reals_in_four_steps(const tape& p, const fft_lines& lines, long double scale,
                                           const vector_state& model, vector_state& into) {
    const scalar element = into.type().element;
    const std::size_t n = lines.count, half = n / 2;
    const four_steps steps(model, element, half);
    const vector_handle x = as_vector(p, trace::type(element, 2), lines.outer * (half + 1), model);
    const vector_handle own = as_spread_pairs(std::make_shared<vector_state>(
        std::vector(into.parts().begin(), into.parts().end()), into.type(), into.size()));
    const vector_handle pairs =
        own != nullptr ? own : made_of_units(model, units_like(model, into.size() / 2), 1, x->type());
    for (std::size_t array = 0; array < lines.outer; ++array) {
        const vector_handle z = steps.made();
        for (const vector_state::part& part : z->parts()) {
            const std::size_t count = part.elements->size();
            if (count == 0) continue;
            const auto& device = part.elements->device_handle();
            const auto of_array = [&](std::size_t first) {
                return copied(*x, array * (half + 1), half + 1, first, count, device);
            };
            const two_ranges of{of_array(part.first), of_array(half - (part.first + count - 1)), part.first};
            assign(*part.elements, of.combined(formula::pairs, n));
            device->default_queue().flush();
        }
        steps.run(z, {true, true, scale}, *pairs, array * half);
    }
    if (own != nullptr) return;
    for (const vector_state::part& part : pairs->parts()) {
        if (part.elements->size() == 0) continue;
        const vector_state reals(part.elements->memory(), element, 2 * part.elements->size(),
                                 part.elements->offset());
        copy_elements(into, 2 * part.first, reals, 0, reals.size());
    }
}

}  // namespace balm::array
