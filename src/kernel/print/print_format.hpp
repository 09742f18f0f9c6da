#pragma once
// The two ends of a print: its format is checked against the arguments' types when the kernel is traced, and
// filled with what a work-item has left when the launch is done.

#include <cstdint>
#include <memory>
#include <string>

#include "ir/print_format.hpp"

namespace balm::kernels {

/// Words of 4 bytes in which a value of this type is passed on: one for each number in it, two for one of 8
/// bytes and for an address.
std::size_t words_of(trace::type) noexcept;

/// Fills in `words` and `key`. Throws trace_error where the text does not fit the arguments.
std::shared_ptr<const ir::print_format> checked(ir::print_format);

/// The text of a record.
std::string formatted(const ir::print_format&, const std::uint32_t* words);

}  // namespace balm::kernels
