#pragma once
// A file while it is written. Bytes come in, a file goes out, whole or not at all. Here because nobody should
// find half a picture, or half a plan, under its name.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace heat {

/// A file that is written under a temporary name beside its place. It comes to its name when complete, and is
/// removed if it never is. Everything throws std::runtime_error, which names the file and the reason, where
/// the system refuses.
class pending_file {
public:
    /// `what` is the word for it in messages.
    explicit pending_file(const std::string& name, const char* what = "picture");
    pending_file(const pending_file&) = delete;
    pending_file& operator=(const pending_file&) = delete;
    ~pending_file();

    /// For writing by other libraries.
    std::FILE* get() const noexcept { return file_; }

    /// Appends bytes.
    void write(const void* bytes, std::size_t count);
    /// Bytes written so far.
    std::uint64_t size();
    /// Writes over bytes that are there, and goes back to the end.
    void write_at(std::uint64_t offset, const void* bytes, std::size_t count);

    /// Closes the file and renames it.
    void complete();

    /// Throws: the file could not be written, and why.
    [[noreturn]] void fail(const std::string& why) const;

private:
    void seek(std::uint64_t offset, int origin);

    std::string name_, temporary_name_;
    const char* what_;
    std::FILE* file_ = nullptr;
    bool is_complete_ = false;
};

/// What the system said last, for `fail`.
std::string last_system_error();

}  // namespace heat
