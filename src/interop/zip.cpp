#include "interop/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>

#include "balm/error.hpp"
#include "interop/deflate_source.hpp"

namespace balm::interop {

namespace {

constexpr std::uint32_t local_header_mark = 0x04034b50, directory_entry_mark = 0x02014b50,
                        directory_end_mark = 0x06054b50, large_end_mark = 0x06064b50,
                        large_locator_mark = 0x07064b50;
constexpr std::size_t local_header_bytes = 30, directory_entry_bytes = 46, directory_end_bytes = 22,
                      large_end_bytes = 56, large_locator_bytes = 20, longest_comment = 0xffff;
constexpr std::uint16_t large_sizes_id = 1;  // of the extra field with 64-bit sizes (4.5.3)
constexpr std::uint16_t is_encrypted = 1, has_utf8_name = 1 << 11;
constexpr std::uint32_t in_large_16 = 0xffff,
                        in_large_32 = 0xffffffff;  // the number is in a 64-bit field
constexpr std::uint16_t stored = 0, deflated = 8;
// A match of 258 bytes takes at least two bits.
constexpr std::uint64_t largest_expansion = 1032;
constexpr std::uint16_t version_with_large_sizes = 45;

/// Continues the archive's checksum (4.4.7): `before` is the checksum of the bytes ahead of these.
std::uint32_t checksum_after(std::uint32_t before, std::span<const std::byte> bytes) {
    if (bytes.empty()) return before;  // given a null pointer, crc32_z returns the initial value
    return static_cast<std::uint32_t>(
        crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// The bytes of another source, with their checksum.
class summed_source final : public byte_source {
public:
    explicit summed_source(byte_source& of) : byte_source(of.what(), of.left()), of_(of) {}

    /// The checksum of the bytes read so far.
    std::uint32_t checksum() const { return checksum_; }

private:
    void next(std::span<std::byte> to) override {
        of_.read(to);
        checksum_ = checksum_after(checksum_, to);
    }

    byte_source& of_;
    std::uint32_t checksum_ = 0;
};

/// The little-endian numbers of a record.
class record {
public:
    explicit record(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint64_t number(std::size_t at, std::size_t count) const {
        std::uint64_t value = 0;
        for (std::size_t k = count; k-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes_[at + k]);
        return value;
    }
    std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
    std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
    std::uint64_t u64(std::size_t at) const { return number(at, 8); }
    std::span<const std::byte> part(std::size_t at, std::size_t count) const {
        return bytes_.subspan(at, count);
    }
    std::size_t size() const { return bytes_.size(); }

private:
    std::span<const std::byte> bytes_;
};

[[noreturn]] void refuse(const file& archive, std::string_view why) {
    throw usage_error(fmt::format("The file '{}' cannot be read: {}.", archive.path(), why));
}

/// The position and size of the directory.
struct directory_place {
    std::uint64_t at = 0, bytes = 0, members = 0;
};

bool lies_within(std::uint64_t at, std::uint64_t bytes, std::uint64_t size) {
    return at <= size && bytes <= size - at;
}

/// 4.3.14 and 4.3.15: the record with 64-bit numbers, found by a locator ahead of the usual record.
directory_place large_directory_place(const file& archive, std::uint64_t end_at) {
    std::array<std::byte, large_locator_bytes> locator{};
    if (end_at < locator.size()) refuse(archive, "its directory is damaged");
    archive.read_at(end_at - locator.size(), locator);
    const record found(locator);
    std::array<std::byte, large_end_bytes> end{};
    if (found.u32(0) != large_locator_mark || !lies_within(found.u64(8), end.size(), end_at))
        refuse(archive, "its directory is damaged");
    archive.read_at(found.u64(8), end);
    const record large(end);
    if (large.u32(0) != large_end_mark) refuse(archive, "its directory is damaged");
    return {large.u64(48), large.u64(40), large.u64(32)};
}

/// 4.3.16: the archive's last record, which only a comment may follow.
directory_place find_directory(const file& archive) {
    const std::uint64_t size = archive.size();
    if (size < directory_end_bytes) refuse(archive, "it is not a .npz file");
    const std::uint64_t looked_at = std::min<std::uint64_t>(size, directory_end_bytes + longest_comment);
    std::vector<std::byte> tail(looked_at);
    archive.read_at(size - looked_at, tail);
    const record all(tail);
    for (std::size_t at = tail.size() - directory_end_bytes + 1; at-- > 0;) {
        if (all.u32(at) != directory_end_mark) continue;
        const std::uint64_t end_at = size - looked_at + at;
        directory_place place{all.u32(at + 16), all.u32(at + 12), all.u16(at + 10)};
        if (place.at == in_large_32 || place.bytes == in_large_32 || place.members == in_large_16)
            place = large_directory_place(archive, end_at);
        if (!lies_within(place.at, place.bytes, end_at)) refuse(archive, "its directory is damaged");
        return place;
    }
    refuse(archive, "it is not a .npz file");
}

/// Reads the 64-bit numbers of an extra field (4.5.3): those that are in_large_32 in the entry, in this
/// order.
void read_large_sizes(const file& archive, std::span<const std::byte> extra,
                      std::initializer_list<std::uint64_t*> numbers) {
    const auto is_wanted = [](const std::uint64_t* each) { return *each == in_large_32; };
    if (std::none_of(numbers.begin(), numbers.end(), is_wanted)) return;
    record fields(extra);
    for (std::size_t at = 0; at + 4 <= fields.size();) {
        const std::size_t bytes = fields.u16(at + 2), end = at + 4 + bytes;
        if (end > fields.size()) break;
        if (fields.u16(at) == large_sizes_id) {
            std::size_t next = at + 4;
            for (std::uint64_t* const each : numbers) {
                if (!is_wanted(each)) continue;
                if (next + 8 > end) refuse(archive, "its directory is damaged");
                *each = fields.u64(next);
                next += 8;
            }
            return;
        }
        at = end;
    }
    refuse(archive, "its directory is damaged");
}

}  // namespace

std::vector<zip_member> read_zip_directory(const file& archive) {
    const directory_place place = find_directory(archive);
    std::vector<std::byte> bytes(place.bytes);
    archive.read_at(place.at, bytes);
    const record all(bytes);
    std::vector<zip_member> members;
    std::size_t at = 0;
    while (members.size() < place.members) {
        if (all.size() - at < directory_entry_bytes || all.u32(at) != directory_entry_mark)
            refuse(archive, "its directory is damaged");
        const std::size_t name = all.u16(at + 28), extra = all.u16(at + 30), comment = all.u16(at + 32);
        const std::size_t entry_bytes = directory_entry_bytes + name + extra + comment;
        if (all.size() - at < entry_bytes) refuse(archive, "its directory is damaged");
        zip_member member;
        member.flags = all.u16(at + 8);
        member.method = all.u16(at + 10);
        member.checksum = all.u32(at + 16);
        member.compressed_bytes = all.u32(at + 20);
        member.bytes = all.u32(at + 24);
        member.header_at = all.u32(at + 42);
        const std::span<const std::byte> letters = all.part(at + directory_entry_bytes, name);
        member.name.assign(reinterpret_cast<const char*>(letters.data()), letters.size());
        read_large_sizes(archive, all.part(at + directory_entry_bytes + name, extra),
                         {&member.bytes, &member.compressed_bytes, &member.header_at});
        members.push_back(std::move(member));
        at += entry_bytes;
    }
    return members;
}

void read_zip_member(const file& archive, const zip_member& member, const std::string& what,
                     balm::detail::function_ref<void(byte_source&)> read) {
    const std::uint64_t size = archive.size();
    const auto refuse_member = [&](std::string_view why) {
        throw usage_error(fmt::format("{} cannot be read: {}.", what, why));
    };
    if ((member.flags & is_encrypted) != 0) refuse_member("it is encrypted");
    if (member.method != stored && member.method != deflated)
        refuse_member(
            fmt::format("it is compressed with method {}; Balm reads deflate (8) and uncompressed data (0)",
                        member.method));
    std::array<std::byte, local_header_bytes> header{};
    if (!lies_within(member.header_at, header.size(), size))
        refuse_member("it lies past the end of the file");
    archive.read_at(member.header_at, header);
    const record local(header);
    if (local.u32(0) != local_header_mark) refuse_member("the archive's directory does not point to it");
    const std::uint64_t begin = member.header_at + header.size() + local.u16(26) + local.u16(28);
    if (!lies_within(begin, member.compressed_bytes, size)) refuse_member("it lies past the end of the file");

    file_source in_file(what, archive, begin, member.compressed_bytes);
    std::optional<deflate_source> expanded;
    if (member.method == deflated) {
        if (member.bytes / largest_expansion > member.compressed_bytes)
            refuse_member("its size is more than its compressed data can expand to");
        expanded.emplace(in_file, member.bytes);
    } else if (member.bytes != member.compressed_bytes) {
        refuse_member("the archive records two different sizes for it");
    }
    summed_source bytes(expanded ? static_cast<byte_source&>(*expanded) : in_file);
    read(bytes);
    std::array<std::byte, 4096> rest{};  // the checksum covers all bytes
    while (bytes.left() > 0)
        bytes.read(std::span(rest).first(std::min<std::uint64_t>(rest.size(), bytes.left())));
    if (expanded) expanded->finish();
    if (bytes.checksum() != member.checksum)
        refuse_member("its checksum does not match the one in the archive");
}

// ---- writing ----

namespace {

void put(std::string& to, std::uint64_t value, int bytes) {
    for (int k = 0; k < bytes; ++k) to += static_cast<char>(value >> (8 * k) & 0xff);
}

/// The fields that local headers and the directory share: versions, flags, method, date, checksum, sizes
/// (4.4). Sizes are always in the 64-bit extra field: a single way to write them, which every archive tests.
void put_common(std::string& to, const zip_member& of, std::size_t extra_bytes) {
    put(to, version_with_large_sizes, 2);
    put(to, of.flags, 2);
    put(to, stored, 2);
    put(to, 0, 2);           // midnight
    put(to, 1 << 5 | 1, 2);  // 1 January 1980, the earliest date that the format has
    put(to, of.checksum, 4);
    put(to, in_large_32, 4);
    put(to, in_large_32, 4);
    put(to, of.name.size(), 2);
    put(to, extra_bytes, 2);
}
void put_large_sizes(std::string& to, std::initializer_list<std::uint64_t> numbers) {
    put(to, large_sizes_id, 2);
    put(to, 8 * numbers.size(), 2);
    for (const std::uint64_t each : numbers) put(to, each, 8);
}

std::string local_header(const zip_member& of) {
    std::string made;
    put(made, local_header_mark, 4);
    put_common(made, of, 4 + 2 * 8);
    made += of.name;
    put_large_sizes(made, {of.bytes, of.bytes});
    return made;
}

std::string directory_entry(const zip_member& of) {
    std::string made;
    put(made, directory_entry_mark, 4);
    put(made, version_with_large_sizes, 2);
    put_common(made, of, 4 + 3 * 8);
    put(made, 0, 2);  // no comment
    put(made, 0, 2);  // on the first disk
    put(made, 0, 2);  // not known to be text
    put(made, 0, 4);
    put(made, in_large_32, 4);
    made += of.name;
    put_large_sizes(made, {of.bytes, of.bytes, of.header_at});
    return made;
}

/// 4.3.14 to 4.3.16
std::string directory_end(std::uint64_t at, std::uint64_t bytes, std::uint64_t members) {
    std::string made;
    put(made, large_end_mark, 4);
    put(made, large_end_bytes - 12, 8);
    put(made, version_with_large_sizes, 2);
    put(made, version_with_large_sizes, 2);
    put(made, 0, 8);  // all on the first disk
    put(made, members, 8);
    put(made, members, 8);
    put(made, bytes, 8);
    put(made, at, 8);
    put(made, large_locator_mark, 4);
    put(made, 0, 4);
    put(made, at + bytes, 8);
    put(made, 1, 4);
    put(made, directory_end_mark, 4);
    put(made, 0, 4);
    put(made, std::min<std::uint64_t>(members, in_large_16), 2);
    put(made, std::min<std::uint64_t>(members, in_large_16), 2);
    put(made, in_large_32, 4);
    put(made, in_large_32, 4);
    put(made, 0, 2);
    return made;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

bool zip_writer::has(const std::string& name) const {
    return std::any_of(members_.begin(), members_.end(),
                       [&](const zip_member& each) { return each.name == name; });
}

void zip_writer::add(const std::string& name, std::uint64_t bytes,
                     balm::detail::function_ref<void(piece_writer)> write) {
    zip_member member;
    member.name = name;
    member.flags = has_utf8_name;
    member.bytes = member.compressed_bytes = bytes;
    member.header_at = file_.written();
    file_.write(bytes_of(local_header(member)));
    write([&](std::span<const std::byte> piece) {
        member.checksum = checksum_after(member.checksum, piece);
        file_.write(piece);
    });
    file_.write_at(member.header_at, bytes_of(local_header(member)));  // now with the checksum
    members_.push_back(std::move(member));
}

void zip_writer::close() {
    if (std::exchange(is_closed_, true)) return;
    const std::uint64_t at = file_.written();
    for (const zip_member& each : members_) file_.write(bytes_of(directory_entry(each)));
    file_.write(bytes_of(directory_end(at, file_.written() - at, members_.size())));
    file_.close();
}

}  // namespace balm::interop
