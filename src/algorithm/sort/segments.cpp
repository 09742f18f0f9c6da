// Sorts of segments: by keys, then stably by segment numbers.

#include "balm/segments.hpp"

#include <fmt/format.h>

#include <memory>

#include "algorithm/sort/radix_sort.hpp"
#include "algorithm/sort/spread_sort.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"

namespace balm::array {

void sort_segments(const sort_key& by, const std::shared_ptr<vector_state>& segments,
                   std::span<const std::shared_ptr<vector_state>> values) {
    vector_state& keys = *by.elements;
    if (!keys.is_spread() && !segments->is_spread() && &keys.device() != &segments->device())
        throw usage_error(fmt::format(
            "elements on {} are sorted in segments with offsets on {}; both must be on the same device",
            keys.device().words(), segments->device().words()));
    if (values.empty() && !keys.is_spread() && !segments->is_spread()) {
        radix_sort(keys, by.order == sort_order::descending, segments.get());
        return radix_sort(*segments, false, &keys);
    }
    std::shared_ptr<vector_state> beside_keys = segments;
    sort_order order = sort_order::ascending;
    if (keys.is_spread() && keys.size() > 0) {
        beside_keys = make_like(keys, segments->type(), keys.size());
        copy_elements(*beside_keys, 0, *segments, 0, keys.size());
        order = by.order;
        if (order == sort_order::descending) invert(beside_keys);
    }
    const sort_key both[] = {{beside_keys, order}, by};
    sort(both, values);
}

tape one_element(trace::type type, const vector_state& near) {
    auto made = std::make_shared<vector_state>(near.device_handle(), type, 1);
    constexpr std::uint64_t nothing = 0;
    fill(*made, &nothing);
    tape p;
    p.push_vector(std::move(made));
    return p;
}

void refuse_no_offsets(const char* name) {
    throw usage_error(fmt::format(
        "{} got no offsets; pass one more than there are segments, {{0, size}} for a single one", name));
}
void refuse_offsets(const char* name, std::int64_t first, std::int64_t last, std::size_t size) {
    throw usage_error(fmt::format(
        "{} of {} elements got offsets from {} to {}; they must begin at 0 and end at the number of elements",
        name, size, first, last));
}
void refuse_offsets(const char* name, std::size_t position, std::int64_t offset, std::int64_t next) {
    throw usage_error(fmt::format("{} got offsets that decrease: offsets[{}] is {}, and offsets[{}] is {}",
                                  name, position, offset, position + 1, next));
}

}  // namespace balm::array
