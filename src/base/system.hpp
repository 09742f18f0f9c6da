#pragma once
// In: names of libraries, variables, files and directories. Out: what the operating system has to say
// about them. Everything particular to one system is in system.cpp, so that a port replaces one file.

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

    /// Opens the first of the names that opens. Never throws for a library that is missing: the handle
    /// is then empty and failures() says why for each name.
    static shared_library open_first(std::span<const std::string> names);

    /// The program, with the libraries that it is linked with or was started with.
    static shared_library of_program();

    explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// The name that opened; empty if none did.
    const std::string& name() const noexcept { return name_; }

    /// The names tried in vain, in order.
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

    /// Leaves the library loaded for the life of the process. Drivers need it: their threads and exit
    /// handlers outlive any handle.
    void keep_loaded() noexcept { keep_ = true; }

private:
    void close() noexcept;

    void* handle_ = nullptr;
    bool keep_ = false;
    std::string name_;
    std::vector<failure> failures_;
};

/// The variable's value, empty text included; nothing if it is not set.
std::optional<std::string> environment_variable(const char* name);

/// Where compiled kernels are kept: $BALM_CACHE_DIR, else $XDG_CACHE_HOME/balm, else ~/.cache/balm, else
/// nothing (no home). Variables that are empty, and an $XDG_CACHE_HOME that is not absolute, count as not
/// set, as the XDG Base Directory Specification says. The directory need not exist.
std::optional<std::filesystem::path> cache_directory();

/// Memory in the largest pages that the system gives away without being set up for it: a walk through much of
/// it waits less for the translation of addresses. Null if there is none; std::free frees it.
void* allocate_in_large_pages(std::size_t bytes) noexcept;

std::uint64_t process_id() noexcept;

/// Has the function called in every process that is forked from this one from now on, before fork() returns
/// there. False where that cannot be.
bool call_in_forked_children(void (*what)()) noexcept;

/// Where the stack of the calling thread lies: from the lowest address that it may use to its beginning,
/// which is the highest. Zeros where the system does not say.
struct stack_bounds {
    std::uintptr_t low = 0, high = 0;
};
stack_bounds stack_of_thread() noexcept;

/// Has the program or shared library that contains this address stay loaded to the end of the process.
void keep_loaded(const void* address) noexcept;

/// Whether the calling thread is the one that began the process.
bool is_main_thread() noexcept;

/// The machine's name; "localhost" if the system does not tell.
std::string host_name();

/// A regular file opened for reading. Symbolic links, directories, pipes and devices are refused without
/// waiting for them.
class input_file {
public:
    input_file() = default;
    input_file(input_file&& other) noexcept;
    input_file& operator=(input_file&& other) noexcept;
    input_file(const input_file&) = delete;
    input_file& operator=(const input_file&) = delete;
    ~input_file();

    /// An empty handle and a reason in `fault` if the file cannot be opened.
    static input_file open(const std::filesystem::path& path, std::error_code& fault) noexcept;

    explicit operator bool() const noexcept { return descriptor_ >= 0; }
    std::uint64_t size() const noexcept { return size_; }
    std::chrono::system_clock::time_point modified() const noexcept { return modified_; }

    /// Whether only this user (or the system's administrator) can have written the file, as far as its owner
    /// and mode tell. The mode of a file with an access control list has the list's rights in its group bits.
    bool trusted() const noexcept { return trusted_; }

    /// Fills the whole of `into` from where the last read ended; false if the file ends first or fails.
    bool read(std::span<std::byte> into) noexcept;

    /// Sets the file's time of modification to now; a fault is ignored.
    void mark_used() noexcept;
    /// The same by one more byte at the end of the file, which is at this path; where it cannot be written,
    /// only the time is set.
    void mark_used_by(std::byte mark, const std::filesystem::path& path) noexcept;

private:
    int descriptor_ = -1;
    bool trusted_ = false;
    std::uint64_t size_ = 0;
    std::chrono::system_clock::time_point modified_{};
};

/// A lock between processes: a file that one holder at a time has locked. It goes with the handle, and with
/// the process however that ends; the file stays. Two handles of one process keep each other out too.
class file_lock {
public:
    file_lock() = default;
    file_lock(file_lock&& other) noexcept;
    file_lock& operator=(file_lock&& other) noexcept;
    file_lock(const file_lock&) = delete;
    file_lock& operator=(const file_lock&) = delete;
    ~file_lock();

    /// Makes the file if there is none, such that every user may lock it, and locks it, waiting for at most
    /// this long while another holds it. The handle is then empty and `fault` is
    /// std::errc::resource_unavailable_try_again; another fault if the file cannot be made or opened. A
    /// symbolic link is not followed.
    static file_lock acquire(const std::filesystem::path& path, std::chrono::milliseconds patience,
                             std::error_code& fault);

    explicit operator bool() const noexcept { return descriptor_ >= 0; }

private:
    explicit file_lock(int descriptor) noexcept : descriptor_(descriptor) {}
    int descriptor_ = -1;
};

/// Where processes of all users meet over what the machine has one of: $BALM_LOCK_DIR, else /run/lock where
/// every user may make files in it, else /tmp. The same for every user: the user's own variables for
/// temporary files play no part.
std::filesystem::path lock_directory();

/// The end of the names of replace_file's temporaries: `<target's name>.<unique text>.tmp`.
inline constexpr std::string_view temporary_suffix = ".tmp";

/// Puts a file with this content at `target`, at once or not at all, for this user's eyes only. Readers see
/// the old file, the new one or none, never a part, on network file systems too: a temporary with a unique
/// name in the same directory is written and renamed. After a fault (which is returned) no temporary
/// remains; after a kill one may. A symbolic link at `target` is replaced, not followed.
std::error_code replace_file(const std::filesystem::path& target, std::span<const std::byte> content);

/// Which file or directory lets other users than this one and the system's administrator change what lies
/// under this absolute path, in words: the path itself, or one above it, or a link on the way, that is
/// somebody else's or may be written by others. Directories with the sticky bit (/tmp) may: there nobody
/// removes what others own. Nothing where nobody else can; what does not exist is nobody's.
std::optional<std::string> writable_by_others(const std::filesystem::path& path);

/// Makes the directory and those above it, for this user only; no fault if it exists.
std::error_code make_directories(const std::filesystem::path& directory);

struct file_information {
    std::string name;
    std::uint64_t bytes = 0;
    std::chrono::system_clock::time_point modified{};
};

/// The regular files directly inside a directory, in no order. One that cannot be read has none.
std::vector<file_information> list_files(const std::filesystem::path& directory);

/// Removes a file or symbolic link, never a directory. True if it is gone, whoever removed it.
bool remove_file(const std::filesystem::path& path) noexcept;

}  // namespace balm::runtime
