#include "algorithm/reduce/slots.hpp"

#include <algorithm>

namespace balm::array {

slot_layout::slot_layout(const block::types& types) {
    std::size_t widest = 1;
    for (const trace::type& each : types) {
        const std::size_t slots = (trace::size_of(each) + 7) / 8;
        const std::size_t aligned = std::max<std::size_t>(trace::alignment_of(each) / 8, 1);
        count = (count + aligned - 1) / aligned * aligned;
        first.push_back(count);
        count += slots;
        widest = std::max(widest, aligned);
    }
    count = (count + widest - 1) / widest * widest;
}

slots::slots(trace::node memory, const block::types& types, std::size_t begin)
    : memory_(memory), types_(types), layout_(types), begin_(static_cast<std::int64_t>(begin)) {}

block::values slots::load(const block::Index& k) const {
    block::values made;
    for (std::size_t v = 0; v < types_.size(); ++v)
        made.push_back(trace::load(pointer(k, v), block::node_of(0), {}));
    return made;
}
void slots::store(const block::Index& k, const block::values& now) const {
    for (std::size_t v = 0; v < now.size(); ++v) trace::store(pointer(k, v), block::node_of(0), now[v], {});
}
trace::node slots::pointer(const block::Index& k, std::size_t value) const {
    const auto at = begin_ + static_cast<std::int64_t>(layout_.first[value]);
    const block::Index slot = k * static_cast<std::int64_t>(layout_.count) + at;
    return trace::reinterpret(trace::offset(memory_, block::node_of(slot)),
                              trace::pointer_to(types_[value], space::global));
}

}  // namespace balm::array
