#pragma once
// The format of .npy files (NumPy Enhancement Proposal 1): a header, which is a Python dictionary as text,
// and the elements.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "balm/function_ref.hpp"
#include "balm/npy_header.hpp"
#include "balm/plain_element.hpp"
#include "balm/shape.hpp"
#include "interop/byte_source.hpp"

namespace balm::interop {

/// Reads the header; the elements follow in the source. Throws usage_error where it is none.
npy_header read_npy_head(byte_source&);
/// Reads the header and the elements, into what `place` makes for them. Throws usage_error where they are not
/// such elements or the source has fewer bytes left than the header says; then `place` was not called.
void read_npy_array(byte_source&, const balm::detail::element_layout&, balm::detail::npy_place place);

/// A header, with all that comes ahead of the elements.
std::string npy_head(const balm::detail::element_layout&, const shape&, npy_order);
/// Calls `put` with the elements' bytes as they are in the file, in pieces.
void write_npy_elements(const balm::detail::element_layout&, const shape&, const void* elements, npy_order,
                        balm::detail::function_ref<void(std::span<const std::byte>)> put);
/// The bytes that this gives.
std::uint64_t npy_element_bytes(const balm::detail::element_layout&, const shape&);

/// A word of a file as messages show it: printable and short.
std::string shown(std::string_view word);

}  // namespace balm::interop
