#pragma once
// A file while it is written. In: bytes. Out: a file, complete or absent: nobody finds half a picture, or
// half a plan, under its name.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace heat {

/// A file that is written under a temporary name in the same folder. `complete` gives it its name; the
/// destructor removes an incomplete file. All members throw std::runtime_error, which names the file and the
/// reason, if the system reports an error.
class pending_file {
public:
    /// `what` names the kind of file in messages.
    explicit pending_file(const std::string& name, const char* what = "picture");
    pending_file(const pending_file&) = delete;
    pending_file& operator=(const pending_file&) = delete;
    ~pending_file();

    /// For other libraries to write to.
    std::FILE* get() const noexcept { return file_; }

    /// Appends bytes.
    void write(const void* bytes, std::size_t count);
    /// Bytes written so far.
    std::uint64_t size();
    /// Overwrites bytes that have been written, and seeks back to the end.
    void write_at(std::uint64_t offset, const void* bytes, std::size_t count);

    /// Closes the file and renames it.
    void complete();

    /// Throws std::runtime_error: the file could not be written, and why.
    [[noreturn]] void fail(const std::string& why) const;

private:
    void seek(std::uint64_t offset, int origin);

    std::string name_, temporary_name_;
    const char* what_;
    std::FILE* file_ = nullptr;
    bool is_complete_ = false;
};

/// The message of the system's last error, for `fail`.
std::string last_system_error();

}  // namespace heat
