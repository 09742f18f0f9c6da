#pragma once
// Loads and stores of tiles: from any expression, or as short vectors from memory.

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

/// Lanes of the widest vector, of up to 16 bytes, that divides a work-item's elements of this scalar type.
int vector_lanes(const trace::type&, int each);
/// The elements of a work-item of a whole tile, in blocked arrangement, as vectors. The pointer is to
/// scalars; pointer + begin is aligned to the vectors.
elements load_vectors(const group&, int each, const trace::node& pointer, const Index& begin);
void store_vectors(const group&, const elements&, const trace::node& pointer, const Index& begin);

}  // namespace balm::block
