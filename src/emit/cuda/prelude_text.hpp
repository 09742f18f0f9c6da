#pragma once
// The parts of the prelude that are the same for every text, in the order in which they need each other.

namespace balm::emit::cuda::prelude_text {

extern const char* const scalars;
extern const char* const vectors;
extern const char* const conversions;
extern const char* const work_items;  ///< need balm_start(dimension) and balm_work_dim
extern const char* const integers;
extern const char* const common;
extern const char* const atomics;

}  // namespace balm::emit::cuda::prelude_text
