#pragma once
// The format of a print: checked against the arguments' types when the kernel is traced, and applied to a
// work-item's record when the launch has completed.

#include <cstdint>
#include <memory>
#include <string>

#include "ir/print_format.hpp"

namespace balm::kernels {

/// The number of 4-byte words that record a value of this type: one for each number in it, two for one of 8
/// bytes and for an address.
std::size_t words_of(trace::type) noexcept;

/// Fills in `words` and `key`. Throws trace_error if the text does not fit the arguments.
std::shared_ptr<const ir::print_format> checked(ir::print_format);

/// The text of a record.
std::string formatted(const ir::print_format&, const std::uint32_t* words);

}  // namespace balm::kernels
