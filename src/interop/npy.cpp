// .npy files: one array per file.

#include "balm/npy.hpp"

#include <fmt/format.h>

#include <utility>

#include "interop/npy_format.hpp"

namespace balm {

namespace {

void read_file(const std::string& path, balm::detail::function_ref<void(interop::byte_source&)> read) {
    const interop::file file(path, "rb");
    std::string what = fmt::format("The file '{}'", path);
    if (file.is_seekable()) {
        interop::file_source from(std::move(what), file, 0, file.size());
        read(from);
    } else {
        interop::stream_source from(std::move(what), file);
        read(from);
    }
}

}  // namespace

npy_header read_npy_header(const std::string& path) {
    npy_header head;
    read_file(path, [&](interop::byte_source& from) { head = interop::read_npy_head(from); });
    return head;
}

namespace detail {

void read_npy(const std::string& path, const npy_layout& element, npy_place place) {
    read_file(path, [&](interop::byte_source& from) { interop::read_npy_array(from, element, place); });
}

void write_npy(const std::string& path, const npy_layout& element, const shape& extents, const void* elements,
               npy_order order) {
    const std::string head = interop::npy_head(element, extents, order);
    interop::file file(path, "wb");
    file.write(std::as_bytes(std::span(head)));
    interop::write_npy_elements(element, extents, elements, order,
                                [&](std::span<const std::byte> bytes) { file.write(bytes); });
    file.close();
}

}  // namespace detail

}  // namespace balm
