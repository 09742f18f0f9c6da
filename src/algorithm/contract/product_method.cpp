#include "algorithm/contract/product_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "algorithm/contract/product_shapes.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// The interfaces of the libraries have 32-bit numbers.
constexpr std::size_t most_for_libraries = std::numeric_limits<std::int32_t>::max();

std::string element_words(trace::type element) {
    if (element.is_scalar()) return to_string(element.element);
    return trace::size_of(element) == 16 ? "complex f64" : "complex f32";
}

/// The first device without a library; null if all have one.
const runtime::device_state* device_without_library(const vector_state& near) {
    if (!near.is_spread()) return near.device().driver().vendor_library().is_found ? nullptr : &near.device();
    for (const vector_state::part& each : near.parts())
        if (const auto* const found = device_without_library(*each.elements)) return found;
    return nullptr;
}

}  // namespace

std::optional<runtime::product_element> product_element_of(trace::type element) {
    using runtime::product_element;
    if (!element.is_scalar())
        return trace::size_of(element) == 16 ? product_element::complex_f64 : product_element::complex_f32;
    if (element.element == scalar::f32) return product_element::f32;
    if (element.element == scalar::f64) return product_element::f64;
    return std::nullopt;
}

std::string fault_for_library(const product_letters& letters, const letter_extents& extents,
                              const product_extents& sizes, trace::type element, const vector_state& near) {
    if (!product_element_of(element)) return fmt::format("it does not multiply {}", element_words(element));
    if (std::max({sizes.batch, sizes.rows, sizes.columns, sizes.inner, result_row_stride(letters, extents)}) >
        most_for_libraries)
        return "a size exceeds 31 bits";
    if (const auto* const without = device_without_library(near))
        return fmt::format("{}: {}", without->words(), without->driver().vendor_library().words);
    return {};
}

std::string product_words(const product_extents& sizes, trace::type element, std::string_view method,
                          std::string_view fault) {
    return fmt::format("{}{} x {} by {} x {}, {}: {}{}{}\n",
                       sizes.batch == 1 ? "" : fmt::format("{} products of ", sizes.batch), sizes.rows,
                       sizes.inner, sizes.inner, sizes.columns, element_words(element), method,
                       fault.empty() ? "" : "; not the vendor's library: ", fault);
}

std::string_view library_words(const vector_state& near) {
    return near.device().driver().vendor_library().words;
}

std::string own_kernel_words(const product_extents& sizes, scalar element, const vector_state& near) {
    const device_info& device = near.device().info();
    if (kernels::facts_for(near.device()).on_cpu && !forced_products().as_on_gpus) {
        const panel_shape panels = panels_for(element, device);
        return fmt::format("Balm's panels of {} rows and {} columns", panels.rows, panels.columns());
    }
    const tile_division tiles = tiles_for(sizes, element, device);
    const std::string shape = fmt::format("Balm's tiles of {} x {}", tiles.shape.rows, tiles.shape.columns);
    return tiles.splits == 1 ? shape : fmt::format("{}, sums in {} parts", shape, tiles.splits);
}

}  // namespace balm::array
