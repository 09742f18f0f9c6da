#pragma once
// Bytes in order: of a file, of a range of one, or decompressed from one. Readers of a format take any
// byte_source.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace balm::interop {

/// A file to read or write. Its functions throw usage_error, which names the file and the reason.
class file {
public:
    /// `mode` as for std::fopen.
    file(const std::string& path, const char* mode);
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file() { close_quietly(); }

    const std::string& path() const { return path_; }
    /// Whether bytes can be read in any order: not from a pipe.
    bool is_seekable() const;
    /// The size of the file in bytes. Throws if it is a directory or not seekable.
    std::uint64_t size() const;
    /// Reads the next bytes, fewer at the end of the file only; returns how many.
    std::size_t read_next(std::span<std::byte> to) const;
    void read_at(std::uint64_t offset, std::span<std::byte> to) const;
    /// Appends.
    void write(std::span<const std::byte> from);
    /// Overwrites existing bytes, and seeks back to the end.
    void write_at(std::uint64_t offset, std::span<const std::byte> from);
    /// Bytes written so far.
    std::uint64_t written() const { return written_; }
    /// Throws if the system could not write all bytes.
    void close();

private:
    void close_quietly() noexcept;
    [[noreturn]] void fail(const char* what, int code) const;

    std::string path_;
    std::FILE* file_;
    std::uint64_t written_ = 0;
};

/// Bytes that are read in order, from first to last.
class byte_source {
public:
    /// `what` names the origin of the bytes in messages: "The file 'x.npy'".
    byte_source(std::string what, std::uint64_t size) : what_(std::move(what)), left_(size) {}
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    /// How many bytes are left. Of a source whose size is unknown: how many are known to be.
    std::uint64_t left() const { return left_; }
    /// Whether this many bytes are left.
    bool has(std::uint64_t bytes) {
        if (bytes > left_) left_ += find_more(bytes - left_);
        return bytes <= left_;
    }
    const std::string& what() const { return what_; }
    /// Reads the next bytes. Throws usage_error if fewer are left.
    void read(std::span<std::byte> to);
    /// Throws usage_error, which says that what() cannot be read, and why.
    [[noreturn]] void refuse(const std::string& why) const;

private:
    virtual void next(std::span<std::byte> to) = 0;
    /// Looks for up to this many bytes beyond left(), if the size is unknown; returns how many there are.
    virtual std::uint64_t find_more(std::uint64_t) { return 0; }

    std::string what_;
    std::uint64_t left_;
};

/// A file that is read from its first byte, such as a pipe: its size is unknown, and what it is found to have
/// is in memory.
class stream_source final : public byte_source {
public:
    stream_source(std::string what, const file& from) : byte_source(std::move(what), 0), from_(from) {}

private:
    void next(std::span<std::byte> to) override;
    std::uint64_t find_more(std::uint64_t bytes) override;

    const file& from_;
    std::vector<std::byte> ahead_;
    std::size_t taken_ = 0;  // of `ahead_`
};

/// A range of a file.
class file_source final : public byte_source {
public:
    file_source(std::string what, const file& from, std::uint64_t begin, std::uint64_t size)
        : byte_source(std::move(what), size), from_(from), at_(begin) {}

private:
    void next(std::span<std::byte> to) override;

    const file& from_;
    std::uint64_t at_;
};

}  // namespace balm::interop
