#include "driver/opencl/launch_shapes.hpp"

#include <algorithm>

namespace balm::opencl {

launch_shapes::shape::shape(const runtime::grid& over)
    : local(over.local),
      has_offset(over.offset != std::array<std::size_t, 3>{}),
      width(*std::max_element(over.global.begin(), over.global.end())) {}

bool launch_shapes::shape::covers(const shape& other) const {
    return local == other.local && has_offset == other.has_offset && other.width <= width;
}

bool launch_shapes::has(const std::string& kernel, const runtime::grid& over) {
    const shape wanted(over);
    const std::lock_guard lock(mutex_);
    return std::any_of(launched_.begin(), launched_.end(),
                       [&](const launch& each) { return each.of.covers(wanted) && each.kernel == kernel; });
}

void launch_shapes::add(const std::string& kernel, const runtime::grid& over) {
    const shape added(over);
    const std::lock_guard lock(mutex_);
    std::erase_if(launched_,
                  [&](const launch& each) { return added.covers(each.of) && each.kernel == kernel; });
    launched_.push_back({kernel, added});
}

}  // namespace balm::opencl
