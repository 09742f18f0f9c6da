#pragma once
// What tiles of one kernel tell each other: how the elements ahead of a tile combine. Every tile announces
// its total and waits for those of tiles before it, whose groups have started (Merrill & Garland, Single-pass
// parallel prefix scan with decoupled look-back, 2016).
//
// The order of combination does not depend on which tile comes first, so that floats have the same bits in
// every run: a tile combines, in this order, the prefix of its 1,024 tiles, the totals of whole runs of 32
// tiles since, and the totals of tiles since. The last tile of a run announces the run's total, the last one
// of 1,024 tiles the prefix behind it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/block/scan.hpp"
#include "array/parameters.hpp"
#include "array/vector_state.hpp"
#include "balm/dsl/pointer.hpp"

namespace balm::array {

/// Where announcements lie in global memory: words of 64 bits, each of which is 0 until it is announced with
/// the bits of values that it holds. The first value may be a number that is known to take fewer bits than
/// its type: so many; 0 if it is not.
struct announcements {
    announcements(std::size_t tiles, const block::types&, int first_bits = 0);
    std::size_t runs, blocks;  ///< numbers of the first announcement of each kind; that of tiles is 0
    std::size_t words;         ///< of all, behind the number of tiles that have started
};

/// The announcements of a launch, none of them made.
class announcement_memory {
public:
    announcement_memory(std::shared_ptr<runtime::device_state>, std::size_t tiles, const block::types&,
                        int first_bits = 0);

    template <class List>
    void list(List& to) {
        to.number("first_run", at_.runs);
        to.number("first_block", at_.blocks);
        to.vector("words", words_, trace::access::mixed);
    }

private:
    announcements at_;
    vector_state words_;
};

/// A tile's side of it, in the kernel that is being traced; declared ahead of IF, WHILE and loops. The groups
/// have whole sub-groups.
class look_back {
public:
    look_back(const block::group&, const block::operation&, const block::types&, const parameter_list& given,
              int first_bits = 0);

    /// The number of the group's tile: tiles begin in this order.
    block::Index next_tile() const;
    void announce_total(const block::Index& tile, const block::values& total) const;
    /// What is ahead of a tile whose total is announced, `init` included. Local memory is visible behind it.
    block::values ahead_of(const block::Index& tile, const block::values& total,
                           const block::values& init) const;

private:
    void find_ahead_of(const block::Index& tile, const block::values& total, const block::values& init) const;
    void announce(const block::Index& number, const block::values&) const;
    /// The words of an announcement as they are now, in variables; where nothing is asked for, 0.
    block::values asked(const block::Index& number, const dsl::Bool& is_asked) const;
    /// What the announcement says, once it is made.
    block::values awaited(const block::values& words, const block::Index& number, const dsl::Bool& is_asked,
                          const block::values& otherwise) const;
    /// What the values of a sub-group's lanes combine to, in every lane.
    block::values combined(const block::values& own) const;
    block::values read(const block::Index& number) const;
    dsl::Ptr<std::uint64_t> memory(const block::Index& number) const;
    block::Index given(parameter_name) const;

    const block::group& g_;
    const block::operation& does_;
    const parameter_list& given_;
    int first_bits_;
    block::types types_;
    block::arrays tile_, ahead_, exchange_;
};

}  // namespace balm::array
