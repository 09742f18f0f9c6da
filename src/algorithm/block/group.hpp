#pragma once
// The work-group in which primitives operate.

#include <cstddef>

#include "algorithm/block/values.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::block {

/// Lanes of a whole sub-group.
inline constexpr int lanes = dsl::lanes_of_sub_group;

/// What is known about the work-groups when a kernel is traced.
struct group_shape {
    std::size_t most;              ///< the most work-items that a group has; local memory suffices for these
    bool is_exact = false;         ///< all groups have this size
    bool has_sub_groups = false;   ///< the device shuffles and votes; otherwise local memory is used
    bool is_power_of_two = false;  ///< sizes are powers of two, and at least that of a sub-group
    bool is_row = false;           ///< groups of several dimensions extend only along the first
};

/// Must be constructed before IF, WHILE and loops.
class group {
public:
    explicit group(const group_shape&);
    group(const group&) = delete;

    std::size_t most() const { return shape_.most; }
    bool is_exact() const { return shape_.is_exact; }
    bool is_power_of_two() const { return shape_.is_power_of_two; }
    bool has_sub_groups() const { return shape_.has_sub_groups; }
    /// Groups are known to have one work-item, as on CPUs: nothing is shared, and barriers are omitted.
    bool is_single() const { return shape_.is_exact && shape_.most == 1; }
    /// Sub-groups are known to have all lanes.
    bool has_whole_sub_groups() const {
        return shape_.is_power_of_two || (shape_.is_exact && shape_.most % lanes == 0);
    }
    int most_sub_groups() const { return static_cast<int>((shape_.most + lanes - 1) / lanes); }
    /// The most lanes that a sub-group has.
    int most_lanes() const;

    const Int& item() const { return item_; }    ///< the work-item's index in the group
    const Int& items() const { return items_; }  ///< work-items of the group
    const Int& lane() const { return lane_; }    ///< the work-item's index in its sub-group
    const Int& first() const { return first_; }  ///< the work-item that is the sub-group's first lane
    const Int& last() const { return last_; }    ///< the sub-group's last lane
    const Int& sub_group() const { return sub_group_; }
    const Int& sub_groups() const { return sub_groups_; }  ///< sub-groups of the group

    /// Waits for all work-items of the group, and makes their stores to local memory visible.
    void barrier() const {
        if (!is_single()) dsl::local_barrier();
    }
    /// A barrier that orders accesses to global memory, too.
    void barrier_of_all_memory() const {
        if (!is_single()) dsl::barrier();
    }
    /// Calls body(k) for each k below `count`, distributed over the work-items.
    template <class F>
    void share_out(int count, F&& body) const {
        if (is_exact() && static_cast<std::size_t>(count) == most()) return body(item());
        if (is_exact() && static_cast<std::size_t>(count) < most()) {
            BALM_IF (item() < count) {
                body(item());
            }
            return;
        }
        for (Int k : dsl::named("k", dsl::range(item(), Int(count), items()))) body(k);
    }
    /// Arrays that the work-items share; those of a single work-item are private.
    arrays shared(std::string_view word, const types&, std::size_t count) const;

private:
    group_shape shape_;
    Int item_, items_, lane_, first_, last_, sub_group_, sub_groups_;
};

}  // namespace balm::block
