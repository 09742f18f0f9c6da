#include "driver/opencl/launch_shapes.hpp"

#include <algorithm>

namespace balm::opencl {

launch_shapes::shape::shape(const std::string& of, const runtime::grid& over)
    : kernel(of),
      local(over.local),
      has_offset(over.offset != std::array<std::size_t, 3>{}),
      width(*std::max_element(over.global.begin(), over.global.end())) {}

bool launch_shapes::shape::covers(const shape& other) const {
    return local == other.local && has_offset == other.has_offset && other.width <= width &&
           kernel == other.kernel;
}

bool launch_shapes::has(const std::string& kernel, const runtime::grid& over) {
    const shape wanted(kernel, over);
    const std::lock_guard lock(mutex_);
    return std::any_of(launched_.begin(), launched_.end(),
                       [&](const shape& each) { return each.covers(wanted); });
}

void launch_shapes::add(const std::string& kernel, const runtime::grid& over) {
    const shape added(kernel, over);
    const std::lock_guard lock(mutex_);
    std::erase_if(launched_, [&](const shape& each) { return added.covers(each); });
    launched_.push_back(added);
}

}  // namespace balm::opencl
