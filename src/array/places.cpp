// Where an expression is computed, and how many elements it has.

#include <fmt/format.h>

#include <algorithm>

#include "array/layout.hpp"
#include "array/spread/parts.hpp"
#include "balm/context.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

/// The device of a default context, for expressions of known size without vectors.
const std::shared_ptr<runtime::device_state>& default_device() {
    static const std::shared_ptr<runtime::device_state>& device =
        *new std::shared_ptr<runtime::device_state>(context().device(0).state());
    return device;
}

}  // namespace

std::size_t element_count(const tape& p) {
    if (p.size < 0)
        throw usage_error(
            "the size of an expression is unknown (memory, scalars and positions have none); assign it to a "
            "vector that has a size, or use element_index(offset, size)");
    return static_cast<std::size_t>(p.size);
}

const std::shared_ptr<runtime::device_state>& device_of(const tape& p) {
    if (p.vectors.empty() && p.near) return p.near->device_handle();
    if (p.vectors.empty() && p.size >= 0)
        return p.images.empty() ? default_device() : p.images[0].memory->device_handle();
    if (p.vectors.empty())
        throw usage_error(
            "an expression without vectors has neither a device nor a size; assign it to a vector that has a "
            "size, or use element_index(offset, size) and balm::on(context, e)");
    for (const auto& v : p.vectors)
        if (&v->device() != &p.vectors[0]->device())
            throw usage_error(
                fmt::format("an expression combines vectors on {} and on {}; all must be on the same device",
                            p.vectors[0]->device().words(), v->device().words()));
    return p.vectors[0]->device_handle();
}

std::shared_ptr<vector_state> vector_near(const tape& p, trace::type type) {
    const auto spread =
        std::find_if(p.vectors.begin(), p.vectors.end(), [](const auto& v) { return v->is_spread(); });
    if (spread != p.vectors.end()) return *spread;
    if (!p.vectors.empty()) return p.vectors[0];
    if (p.near) return p.near;
    return std::make_shared<vector_state>(device_of(p), type, 0);
}

void place_on(const context& where, tape& p) {
    std::shared_ptr<vector_state> near = make_vector(where, scalar::u8, 0);
    for (const auto& v : p.vectors) check_same_devices(*near, *v);
    p.near = std::move(near);
}

}  // namespace balm::array
