#pragma once
// The format of .npy files (NumPy Enhancement Proposal 1): a header, which is a Python dictionary as text,
// and the elements.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "balm/function_ref.hpp"
#include "balm/npy_element.hpp"
#include "balm/npy_header.hpp"
#include "balm/shape.hpp"
#include "interop/byte_source.hpp"
#include "interop/npy_literal.hpp"

namespace balm::interop {

/// Reads the header; the elements follow in the source. Throws usage_error if it is not a .npy header.
npy_header read_npy_head(byte_source&);
/// Reads the header, and the elements into the memory that `place` returns. Throws usage_error if the
/// elements have another type or the source has fewer bytes left than the header says; `place` is then not
/// called.
void read_npy_array(byte_source&, const balm::detail::npy_layout&, balm::detail::npy_place place);

/// All bytes ahead of the elements: magic, version, length and header text.
std::string npy_head(const balm::detail::npy_layout&, const shape&, npy_order);
/// Calls `put` with the elements' bytes in the layout of the file, in pieces.
void write_npy_elements(const balm::detail::npy_layout&, const shape&, const void* elements, npy_order,
                        balm::detail::function_ref<void(std::span<const std::byte>)> put);
/// The number of bytes that write_npy_elements passes to `put`.
std::uint64_t npy_element_bytes(const balm::detail::npy_layout&, const shape&);

}  // namespace balm::interop
