// In: names of libraries, variables, files and directories. Out: their contents and properties. The POSIX
// version; the only file of Balm that includes the headers of an operating system.

#include "base/system.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

namespace balm::runtime {
namespace {

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

std::error_code fault_of(std::errc code) noexcept { return std::make_error_code(code); }

template <class Call>
auto retry_when_interrupted(Call call) noexcept {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

std::chrono::system_clock::time_point modification_time(const struct stat& status) noexcept {
#ifdef __APPLE__
    const timespec time = status.st_mtimespec;
#else
    const timespec time = status.st_mtim;
#endif
    // File systems store years beyond the range of nanoseconds since 1970, which ends in 2262. Times are
    // clamped to this range, so that differences from now do not overflow.
    using std::chrono::nanoseconds;
    using std::chrono::seconds;
    constexpr seconds::rep last = std::chrono::duration_cast<seconds>(nanoseconds::max()).count() - 1;
    const seconds::rep whole = std::clamp<seconds::rep>(time.tv_sec, 0, last);
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            seconds(whole) + nanoseconds(whole == time.tv_sec ? time.tv_nsec : 0)));
}

// The host name distinguishes machines that share a directory, the time distinguishes containers that share a
// host name and a process id; O_EXCL catches names that are still equal.
std::string unique_text() {
    static std::atomic<std::uint64_t> counter{0};
    std::string host = host_name().substr(0, 32);
    for (char& letter : host) {
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9');
        if (!plain) letter = '-';
    }
    const auto time = std::chrono::steady_clock::now().time_since_epoch().count();
    return fmt::format("{}-{}-{}-{}", host, process_id(), time, counter.fetch_add(1));
}

// Beyond this limit the kernel does not only refuse the write: it ends the process with SIGXFSZ.
bool exceeds_file_size_limit(std::size_t bytes) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

std::error_code write_all(int descriptor, std::span<const std::byte> content) noexcept {
    while (!content.empty()) {
        const auto written =
            retry_when_interrupted([&] { return ::write(descriptor, content.data(), content.size()); });
        if (written < 0) return last_error();
        if (written == 0) return fault_of(std::errc::io_error);
        content = content.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

struct new_file {
    int descriptor = -1;
    std::filesystem::path path;
};

new_file create_beside(const std::filesystem::path& target, std::error_code& fault) {
    for (int attempt = 0; attempt < 16; ++attempt) {
        std::filesystem::path path = target;
        path += fmt::format(".{}{}", unique_text(), temporary_suffix);
        const int descriptor = retry_when_interrupted(
            [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR); });
        if (descriptor >= 0) return {descriptor, std::move(path)};
        fault = last_error();
        if (fault != std::errc::file_exists) break;
    }
    return {};
}

// Locking needs no write permission, but some network file systems require it. An existing file is opened
// without O_CREAT, which Linux refuses for another user's file in a directory like /tmp
// (fs.protected_regular).
int open_lock_file(const char* path, std::error_code& fault) {
    constexpr int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    for (int attempt = 0; attempt < 16; ++attempt) {
        int descriptor = retry_when_interrupted([&] { return ::open(path, O_RDWR | flags); });
        if (descriptor < 0 && (errno == EACCES || errno == EROFS))
            descriptor = retry_when_interrupted([&] { return ::open(path, O_RDONLY | flags); });
        if (descriptor < 0 && errno == ENOENT) {
            descriptor = retry_when_interrupted(
                [&] { return ::open(path, O_RDWR | O_CREAT | O_EXCL | flags, S_IRUSR | S_IWUSR); });
            if (descriptor < 0 && errno == EEXIST) continue;  // another process was faster
            if (descriptor >= 0) (void)::fchmod(descriptor, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
        }
        if (descriptor >= 0) return descriptor;
        break;
    }
    fault = last_error();
    return -1;
}

bool is_regular_file(int descriptor) noexcept {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

bool names_this_file(const char* path, int descriptor) noexcept {
    struct stat open_file {
    }, named_file{};
    return ::fstat(descriptor, &open_file) == 0 && ::lstat(path, &named_file) == 0 &&
           open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

}  // namespace

shared_library::shared_library(shared_library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      keep_(other.keep_),
      name_(std::move(other.name_)),
      failures_(std::move(other.failures_)) {}

shared_library& shared_library::operator=(shared_library&& other) noexcept {
    if (this == &other) return *this;
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    keep_ = other.keep_;
    name_ = std::move(other.name_);
    failures_ = std::move(other.failures_);
    return *this;
}

shared_library::~shared_library() { close(); }

void shared_library::close() noexcept {
    if (handle_ != nullptr && !keep_) ::dlclose(handle_);
    handle_ = nullptr;
}

shared_library shared_library::open_first(std::span<const std::string> names) {
    shared_library library;
    for (const std::string& name : names) {
        // RTLD_LOCAL: a driver's symbols must not resolve references of other libraries in the process.
        library.handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle_ != nullptr) {
            library.name_ = name;
            break;
        }
        const char* reason = ::dlerror();
        library.failures_.push_back({name, reason != nullptr ? reason : "the system gave no reason"});
    }
    return library;
}

shared_library shared_library::of_program() {
    shared_library library;
    library.handle_ = ::dlopen(nullptr, RTLD_NOW);
    library.name_ = "the program";
    return library;
}

std::string shared_library::describe_failures() const {
    std::string line;
    for (const failure& each : failures_) {
        if (!line.empty()) line += "; ";
        // The loader's message usually begins with the name already.
        line +=
            each.reason.find(each.name) == std::string::npos ? each.name + ": " + each.reason : each.reason;
    }
    return line;
}

void* shared_library::symbol(const char* symbol_name) const noexcept {
    // A null handle would search the whole process.
    return handle_ != nullptr ? ::dlsym(handle_, symbol_name) : nullptr;
}

std::optional<std::string> environment_variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

std::optional<std::filesystem::path> cache_directory() {
    if (auto own = environment_variable("BALM_CACHE_DIR"); own && !own->empty()) {
        // Made absolute now: a later change of the working directory must not move the cache.
        std::error_code fault;
        std::filesystem::path absolute = std::filesystem::absolute(*own, fault);
        if (fault) return std::nullopt;
        return absolute;
    }
    if (auto caches = environment_variable("XDG_CACHE_HOME"); caches && caches->starts_with('/')) {
        return std::filesystem::path(*caches) / "balm";
    }
    if (auto home = environment_variable("HOME"); home && home->starts_with('/')) {
        return std::filesystem::path(*home) / ".cache" / "balm";
    }
    return std::nullopt;
}

void* allocate_in_large_pages(std::size_t bytes) noexcept {
    constexpr std::size_t page = std::size_t{2} << 20;  // on x86-64 and most 64-bit Arm systems
    if (bytes > std::numeric_limits<std::size_t>::max() - page) return nullptr;
    const std::size_t whole = (bytes + page - 1) / page * page;
    void* const memory = std::aligned_alloc(page, whole);
#ifdef MADV_HUGEPAGE
    if (memory != nullptr) ::madvise(memory, whole, MADV_HUGEPAGE);  // if refused, the pages are small
#endif
    return memory;
}

std::uint64_t process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }

bool call_in_forked_children(void (*what)()) noexcept {
    return ::pthread_atfork(nullptr, nullptr, what) == 0;
}

namespace {

stack_bounds ask_for_stack() noexcept {
#ifdef __APPLE__
    const auto high = reinterpret_cast<std::uintptr_t>(::pthread_get_stackaddr_np(::pthread_self()));
    return {high - ::pthread_get_stacksize_np(::pthread_self()), high};
#else
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
    void* low = nullptr;
    std::size_t size = 0, guard = 0;
    const bool is_known = ::pthread_attr_getstack(&attributes, &low, &size) == 0 &&
                          ::pthread_attr_getguardsize(&attributes, &guard) == 0;
    ::pthread_attr_destroy(&attributes);
    if (!is_known) return {};
    const auto begin = reinterpret_cast<std::uintptr_t>(low);
    return {begin + guard, begin + size};
#endif
}

}  // namespace

stack_bounds stack_of_thread() noexcept {
    thread_local const stack_bounds bounds = ask_for_stack();  // for the main thread, this reads a file
    return bounds;
}

void keep_loaded(const void* address) noexcept {
    Dl_info found;
    if (::dladdr(address, &found) != 0) ::dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

std::error_code try_to_open_files(std::size_t count) {
    std::vector<int> opened;
    opened.reserve(count);
    std::error_code found;
    while (!found && opened.size() < count) {
        const int file = retry_when_interrupted([] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); });
        if (file < 0)
            found = last_error();
        else
            opened.push_back(file);
    }
    for (const int file : opened) ::close(file);
    return found;
}

bool is_main_thread() noexcept {
#ifdef __APPLE__
    return ::pthread_main_np() != 0;
#else
    return ::syscall(SYS_gettid) == ::getpid();
#endif
}

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
    return name;
}

input_file::input_file(input_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      trusted_(other.trusted_),
      size_(other.size_),
      modified_(other.modified_) {}

input_file& input_file::operator=(input_file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(trusted_, other.trusted_);
    std::swap(size_, other.size_);
    std::swap(modified_, other.modified_);
    return *this;
}

input_file::~input_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

input_file input_file::open(const std::filesystem::path& path, std::error_code& fault) noexcept {
    input_file file;
    // O_NONBLOCK: opening a pipe would wait for its writer.
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    file.descriptor_ = retry_when_interrupted([&] { return ::open(path.c_str(), flags); });
    if (file.descriptor_ < 0) {
        fault = last_error();
        return {};
    }
    struct stat status {};
    if (::fstat(file.descriptor_, &status) != 0) {
        fault = last_error();
        return {};
    }
    if (!S_ISREG(status.st_mode)) {
        fault = fault_of(std::errc::invalid_argument);
        return {};
    }
    fault.clear();
    file.size_ = static_cast<std::uint64_t>(status.st_size);
    file.modified_ = modification_time(status);
    const bool is_own = status.st_uid == ::geteuid() || status.st_uid == 0;
    file.trusted_ = is_own && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return file;
}

bool input_file::read(std::span<std::byte> into) noexcept {
    while (!into.empty()) {
        const auto count =
            retry_when_interrupted([&] { return ::read(descriptor_, into.data(), into.size()); });
        if (count <= 0) return false;
        into = into.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

void input_file::mark_used() noexcept { (void)::futimens(descriptor_, nullptr); }

void input_file::mark_used_by(std::byte mark, const std::filesystem::path& path) noexcept {
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    const int file = exceeds_file_size_limit(size_ + sizeof mark)
                         ? -1
                         : retry_when_interrupted([&] { return ::open(path.c_str(), flags); });
    const bool is_marked = file >= 0 && ::write(file, &mark, sizeof mark) == sizeof mark;
    if (file >= 0) (void)::close(file);
    if (!is_marked) mark_used();
}

std::error_code replace_file(const std::filesystem::path& target, std::span<const std::byte> content) {
    if (exceeds_file_size_limit(content.size())) return fault_of(std::errc::file_too_large);

    std::error_code fault;
    const new_file temporary = create_beside(target, fault);
    if (temporary.descriptor < 0) return fault;

    fault = write_all(temporary.descriptor, content);
    // Network file systems may report a full disk only now.
    if (::close(temporary.descriptor) != 0 && !fault) fault = last_error();
    if (!fault && ::rename(temporary.path.c_str(), target.c_str()) != 0) fault = last_error();
    if (fault) ::unlink(temporary.path.c_str());
    return fault;
}

std::optional<std::string> writable_by_others(const std::filesystem::path& path) {
    // The owner of the root directory controls everything; in a container without a user 0 it is another
    // user.
    struct stat root {};
    const bool has_root = ::stat("/", &root) == 0;
    const auto is_trusted = [&](uid_t owner) {
        return owner == ::geteuid() || owner == 0 || (has_root && owner == root.st_uid);
    };
    std::vector<std::filesystem::path> left;  // remaining steps, the next one last
    const auto go_along = [&](const std::filesystem::path& steps) {
        const std::vector<std::filesystem::path> all(steps.begin(), steps.end());
        left.insert(left.end(), all.rbegin(), all.rend());
    };
    go_along(path.relative_path());
    std::filesystem::path at = "/";
    constexpr int most_links = 40;  // as in Linux
    for (int links = 0;;) {
        struct stat status {};
        if (::lstat(at.c_str(), &status) != 0) return std::nullopt;
        if (!is_trusted(status.st_uid))
            return fmt::format("'{}' belongs to user {}", at.string(), status.st_uid);
        if (S_ISLNK(status.st_mode)) {
            std::error_code fault;
            const std::filesystem::path target = std::filesystem::read_symlink(at, fault);
            if (fault || ++links > most_links) return std::nullopt;  // the path cannot be opened either
            go_along(target.relative_path());
            at = target.is_absolute() ? "/" : at.parent_path();
        } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0) {
            return fmt::format("'{}' is writable by {} (mode {:o})", at.string(),
                               (status.st_mode & S_IWOTH) != 0 ? "every user" : "its group",
                               status.st_mode & 07777u);
        }
        if (left.empty()) return std::nullopt;
        if (left.back() == "..")
            at = at.parent_path();
        else if (!left.back().empty() && left.back() != ".")
            at /= left.back();
        left.pop_back();
    }
}

std::error_code make_directories(const std::filesystem::path& directory) {
    if (::mkdir(directory.c_str(), S_IRWXU) == 0) return {};
    std::error_code fault = last_error();
    if (fault == std::errc::no_such_file_or_directory && directory.has_relative_path() &&
        directory.parent_path() != directory) {
        if (auto above = make_directories(directory.parent_path())) return above;
        if (::mkdir(directory.c_str(), S_IRWXU) == 0) return {};
        fault = last_error();
    }
    // mkdir reports various errors for an existing path (EEXIST, EROFS, EACCES …); an existing directory is
    // fine.
    struct stat status {};
    if (::stat(directory.c_str(), &status) == 0) {
        return S_ISDIR(status.st_mode) ? std::error_code{} : fault_of(std::errc::not_a_directory);
    }
    return fault;
}

file_lock::file_lock(file_lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

file_lock& file_lock::operator=(file_lock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

file_lock::~file_lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

file_lock file_lock::acquire(const std::filesystem::path& path, std::chrono::milliseconds patience,
                             std::error_code& fault) {
    const auto end = std::chrono::steady_clock::now() + patience;
    for (;;) {
        fault.clear();
        file_lock made(open_lock_file(path.c_str(), fault));
        if (!made) return made;
        if (!is_regular_file(made.descriptor_)) {
            fault = fault_of(std::errc::operation_not_supported);
            return {};
        }
        if (retry_when_interrupted([&] { return ::flock(made.descriptor_, LOCK_EX | LOCK_NB); }) == 0) {
            if (names_this_file(path.c_str(), made.descriptor_)) return made;
            continue;  // it was removed meanwhile: a lock on it excludes nobody
        }
        if (errno != EWOULDBLOCK) {
            fault = last_error();
            return {};
        }
        if (std::chrono::steady_clock::now() >= end) {
            fault = fault_of(std::errc::resource_unavailable_try_again);
            return {};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

std::filesystem::path lock_directory() {
    if (auto given = environment_variable("BALM_LOCK_DIR"); given && !given->empty()) return *given;
    constexpr const char* usual = "/run/lock";
    struct stat status {};
    const bool is_open_to_all = ::stat(usual, &status) == 0 && S_ISDIR(status.st_mode) &&
                                (status.st_mode & S_ISVTX) != 0 && (status.st_mode & S_IWOTH) != 0;
    return is_open_to_all ? usual : "/tmp";
}

std::vector<file_information> list_files(const std::filesystem::path& directory) {
    struct directory_closer {
        void operator()(DIR* stream) const noexcept { ::closedir(stream); }
    };
    std::vector<file_information> files;
    const std::unique_ptr<DIR, directory_closer> stream(::opendir(directory.c_str()));
    if (!stream) return files;
    while (const dirent* entry = ::readdir(stream.get())) {
        struct stat status {};
        if (::fstatat(::dirfd(stream.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!S_ISREG(status.st_mode)) continue;
        files.push_back(
            {entry->d_name, static_cast<std::uint64_t>(status.st_size), modification_time(status)});
    }
    return files;
}

bool remove_file(const std::filesystem::path& path) noexcept {
    return ::unlink(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace balm::runtime
