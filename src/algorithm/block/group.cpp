#include "algorithm/block/group.hpp"

#include <algorithm>

#include "balm/dsl/memory.hpp"

namespace balm::block {

using namespace dsl;

group::group(const group_shape& shape)
    : shape_(shape),
      item_(is_single() ? Int(0) : named("item", cast<int>(shape.is_row ? local_id(0) : local_linear_id()))),
      items_(is_exact() ? Int(static_cast<int>(shape.most))
                        : named("items", cast<int>(shape.is_row ? local_size(0) : local_linear_size()))),
      lane_(most_sub_groups() == 1 ? Int(item_) : named("lane", item_ & (lanes - 1))),
      first_(named("first", item_ & -lanes)),
      last_(has_whole_sub_groups() ? Int(lanes - 1)
                                   : named("last_lane", min(items_ - 1 - first_, lanes - 1))),
      sub_group_(most_sub_groups() == 1 ? Int(0) : named("sub_group", sub_group_id())),
      sub_groups_(is_exact() ? Int(most_sub_groups()) : named("sub_groups", (items_ + (lanes - 1)) / lanes)) {
    if (is_exact() && !is_single()) trace::require_group_size(most());
}

int group::most_lanes() const { return static_cast<int>(std::min<std::size_t>(most(), lanes)); }

arrays group::shared(std::string_view word, const types& of, std::size_t count) const {
    return arrays(word, of, count, is_single() ? space::private_ : space::local);
}

}  // namespace balm::block
