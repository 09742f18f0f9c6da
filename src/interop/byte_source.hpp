#pragma once
// Bytes in order: of a file, of a part of one, or expanded from one. What reads a format takes one and does
// not know which.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace balm::interop {

/// A file that is read or written. Its functions throw usage_error, which names it and the reason.
class file {
public:
    /// `mode` as for std::fopen.
    file(const std::string& path, const char* mode);
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file() { close_quietly(); }

    const std::string& path() const { return path_; }
    /// Bytes of the whole file. Throws for what is no regular file.
    std::uint64_t size() const;
    void read_at(std::uint64_t offset, std::span<std::byte> to) const;
    /// Appends.
    void write(std::span<const std::byte> from);
    /// Writes over bytes that are there, and goes back to the end.
    void write_at(std::uint64_t offset, std::span<const std::byte> from);
    /// Bytes written so far.
    std::uint64_t written() const { return written_; }
    /// Throws where the system could not write all of it.
    void close();

private:
    void close_quietly() noexcept;
    [[noreturn]] void fail(const char* what, int code) const;

    std::string path_;
    std::FILE* file_;
    std::uint64_t written_ = 0;
};

/// Bytes that are read from the first to the last.
class byte_source {
public:
    /// `what` they are of, for messages: "The file 'x.npy'".
    byte_source(std::string what, std::uint64_t size) : what_(std::move(what)), left_(size) {}
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    std::uint64_t left() const { return left_; }
    const std::string& what() const { return what_; }
    /// The next bytes. Throws usage_error where fewer are left.
    void read(std::span<std::byte> to);
    /// Throws usage_error: WHAT cannot be read, and why.
    [[noreturn]] void refuse(const std::string& why) const;

private:
    virtual void next(std::span<std::byte> to) = 0;

    std::string what_;
    std::uint64_t left_;
};

/// A part of a file.
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
