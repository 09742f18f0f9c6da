#pragma once
// Communication between the tiles of one kernel: the combination of the elements before a tile. Every tile
// announces its total and waits for those of earlier tiles (Merrill & Garland, Single-pass parallel prefix
// scan with decoupled look-back, 2016).
//
// Tile k belongs to group k: devices with sub-groups start groups in the order of their numbers, which CUB
// relies on as well, and `balm selftest` checks. Tiles numbered by an atomic counter would not depend on it,
// but no load could begin before the counter's answer (2^28 u32 on an H200: 0.709 ms with a counter, 0.690
// without; half of 2^28 floats selected: 0.573 and 0.554).
//
// The order of combination does not depend on which tile is first, so that floats have the same bits in every
// run: a tile combines, in this order, the prefix before its block of 1,024 tiles, the totals of the whole
// runs of 32 tiles since, and the totals of the tiles since. The last tile of a run announces the run's
// total, the last tile of a block the prefix after it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/block/scan.hpp"
#include "array/parameters.hpp"
#include "array/vector_state.hpp"
#include "balm/dsl/pointer.hpp"

namespace balm::array {

/// Whether tiles announce values of these types: numbers and short vectors that take at most 8 words.
bool can_be_announced(const block::types&);

/// The layout of announcements in global memory: words of 64 bits, each of which is 0 until it is announced
/// with the bits of values that it holds. `first_bits`: the bits of the first value, if they are known to be
/// fewer than those of its type, else 0.
struct announcements {
    announcements(std::size_t tiles, const block::types&, int first_bits = 0);
    std::size_t runs, blocks;  ///< index of the first announcement of each kind; 0 for tiles
    std::size_t words;         ///< of all
};

/// The announcements of a launch, initially none.
class announcement_memory {
public:
    announcement_memory(std::shared_ptr<runtime::device_state>, std::size_t tiles, const block::types&,
                        int first_bits = 0);

    template <class List>
    void declare_parameters(List& to) {
        to.number("first_run", at_.runs);
        to.number("first_block", at_.blocks);
        to.vector("words", words_, trace::access::mixed);
    }

private:
    announcements at_;
    vector_state words_;
};

/// The look-back of a tile, in the kernel that is being traced. Declare it before IF, WHILE and loops. The
/// groups have whole sub-groups.
class look_back {
public:
    look_back(const block::group&, const block::operation&, const block::types&, const parameter_list& given,
              int first_bits = 0);

    /// The number of the group's tile.
    static block::Index own_tile();
    void announce_total(const block::Index& tile, const block::values& total) const;
    /// The combination of `init` and the elements before a tile whose total is announced. Local memory is
    /// visible after it.
    block::values ahead_of(const block::Index& tile, const block::values& total,
                           const block::values& init) const;

private:
    void find_ahead_of(const block::Index& tile, const block::values& total, const block::values& init) const;
    void announce(const block::Index& number, const block::values&) const;
    /// The current words of an announcement, in variables; 0 unless `is_asked`.
    block::values asked(const block::Index& number, const dsl::Bool& is_asked) const;
    /// Waits for the announcement and returns its values; `otherwise` unless `is_asked`.
    block::values awaited(const block::values& words, const block::Index& number, const dsl::Bool& is_asked,
                          const block::values& otherwise) const;
    /// The combination of the values of a sub-group's lanes, in every lane.
    block::values combined(const block::values& own) const;
    block::values read(const block::Index& number) const;
    dsl::Ptr<std::uint64_t> memory(const block::Index& number) const;
    block::Index given(parameter_name) const;

    const block::group& g_;
    const block::operation& does_;
    const parameter_list& given_;
    int first_bits_;
    block::types types_;
    block::arrays ahead_, exchange_;
};

}  // namespace balm::array
