// Bytes as a .npy file and as a .npz file. What is read takes no more memory than the file has bytes for, and
// is the same once it was written and read again; what is refused is refused by a short sentence that names
// the file.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "balm/error.hpp"
#include "fuzz/fuzz.hpp"
#include "interop/npy_format.hpp"
#include "interop/zip.hpp"
#include "support/scratch_directory.hpp"

namespace {

using balm::detail::element_layout;
using balm::detail::npy_layout;
using balm::detail::npy_structure;
using balm::fuzz::expect;

const npy_structure inner{
    "inner", 16, {{"b", 4, element_layout{'i', 2, 1, 1}, {}}, {"x", 8, element_layout{'f', 8, 1, 1}, {}}}};
const npy_structure outer{"outer",
                          64,
                          {{"a", 0, element_layout{'f', 4, 3, 4}, {}},
                           {"c", 16, inner, {2}},
                           {"t", 48, element_layout{'b', 1, 1, 1}, {2, 3}}}};
const npy_layout layouts[] = {element_layout{'b', 1, 1, 1},
                              element_layout{'u', 1, 1, 1},
                              element_layout{'i', 2, 1, 1},
                              element_layout{'f', 2, 1, 1},
                              element_layout{'f', 4, 1, 1},
                              element_layout{'f', 4, 3, 4},
                              element_layout{'f', 8, 1, 1},
                              element_layout{'c', 8, 1, 1},
                              element_layout{'c', 16, 1, 1},
                              element_layout{'i', 8, 2, 2},
                              inner,
                              outer};

void check_refusal(std::string_view words, std::string_view beginning) {
    expect(words.starts_with(beginning), "a refusal names the file", words);
    expect(words.size() < 400, "a refusal is short", words);
    for (const char c : words)
        expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a refusal is one line", words);
}

class memory_source final : public balm::interop::byte_source {
public:
    memory_source(std::string what, std::span<const std::byte> bytes)
        : byte_source(std::move(what), bytes.size()), bytes_(bytes) {}

private:
    void next(std::span<std::byte> to) override {
        std::copy_n(bytes_.begin(), to.size(), to.begin());
        bytes_ = bytes_.subspan(to.size());
    }

    std::span<const std::byte> bytes_;
};

struct array {
    balm::shape extents;
    std::vector<std::byte> elements;
};
/// In memory, with the room of lanes.
std::size_t bytes_in_memory(const npy_layout& of) {
    return of.structure != nullptr ? of.structure->bytes
                                   : std::size_t{of.number.lanes_in_memory} * of.number.bytes;
}
array read_as(const npy_layout& layout, std::span<const std::byte> bytes, std::size_t most) {
    array made;
    // A structure may take fewer bytes in the file than in memory: each of its numbers, at least one.
    const std::size_t in_file =
        layout.structure != nullptr ? 1 : std::size_t{layout.number.lanes} * layout.number.bytes;
    memory_source from("The file 'f.npy'", bytes);
    balm::interop::read_npy_array(from, layout, [&](const balm::shape& extents) -> void* {
        expect(extents.count() <= most / in_file, "elements take bytes of the file");
        made.extents = extents;
        made.elements.resize(extents.count() * bytes_in_memory(layout) + 1);
        return made.elements.data();
    });
    return made;
}

void read_npy(std::span<const std::byte> bytes) {
    for (const npy_layout& layout : layouts) {
        try {
            const array got = read_as(layout, bytes, bytes.size());
            if (got.extents.dimensions() == balm::shape::max_dimensions && layout.number.lanes > 1) continue;
            for (const auto order : {balm::npy_order::rows, balm::npy_order::columns}) {
                const std::string head = balm::interop::npy_head(layout, got.extents, order);
                std::vector<std::byte> written(head.size());
                std::memcpy(written.data(), head.data(), head.size());
                balm::interop::write_npy_elements(
                    layout, got.extents, got.elements.data(), order, [&](std::span<const std::byte> piece) {
                        written.insert(written.end(), piece.begin(), piece.end());
                    });
                const array again = read_as(layout, written, written.size());
                expect(again.extents == got.extents && again.elements == got.elements,
                       "what is written is read again");
            }
        } catch (const balm::usage_error& refused) {
            check_refusal(refused.what(), "The file 'f.npy' cannot be read: ");
        }
    }
}

void read_npz(std::span<const std::byte> bytes) {
    static const balm::test::scratch_directory& folder = *new balm::test::scratch_directory;
    const std::string path = folder / "f.npz";
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const balm::interop::file archive(path, "rb");
    std::vector<balm::interop::zip_member> members;
    try {
        members = balm::interop::read_zip_directory(archive);
    } catch (const balm::usage_error& refused) {
        return check_refusal(refused.what(), "The file '" + path + "' cannot be read: ");
    }
    expect(members.size() <= bytes.size() / 46, "a member takes bytes of the directory");
    for (const balm::interop::zip_member& each : members) {
        try {
            balm::interop::read_zip_member(archive, each, "The array", [&](balm::interop::byte_source& from) {
                expect(from.left() <= 1032 * (bytes.size() + 1), "a member takes bytes of the archive");
                (void)balm::interop::read_npy_head(from);
            });
        } catch (const balm::usage_error& refused) {
            check_refusal(refused.what(), "The array cannot be read: ");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    read_npy(bytes);
    read_npz(bytes);
    return 0;
}
