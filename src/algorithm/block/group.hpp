#pragma once
// The work-group that primitives work in.

#include <cstddef>

#include "algorithm/block/values.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::block {

/// Lanes of a whole sub-group.
inline constexpr int lanes = dsl::lanes_of_sub_group;

/// What is known of the work-groups when a kernel is traced.
struct group_shape {
    std::size_t most;              ///< work-items, at most: for so many there is local memory
    bool is_exact = false;         ///< all groups have as many
    bool has_sub_groups = false;   ///< the device shuffles and votes; else local memory serves
    bool is_power_of_two = false;  ///< sizes are powers of two, none below a sub-group's
    bool is_row = false;           ///< groups of more dimensions extend along the first alone
};

/// Made ahead of IF, WHILE and loops.
class group {
public:
    explicit group(const group_shape&);
    group(const group&) = delete;

    std::size_t most() const { return shape_.most; }
    bool is_exact() const { return shape_.is_exact; }
    bool is_power_of_two() const { return shape_.is_power_of_two; }
    bool has_sub_groups() const { return shape_.has_sub_groups; }
    /// Groups are known to be of one work-item, as on CPUs: nothing is shared, nobody waits.
    bool is_single() const { return shape_.is_exact && shape_.most == 1; }
    /// Sub-groups are known to have all lanes.
    bool has_whole_sub_groups() const {
        return shape_.is_power_of_two || (shape_.is_exact && shape_.most % lanes == 0);
    }
    int most_sub_groups() const { return static_cast<int>((shape_.most + lanes - 1) / lanes); }
    /// Lanes of a sub-group, at most.
    int most_lanes() const;

    const Int& item() const { return item_; }    ///< the work-item's number in the group
    const Int& items() const { return items_; }  ///< of the group
    const Int& lane() const { return lane_; }    ///< the work-item's number in its sub-group
    const Int& first() const { return first_; }  ///< work-item that is the sub-group's first lane
    const Int& last() const { return last_; }    ///< lane that is the sub-group's last one
    const Int& sub_group() const { return sub_group_; }
    const Int& sub_groups() const { return sub_groups_; }  ///< of the group

    /// Until all are here, and see what others have stored in local memory.
    void barrier() const {
        if (!is_single()) dsl::local_barrier();
    }
    /// Calls body(k) for each k below `count`, shared out among the work-items.
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
    /// Arrays that the work-items share; those of a single one are its own.
    arrays shared(std::string_view word, const types&, std::size_t count) const;

private:
    group_shape shape_;
    Int item_, items_, lane_, first_, last_, sub_group_, sub_groups_;
};

}  // namespace balm::block
