#include "interop/byte_source.hpp"

#include <fmt/format.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "balm/error.hpp"

namespace balm::interop {

file::file(const std::string& path, const char* mode) : path_(path), file_(std::fopen(path.c_str(), mode)) {
    if (file_ == nullptr) fail(mode[0] == 'r' ? "read" : "written", errno);
}

bool file::is_seekable() const { return ::fseeko(file_, 0, SEEK_CUR) == 0; }

std::uint64_t file::size() const {
    if (!is_seekable())
        throw usage_error(
            fmt::format("The file '{}' cannot be read: it is a pipe, and a format with a directory at its "
                        "end needs a file.",
                        path_));
    // A directory can be opened, and reports a size of 2^63 - 1 bytes.
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

std::size_t file::read_next(std::span<std::byte> to) const {
    errno = 0;
    const std::size_t bytes = std::fread(to.data(), 1, to.size(), file_);
    if (bytes < to.size() && std::ferror(file_) != 0) fail("read", errno);
    return bytes;
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
    if (!has(to.size())) refuse("it ends early");
    next(to);
    left_ -= to.size();
}

void byte_source::refuse(const std::string& why) const {
    throw usage_error(fmt::format("{} cannot be read: {}.", what_, why));
}

std::uint64_t stream_source::find_more(std::uint64_t bytes) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 20;  // memory is for bytes that are there
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_, 0)));
    std::uint64_t found = 0;
    while (found < bytes) {
        const std::size_t wanted = std::min<std::uint64_t>(bytes - found, piece_bytes),
                          before = ahead_.size();
        ahead_.resize(before + wanted);
        const std::size_t got = from_.read_next(std::span(ahead_).subspan(before));
        ahead_.resize(before + got);
        found += got;
        if (got < wanted) break;
    }
    return found;
}

void stream_source::next(std::span<std::byte> to) {
    std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(taken_), to.size(), to.begin());
    taken_ += to.size();
}

void file_source::next(std::span<std::byte> to) {
    from_.read_at(at_, to);
    at_ += to.size();
}

}  // namespace balm::interop
