#pragma once
// Loads and stores of tiles: from any expression, or as short vectors from memory.

#include <cstdint>
#include <functional>

#include "algorithm/block/arrangement.hpp"

namespace balm::block {

/// The elements at(begin + position) of a work-item; from `end` on, `otherwise`. Whole tiles are loaded
/// without a test per element. Striped loads are coalesced: load striped, then exchange.
elements load(const group&, arrangement, int each, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at, const values& otherwise);
/// The same for a tile that is known to be whole.
elements load(const group&, arrangement, int each, const Index& begin,
              const std::function<values(const Index&)>& at);
/// Calls give(begin + position, element) for the elements before `end`.
void store(const group&, arrangement, const elements&, const Index& begin, const Index& end,
           const std::function<void(const Index&, const values&)>& give);

/// A tile of short vectors, in sub-group-striped arrangement: a work-item has `count` runs of `length`
/// neighbouring elements, so that consecutive work-items load and store consecutive vectors.
struct runs {
    int count, length;
    int elements() const { return count * length; }
    friend bool operator==(const runs&, const runs&) = default;
};
/// The numbers of a work-item's runs: their vectors are constant distances apart in memory. `begin` must be a
/// multiple of the run length.
class run_numbers {
public:
    run_numbers(const group&, runs, const Index& begin);
    Index operator[](int r) const { return base_ + r * at_.stride; }

private:
    positions at_;
    Index base_;
};
/// Calls whole(run numbers) if the whole tile is before `end`; else one(index, e) for each element before
/// `end`, where e counts the work-item's elements.
void visit(const group&, runs, const Index& begin, const Index& end,
           const std::function<void(const run_numbers&)>& whole,
           const std::function<void(const Index&, int)>& one);
/// Whether the whole tile or each run is compared with `end`. Choose the latter if most tiles are partial.
enum class end_test : std::uint8_t { of_tile, of_runs };
/// The elements of a work-item, run by run: at_run(run number, k) if the whole tile or run is before `end`;
/// else at(index) for the elements before `end`, and `otherwise` for the rest.
elements load(const group&, runs, const Index& begin, const Index& end,
              const std::function<values(const Index&, int)>& at_run,
              const std::function<values(const Index&)>& at, const values& otherwise,
              end_test = end_test::of_tile);
/// Calls give_run(run number, its elements) if the whole tile or run is before `end`; else give(index,
/// element) for each element before `end`.
void store(const group&, runs, const elements&, const Index& begin, const Index& end,
           const std::function<void(const Index&, const elements&)>& give_run,
           const std::function<void(const Index&, const values&)>& give, end_test = end_test::of_tile);
/// Stores value number `value` of each element of a run, as one vector. The pointer is to scalars, aligned
/// for the vector.
void store_vector(const trace::node& pointer, const Index& number, const elements& run,
                  std::size_t value = 0);

}  // namespace balm::block
