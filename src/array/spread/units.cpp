#include "array/spread/units.hpp"

#include <algorithm>
#include <cmath>

namespace balm::array {

unit_ranges units_like(const vector_state& model, std::size_t units) {
    unit_ranges made;
    std::size_t begin = 0;
    for (const vector_state::part& p : model.parts()) {
        const auto before = static_cast<double>(p.first + p.elements->size());
        const double part = before / static_cast<double>(std::max<std::size_t>(model.size(), 1));
        const auto nearest = static_cast<std::size_t>(std::llround(part * static_cast<double>(units)));
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
    return std::make_shared<vector_state>(std::move(parts), type, ranges.back().end() * size);
}

bool are_on_same_devices(const vector_state& a, const vector_state& b) {
    const auto x = a.parts(), y = b.parts();
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& one, const auto& other) {
        return &one.elements->device() == &other.elements->device();
    });
}

}  // namespace balm::array
