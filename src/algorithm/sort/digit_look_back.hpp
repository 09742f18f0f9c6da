#pragma once
// How the tiles of a sorting pass tell each other how many elements of each digit precede a tile. Every tile
// announces its own counts, adds up those of preceding tiles until it meets a tile that knows its prefix sum,
// and announces its own prefix sum (Adinets & Merrill, Onesweep: A faster least significant digit radix sort
// for GPUs, 2022).
//
// A word is a tag of two bits and a count. All passes use the same words: what a pass leaves, all of them
// sums, counts as not yet announced in the next pass, so the words are zeroed once per sort.

#include <cstddef>

#include "array/parameters.hpp"
#include "balm/dsl/value.hpp"

namespace balm::array {

/// Bits of a count in 32-bit and in 64-bit words.
inline constexpr int narrow_count_bits = 30, wide_count_bits = 62;

/// Announces how many elements of a digit a tile has. `word` is the index of the tile's word for that digit;
/// `pass` counts the passes that move elements, modulo 2.
void announce_count(const trace::node& words, const dsl::Index& word, const dsl::Int& count,
                    const dsl::Int& pass);
/// Returns how many elements of the digit precede the tile, and announces the tile's prefix sum. The tile
/// must have announced its count, and preceding tiles must belong to groups with lower numbers
/// (scan/look_back.hpp). The words of neighbouring tiles are `stride` apart.
dsl::Index elements_ahead(const trace::node& words, const dsl::Index& word, const dsl::Int& stride,
                          const dsl::Int& count, const dsl::Int& pass);

}  // namespace balm::array
