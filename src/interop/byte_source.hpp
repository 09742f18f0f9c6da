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
    /// The size of the file in bytes. Throws if it is not a regular file.
    std::uint64_t size() const;
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

    std::uint64_t left() const { return left_; }
    const std::string& what() const { return what_; }
    /// Reads the next bytes. Throws usage_error if fewer are left.
    void read(std::span<std::byte> to);
    /// Throws usage_error, which says that what() cannot be read, and why.
    [[noreturn]] void refuse(const std::string& why) const;

private:
    virtual void next(std::span<std::byte> to) = 0;

    std::string what_;
    std::uint64_t left_;
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
