#include "array/spread/units.hpp"

#include <algorithm>
#include <cmath>

#include "array/spread/parts.hpp"

namespace balm::array {

unit_ranges units_like(const vector_state& model, std::size_t units) {
    // A vector without elements only determines the devices and weights.
    constexpr std::size_t many = std::size_t{1} << 20;
    const std::size_t size = model.size() > 0 ? model.size() : many;
    unit_ranges made;
    std::size_t begin = 0;
    for (const share& p : shares_of(model, size)) {
        const double before = static_cast<double>(p.first + p.count) / static_cast<double>(size);
        const auto nearest = static_cast<std::size_t>(std::llround(before * static_cast<double>(units)));
        const bool is_last = made.size() + 1 == model.parts().size();
        const std::size_t end = is_last ? units : std::clamp(nearest, begin, units);
        made.push_back({begin, end - begin});
        begin = end;
    }
    return made;
}

std::size_t devices_with_elements(const vector_state& v) {
    return static_cast<std::size_t>(std::count_if(v.parts().begin(), v.parts().end(),
                                                  [](const auto& p) { return p.elements->size() > 0; }));
}

std::shared_ptr<vector_state> made_of_units(const vector_state& model, const unit_ranges& ranges,
                                            std::size_t size, trace::type type) {
    std::vector<vector_state::part> parts;
    for (std::size_t k = 0; k < ranges.size(); ++k)
        parts.push_back({ranges[k].first * size,
                         std::make_shared<vector_state>(model.parts()[k].elements->device_handle(), type,
                                                        ranges[k].count * size)});
    return std::make_shared<vector_state>(std::move(parts), type, ranges.back().end() * size,
                                          std::vector(model.weights().begin(), model.weights().end()));
}

}  // namespace balm::array
