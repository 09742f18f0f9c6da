#pragma once
// In: names of libraries, variables, files and directories. Out: their contents and properties. All code that
// is specific to an operating system is in system.cpp, so that a port replaces one file.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace balm::runtime {

/// A library opened at run time; closed with the handle, unless kept.
class shared_library {
public:
    /// A name that could not be opened, and the system's reason.
    struct failure {
        std::string name;
        std::string reason;
    };

    shared_library() = default;
    shared_library(shared_library&& other) noexcept;
    shared_library& operator=(shared_library&& other) noexcept;
    shared_library(const shared_library&) = delete;
    shared_library& operator=(const shared_library&) = delete;
    ~shared_library();

    /// Opens the first of the libraries that can be opened. Does not throw if none can: the handle is then
    /// empty, and failures() has the reason for each name.
    static shared_library open_first(std::span<const std::string> names);

    /// The program itself, with the libraries that are linked or preloaded.
    static shared_library of_program();

    explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// The name of the opened library; empty if none opened.
    const std::string& name() const noexcept { return name_; }

    /// The names that failed to open, in order.
    const std::vector<failure>& failures() const noexcept { return failures_; }

    /// One line that lists the names tried and why each failed, for an error message.
    std::string describe_failures() const;

    /// The address of a symbol, or nullptr.
    void* symbol(const char* symbol_name) const noexcept;

    /// The address of a function, or nullptr: `library.function<int(int)>("abs")`.
    template <class Signature>
    Signature* function(const char* symbol_name) const noexcept {
        return reinterpret_cast<Signature*>(symbol(symbol_name));
    }

    /// The same. If the library lacks the function, `missing` lists its name, after a comma unless it is the
    /// first.
    template <class Signature>
    Signature* function(const char* symbol_name, std::string& missing) const {
        auto* const found = function<Signature>(symbol_name);
        if (found == nullptr) missing.append(missing.empty() ? "" : ", ").append(symbol_name);
        return found;
    }

    /// Keeps the library loaded for the life of the process. Drivers need this: their threads and exit
    /// handlers outlive any handle.
    void keep_loaded() noexcept { keep_ = true; }

private:
    void close() noexcept;

    void* handle_ = nullptr;
    bool keep_ = false;
    std::string name_;
    std::vector<failure> failures_;
};

/// The variable's value, which may be empty; nullopt if it is not set.
std::optional<std::string> environment_variable(const char* name);

/// The directory of the kernel cache: $BALM_CACHE_DIR, else $XDG_CACHE_HOME/balm, else ~/.cache/balm, else
/// nullopt (no home). Empty variables count as not set, and so do an $XDG_CACHE_HOME (as the XDG Base
/// Directory Specification requires) and a $HOME that are not absolute. The directory need not exist.
std::optional<std::filesystem::path> cache_directory();

/// Allocates memory in the largest pages that are available without system configuration: passes over much of
/// it wait less for address translation. Null on failure; freed by std::free.
void* allocate_in_large_pages(std::size_t bytes) noexcept;

std::uint64_t process_id() noexcept;

/// Calls the function in every process that is forked from this one from now on, before fork() returns there.
/// False on failure.
bool call_in_forked_children(void (*what)()) noexcept;

/// The bounds of the calling thread's stack: the lowest address that it may use, and the highest, at which it
/// begins. Zeros if unknown.
struct stack_bounds {
    std::uintptr_t low = 0, high = 0;
};
stack_bounds stack_of_thread() noexcept;

/// Keeps the program or shared library that contains this address loaded until the process ends.
void keep_loaded(const void* address) noexcept;

/// Tries to have this many more files open at once. Returns the error if the process may not.
std::error_code try_to_open_files(std::size_t count);

/// Whether the calling thread is the initial thread of the process.
bool is_main_thread() noexcept;

/// The host name; "localhost" if unknown.
std::string host_name();

/// A regular file opened for reading. Symbolic links, directories, pipes and devices are refused without
/// blocking.
class input_file {
public:
    input_file() = default;
    input_file(input_file&& other) noexcept;
    input_file& operator=(input_file&& other) noexcept;
    input_file(const input_file&) = delete;
    input_file& operator=(const input_file&) = delete;
    ~input_file();

