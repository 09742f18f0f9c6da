#include "interop/byte_source.hpp"

#include <fmt/format.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "balm/error.hpp"

namespace balm::interop {

namespace {

/// The remainders of all bytes by the polynomial of ISO 3309, its bits reversed.
constexpr std::array<std::uint32_t, 256> remainders = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? 0xedb88320u ^ rest >> 1 : rest >> 1;
        made[byte] = rest;
    }
    return made;
}();

}  // namespace

std::uint32_t crc32(std::uint32_t before, std::span<const std::byte> bytes) {
    std::uint32_t rest = ~before;
    for (const std::byte each : bytes)
        rest = remainders[(rest ^ static_cast<std::uint32_t>(each)) & 0xff] ^ rest >> 8;
    return ~rest;
}

file::file(const std::string& path, const char* mode) : path_(path), file_(std::fopen(path.c_str(), mode)) {
    if (file_ == nullptr) fail(mode[0] == 'r' ? "read" : "written", errno);
}

std::uint64_t file::size() const {
    // A folder can be opened, and says that it has 2^63 - 1 bytes.
    if (::fseeko(file_, 0, SEEK_END) != 0) fail("read", errno);
    const off_t at = ::ftello(file_);
    if (at < 0) fail("read", errno);
    std::byte first{};
    if (::fseeko(file_, 0, SEEK_SET) != 0 ||
        (std::fread(&first, 1, 1, file_) != 1 && std::ferror(file_) != 0))
        fail("read", errno);
    return static_cast<std::uint64_t>(at);
}

void file::read_at(std::uint64_t offset, std::span<std::byte> to) const {
    if (to.empty()) return;
    errno = 0;
    if (::fseeko(file_, static_cast<off_t>(offset), SEEK_SET) != 0 ||
        std::fread(to.data(), 1, to.size(), file_) != to.size())
        fail("read", errno);
}

void file::write(std::span<const std::byte> from) {
    if (from.empty()) return;
    errno = 0;
    if (std::fwrite(from.data(), 1, from.size(), file_) != from.size()) fail("written", errno);
    written_ += from.size();
}

void file::write_at(std::uint64_t offset, std::span<const std::byte> from) {
    errno = 0;
    if (::fseeko(file_, static_cast<off_t>(offset), SEEK_SET) != 0 ||
        std::fwrite(from.data(), 1, from.size(), file_) != from.size() || ::fseeko(file_, 0, SEEK_END) != 0)
        fail("written", errno);
}

void file::close() {
    if (file_ == nullptr) return;
    errno = 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("written", errno);
}

void file::close_quietly() noexcept {
    if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
}

void file::fail(const char* what, int code) const {
    throw usage_error(fmt::format("The file '{}' cannot be {}: {}.", path_, what,
                                  code != 0 ? std::strerror(code) : "it ends early"));
}

void byte_source::read(std::span<std::byte> to) {
    if (to.size() > left_) refuse("it ends early");
    next(to);
    left_ -= to.size();
}

void byte_source::refuse(const std::string& why) const {
    throw usage_error(fmt::format("{} cannot be read: {}.", what_, why));
}

void file_source::next(std::span<std::byte> to) {
    from_.read_at(at_, to);
    at_ += to.size();
    checksum_ = crc32(checksum_, to);
}

void memory_source::next(std::span<std::byte> to) {
    std::copy_n(bytes_.begin(), to.size(), to.begin());
    bytes_ = bytes_.subspan(to.size());
}

}  // namespace balm::interop
