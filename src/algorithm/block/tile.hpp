#pragma once
// Loads and stores of tiles: from any expression, or as short vectors from memory.

#include <cstdint>
#include <functional>

#include "algorithm/block/arrangement.hpp"

namespace balm::block {

/// The elements at(begin + position) of a work-item. Those from `end` on are `otherwise`; tiles that end
/// ahead of it are loaded without a test for each element. Consecutive work-items load consecutive elements,
/// if striped: load so, and exchange.
elements load(const group&, arrangement, int each, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at, const values& otherwise);
/// The same of a tile that is known to be whole.
elements load(const group&, arrangement, int each, const Index& begin,
              const std::function<values(const Index&)>& at);
/// give(begin + position, element) for the elements that are ahead of `end`.
void store(const group&, arrangement, const elements&, const Index& begin, const Index& end,
           const std::function<void(const Index&, const values&)>& give);

/// A tile of short vectors, in sub-group-striped arrangement: a work-item has `count` runs of `length`
/// neighbouring elements, so that consecutive work-items load and store consecutive vectors.
struct runs {
    int count, length;
    int elements() const { return count * length; }
    friend bool operator==(const runs&, const runs&) = default;
};
/// The numbers of a work-item's runs. Vectors in memory are constants apart then. `begin` is a multiple of
/// the length.
class run_numbers {
public:
    run_numbers(const group&, runs, const Index& begin);
    Index operator[](int r) const { return base_ + r * at_.stride; }

private:
    positions at_;
    Index base_;
};
/// Calls whole(numbers of the runs) where the tile ends ahead of `end`; elsewhere one(index, its number among
/// the work-item's elements) for those ahead of it.
void visit(const group&, runs, const Index& begin, const Index& end,
           const std::function<void(const run_numbers&)>& whole,
           const std::function<void(const Index&, int)>& one);
/// Whether the tile, or each run, is tested for being ahead of `end`: the latter where most tiles end inside
/// the group's elements.
enum class end_test : std::uint8_t { of_tile, of_runs };
/// The elements of a work-item, run after run: at_run(number of the run, k) where the tile or run ends ahead
/// of `end`; elsewhere at(index) of those ahead of it, and `otherwise`.
elements load(const group&, runs, const Index& begin, const Index& end,
              const std::function<values(const Index&, int)>& at_run,
              const std::function<values(const Index&)>& at, const values& otherwise,
              end_test = end_test::of_tile);
/// give_run(number of the run, its elements) where the tile or run ends ahead of `end`; elsewhere give(index,
/// element) of those ahead of it.
void store(const group&, runs, const elements&, const Index& begin, const Index& end,
           const std::function<void(const Index&, const elements&)>& give_run,
           const std::function<void(const Index&, const values&)>& give, end_test = end_test::of_tile);
/// Stores one of the values of a run's elements as one vector. The pointer is to scalars, and aligned to the
/// vector.
void store_vector(const trace::node& pointer, const Index& number, const elements& run,
                  std::size_t value = 0);

}  // namespace balm::block