    /// Returns an empty handle and a reason in `fault` if the file cannot be opened.
    static input_file open(const std::filesystem::path& path, std::error_code& fault) noexcept;

    explicit operator bool() const noexcept { return descriptor_ >= 0; }
    std::uint64_t size() const noexcept { return size_; }
    std::chrono::system_clock::time_point modified() const noexcept { return modified_; }

    /// Whether, according to owner and mode, only this user or the administrator can have written the file.
    /// The group bits of a file with an access control list contain the list's rights.
    bool trusted() const noexcept { return trusted_; }

    /// Fills all of `into` from where the last read ended; false if the file ends first or reading fails.
    bool read(std::span<std::byte> into) noexcept;

    /// Sets the modification time of the file to now; errors are ignored.
    void mark_used() noexcept;
    /// The same by appending a byte to the file, which is at this path; if that fails, only the time is set.
    void mark_used_by(std::byte mark, const std::filesystem::path& path) noexcept;

private:
    int descriptor_ = -1;
    bool trusted_ = false;
    std::uint64_t size_ = 0;
    std::chrono::system_clock::time_point modified_{};
};

/// An advisory lock between processes: a file that has one holder at a time. It is released with the handle,
/// and when the process ends for any reason; the file remains. Two handles in one process exclude each other,
/// too.
class file_lock {
public:
    file_lock() = default;
    file_lock(file_lock&& other) noexcept;
    file_lock& operator=(file_lock&& other) noexcept;
    file_lock(const file_lock&) = delete;
    file_lock& operator=(const file_lock&) = delete;
    ~file_lock();

    /// Creates the file if it does not exist, such that every user may lock it, and locks it, waiting at most
    /// this long while another holds it. After that the handle is empty and `fault` is
    /// std::errc::resource_unavailable_try_again; another fault if the file cannot be created or opened. A
    /// symbolic link is not followed.
    static file_lock acquire(const std::filesystem::path& path, std::chrono::milliseconds patience,
                             std::error_code& fault);

    explicit operator bool() const noexcept { return descriptor_ >= 0; }

private:
    explicit file_lock(int descriptor) noexcept : descriptor_(descriptor) {}
    int descriptor_ = -1;
};

/// The directory in which processes of all users lock shared resources of the machine: $BALM_LOCK_DIR, else
/// /run/lock if every user may create files in it, else /tmp. It is the same for every user: variables for a
/// user's temporary files are ignored.
std::filesystem::path lock_directory();

/// The suffix of replace_file's temporaries: `<target's name>.<unique text>.tmp`.
inline constexpr std::string_view temporary_suffix = ".tmp";

/// Atomically replaces `target` by a file with this content, accessible to this user only. Readers see the
/// old file, the new one or none, never a partial one, on network file systems too: a temporary with a unique
/// name in the same directory is written and renamed. After an error (which is returned) no temporary
/// remains; after a kill one may. A symbolic link at `target` is replaced, not followed.
std::error_code replace_file(const std::filesystem::path& target, std::span<const std::byte> content);

/// Describes the file or directory that lets users other than this one and the administrator change the
/// contents of this absolute path: the path itself, a directory above it or a link on the way, which another
/// user owns or may write. Directories with the sticky bit (/tmp) are accepted: users cannot remove each
/// other's files there. nullopt if there is none; a path that does not exist belongs to nobody.
std::optional<std::string> writable_by_others(const std::filesystem::path& path);

/// Creates the directory and its parents, for this user only; no error if it exists.
std::error_code make_directories(const std::filesystem::path& directory);

struct file_information {
    std::string name;
    std::uint64_t bytes = 0;
    std::chrono::system_clock::time_point modified{};
};

/// The regular files directly inside a directory, in unspecified order; none if it cannot be read.
std::vector<file_information> list_files(const std::filesystem::path& directory);

/// Removes a file or symbolic link, never a directory. True if it no longer exists.
bool remove_file(const std::filesystem::path& path) noexcept;

}  // namespace balm::runtime
