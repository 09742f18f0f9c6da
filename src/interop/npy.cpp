// .npy files: one array per file.

#include "balm/npy.hpp"

#include <fmt/format.h>

#include "interop/npy_format.hpp"

namespace balm {

namespace {

std::string file_in_words(const std::string& path) { return fmt::format("The file '{}'", path); }

}  // namespace

npy_header read_npy_header(const std::string& path) {
    const interop::file file(path, "rb");
    interop::file_source from(file_in_words(path), file, 0, file.size());
    return interop::read_npy_head(from);
}

namespace detail {

void read_npy(const std::string& path, const element_layout& element, npy_place place) {
    const interop::file file(path, "rb");
    interop::file_source from(file_in_words(path), file, 0, file.size());
    interop::read_npy_array(from, element, place);
}

void write_npy(const std::string& path, const element_layout& element, const shape& extents,
               const void* elements, npy_order order) {
    const std::string head = interop::npy_head(element, extents, order);
    interop::file file(path, "wb");
    file.write(std::as_bytes(std::span(head)));
    interop::write_npy_elements(element, extents, elements, order,
                                [&](std::span<const std::byte> bytes) { file.write(bytes); });
    file.close();
}

}  // namespace detail

}  // namespace balm
