#pragma once
// States or results of reductions in global memory, in slots of 8 bytes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithm/block/values.hpp"

namespace balm::array {

struct slot_layout {
    explicit slot_layout(const block::types&);
    std::vector<std::size_t> first;  ///< slot of each value
    std::size_t count = 0;           ///< slots of an element
};

/// Elements of these types, from slot `begin` on.
class slots {
public:
    slots(trace::node memory, const block::types&, std::size_t begin);

    block::values load(const block::Index& k) const;
    void store(const block::Index& k, const block::values&) const;

private:
    trace::node pointer(const block::Index& k, std::size_t value) const;

    trace::node memory_;
    block::types types_;
    slot_layout layout_;
    std::int64_t begin_;
};

}  // namespace balm::array
