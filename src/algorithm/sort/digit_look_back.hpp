#pragma once
// What tiles of a sorting pass tell each other: how many elements of each digit are ahead of a tile. Every
// tile announces its own counts, adds up those before it until it meets a tile that knows its sum, and
// announces its own sum (Adinets & Merrill, Onesweep: A faster least significant digit radix sort for GPUs,
// 2022).
//
// A word is a tag of two bits and a count. Passes use the same words: what is left from a pass, all sums, is
// what the next pass takes for words that nobody has announced yet, so that they are zeroed once a sort.

#include <cstddef>

#include "array/parameters.hpp"
#include "balm/dsl/value.hpp"

namespace balm::array {

/// Bits of a count in words of 32 and of 64 bits.
inline constexpr int narrow_count_bits = 30, wide_count_bits = 62;

/// Announces how many elements of a digit a tile has. `word` is the number of the tile's word of that digit;
/// `pass` counts those that move elements, modulo 2.
void announce_count(const trace::node& words, const dsl::Index& word, const dsl::Int& count,
                    const dsl::Int& pass);
/// How many elements of the digit are ahead of the tile, which has announced its own. The words of neighbours
/// are `stride` apart. All tiles before have started.
dsl::Index elements_ahead(const trace::node& words, const dsl::Index& word, const dsl::Int& stride,
                          const dsl::Int& count, const dsl::Int& pass);

}  // namespace balm::array
