#pragma once
// The types of NumPy's elements: a number, such as '<f4', or a structure, which is a list of its fields. In
// comes the text in a header, and how an element lies in memory; out comes which bytes to copy where.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "balm/npy_element.hpp"
#include "balm/shape.hpp"
#include "interop/npy_literal.hpp"

namespace balm::interop {

/// Numbers that follow each other in the file's element and in memory's.
struct npy_run {
    std::size_t in_file = 0, in_memory = 0;
    std::size_t count = 0, number_bytes = 0;
    bool is_swapped = false, is_truth = false;

    std::size_t bytes() const { return count * number_bytes; }
    friend bool operator==(const npy_run&, const npy_run&) = default;
};

/// One element in the file and in memory.
struct npy_element_copy {
    std::size_t file_bytes = 0, memory_bytes = 0;
    std::vector<npy_run> runs;

    /// Whether the runs cover all bytes of the element in memory, and lie in the file as they do in memory.
    bool is_dense() const;
    /// Whether the elements, once in memory, have another order of bytes, or bytes that are no bool.
    bool needs_mending() const;
    void to_memory(const std::byte* in_file, std::byte* in_memory) const;
    void mend(std::byte* in_memory) const;
    void to_file(const std::byte* in_memory, std::byte* in_file) const;
};

/// Reads a type, and returns its text.
std::string take_npy_type(literal_reader&);
/// How elements of the type `text`, which take_npy_type returned, are read. Throws usage_error if they are
/// not what `wanted` describes.
npy_element_copy npy_copy_of(const byte_source&, const std::string& text,
                             const balm::detail::npy_layout& wanted);

/// The type that elements are written as, as text, and how; short vectors are written as their numbers.
std::string npy_type_text(const balm::detail::npy_layout&);
npy_element_copy npy_copy_of(const balm::detail::npy_layout&);

}  // namespace balm::interop
