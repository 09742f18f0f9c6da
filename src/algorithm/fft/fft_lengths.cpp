#include "algorithm/fft/fft_lengths.hpp"

#include <fmt/format.h>

#include <array>

#include "algorithm/fft/fft_dimensions.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

template <class E>
tape padded_to(tape&& elements, const shape& from, const shape& box) {
    const expr<E> all{std::move(elements)};
    tape flat = padded_at(all, from, box, element_index(0, box.count())).tape();
    return read(viewed(std::move(flat), box));
}

}  // namespace

shape with_lengths(const char* transform, const shape& box, const dimension_list& over,
                   std::span<const std::size_t> lengths) {
    (void)named_dimensions(box, over);  // refuses names of none
    if (lengths.empty()) return box;
    const std::size_t named = static_cast<std::size_t>(over.count > 0 ? over.count : box.dimensions());
    if (lengths.size() != named)
        throw usage_error(
            fmt::format("{} runs along {} dimension{} of {}, but has lengths for {}; give one for each",
                        transform, named, named == 1 ? "" : "s", to_string(box), lengths.size()));
    shape made = box;
    for (std::size_t k = 0; k < named; ++k) {
        if (lengths[k] == 0)
            throw usage_error(fmt::format("{} has a length of 0; it must be at least 1", transform));
        const int d = over.count > 0 ? static_cast<int>(over.each[k]) : static_cast<int>(k);
        made = with_extent(made, d, lengths[k]);
    }
    return made;
}

tape resized(const char* transform, tape&& elements, trace::type type, const shape& box) {
    const shape from = box_of(elements);
    if (from == box) return std::move(elements);
    bool is_cut_only = true;
    for (int d = 0; d < box.dimensions(); ++d) is_cut_only = is_cut_only && box[d] <= from[d];
    if (is_cut_only || box.count() == 0) {
        std::array<std::int64_t, shape::max_dimensions> apart{};
        std::int64_t step = 1;
        for (int d = box.dimensions(); d-- > 0;) {
            apart[static_cast<std::size_t>(d)] = step;
            step *= static_cast<std::int64_t>(from[d]);
        }
        const std::span<const std::int64_t> each(apart.data(), static_cast<std::size_t>(box.dimensions()));
        return read(viewed(std::move(elements), box, strides(each), 0));
    }
    if (from.count() == 0)
        throw usage_error(fmt::format("{} cannot continue {} elements with zeros to {}", transform,
                                      to_string(from), to_string(box)));
    const bool is_single = type.element == scalar::f32;
    if (type.lanes == 2)
        return is_single ? padded_to<complex_value<float>>(std::move(elements), from, box)
                         : padded_to<complex_value<double>>(std::move(elements), from, box);
    return is_single ? padded_to<float>(std::move(elements), from, box)
                     : padded_to<double>(std::move(elements), from, box);
}

}  // namespace balm::array
