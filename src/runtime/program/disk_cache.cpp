// In: compiled programs under 256-bit keys. Out: the same bytes in a later process, or nothing. Correct
// without locks: files appear atomically by rename, are validated when read, and may vanish at any time.

#include "runtime/program/disk_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>

#include "base/system.hpp"

namespace balm::runtime {
namespace {

using std::chrono::system_clock;

constexpr std::uint64_t mebibyte = 1024 * 1024;
constexpr std::uint64_t default_limit_bytes = 512 * mebibyte;
constexpr std::size_t key_digits = 64;
constexpr std::string_view entry_suffix = ".bin";
constexpr std::size_t longest_description = 256;

// A writer that has taken an hour was killed; removing a live one's temporary only loses its entry.
constexpr auto stale_temporary_age = std::chrono::hours(1);

// Marking each use would be a round trip on network file systems, for an order that need not be exact.
constexpr auto use_resolution = std::chrono::minutes(10);
constexpr std::byte use_mark{'u'};
constexpr std::uint64_t most_uses = 65'536;  // more than a year of them

// The file: header, description, payload, and a byte for each marked use. All numbers are little-endian.
// `payload_digest` covers the payload, `header_digest` everything before itself and the description, so that
// a listing can trust what it shows. A byte is appended by a single write: any number of processes may append
// concurrently, which also sets the time of the last use.
struct header {
    static constexpr std::uint64_t expected_magic = 0x0a4e49424d4c4142u;  // "BALMBIN\n"
    static constexpr std::uint64_t expected_version = 2;
    static constexpr std::size_t words = 16;
    static constexpr std::size_t bytes = 8 * words;

    std::uint64_t magic = expected_magic;
    std::uint64_t version = expected_version;
    std::uint64_t description_length = 0;
    std::uint64_t payload_length = 0;
    digest key;
    digest payload_digest;
    digest header_digest;
};

using header_bytes = std::array<std::byte, header::bytes>;

header_bytes encode(const header& from) noexcept {
    std::array<std::uint64_t, header::words> words{from.magic, from.version, from.description_length,
                                                   from.payload_length};
    auto to = words.begin() + 4;
    for (const digest* each : {&from.key, &from.payload_digest, &from.header_digest})
        to = std::copy(each->words.begin(), each->words.end(), to);
    header_bytes bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(words[i / 8] >> (8 * (i % 8)));
    }
    return bytes;
}

header decode(const header_bytes& bytes) noexcept {
    std::array<std::uint64_t, header::words> words{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        words[i / 8] |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * (i % 8));
    }
    header made{words[0], words[1], words[2], words[3], {}, {}, {}};
    auto from = words.begin() + 4;
    for (digest* each : {&made.key, &made.payload_digest, &made.header_digest}) {
        std::copy_n(from, each->words.size(), each->words.begin());
        from += static_cast<std::ptrdiff_t>(each->words.size());
    }
    return made;
}

digest digest_of_header(header from, std::string_view description) noexcept {
    from.header_digest = {};
    return hasher{}.bytes(encode(from)).text(description).result();
}

std::string entry_name(const digest& key) { return to_hex(key) + std::string(entry_suffix); }

// Only files with names of this form are ever counted or removed: the directory may contain others.
std::optional<digest> key_of_entry(std::string_view name) noexcept {
    if (name.size() != key_digits + entry_suffix.size() || !name.ends_with(entry_suffix)) return std::nullopt;
    return digest_from_hex(name.substr(0, key_digits));
}

bool is_temporary(std::string_view name) noexcept {
    const std::size_t length = key_digits + entry_suffix.size();
    return name.size() > length && name[length] == '.' && name.ends_with(temporary_suffix) &&
           key_of_entry(name.substr(0, length));
}

/// The number of use marks after the payload, of a file that is long enough to hold it.
std::uint64_t uses_in(const input_file& file, const header& found) noexcept {
    return file.size() - header::bytes - found.description_length - found.payload_length;
}

// Reads and checks header and description, leaving the file at the payload.
std::optional<header> read_header(input_file& file, const digest& key, std::uint64_t limit_bytes,
                                  std::string& description) {
    header_bytes bytes;
    if (!file.trusted() || file.size() < bytes.size() || file.size() > limit_bytes || !file.read(bytes)) {
        return std::nullopt;
    }
    const header found = decode(bytes);
    if (found.magic != header::expected_magic || found.version != header::expected_version ||
        found.key != key) {
        return std::nullopt;
    }
    if (found.description_length > longest_description) return std::nullopt;
    const std::uint64_t behind_header = file.size() - bytes.size();
    if (found.description_length > behind_header) return std::nullopt;
    if (found.payload_length > behind_header - found.description_length) return std::nullopt;
    if (uses_in(file, found) > most_uses) return std::nullopt;
    description.resize(static_cast<std::size_t>(found.description_length));
    if (!file.read(std::as_writable_bytes(std::span(description)))) return std::nullopt;
    if (digest_of_header(found, description) != found.header_digest) return std::nullopt;
    return found;
}

std::optional<std::vector<std::byte>> read_entry(input_file& file, const std::filesystem::path& path,
                                                 const digest& key, std::uint64_t limit_bytes) {
    std::string description;
    const auto found = read_header(file, key, limit_bytes, description);
    if (!found) return std::nullopt;
    std::vector<std::byte> payload(static_cast<std::size_t>(found->payload_length));
    if (!file.read(payload) || digest_of(payload) != found->payload_digest) return std::nullopt;
    std::vector<std::byte> uses(static_cast<std::size_t>(uses_in(file, *found)));
    if (!file.read(uses) || std::count(uses.begin(), uses.end(), use_mark) != std::ssize(uses))
        return std::nullopt;
    if (system_clock::now() - file.modified() > use_resolution) {
        if (uses.size() < most_uses)
            file.mark_used_by(use_mark, path);
        else
            file.mark_used();
    }
    return payload;
}

std::vector<std::byte> entry_content(const digest& key, std::span<const std::byte> payload,
                                     std::string_view description) {
    header head;
    head.description_length = description.size();
    head.payload_length = payload.size();
    head.key = key;
    head.payload_digest = digest_of(payload);
    head.header_digest = digest_of_header(head, description);

    const header_bytes bytes = encode(head);
    const auto text = std::as_bytes(std::span(description.data(), description.size()));
    std::vector<std::byte> content;
    content.reserve(bytes.size() + text.size() + payload.size());
    content.insert(content.end(), bytes.begin(), bytes.end());
    content.insert(content.end(), text.begin(), text.end());
    content.insert(content.end(), payload.begin(), payload.end());
    return content;
}

// The text is printed to terminals.
std::string one_line(std::string_view text) {
    std::string line(text.substr(0, longest_description));
    for (char& letter : line) {
        if (static_cast<unsigned char>(letter) < 32 || letter == 127) letter = ' ';
    }
    return line;
}

bool is_absent(const std::error_code& fault) noexcept {
    return fault == std::errc::no_such_file_or_directory || fault == std::errc::not_a_directory;
}

void count(std::atomic<std::uint64_t>& counter) noexcept { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

digest make_key(const program_key_fields& fields) noexcept {
    return hasher{}
        .text(fields.kind)
        .text(fields.source)
        .text(fields.options)
        .text(fields.device)
        .text(fields.driver_version)
        .text(fields.balm_version)
        .result();
}

disk_cache::disk_cache(std::optional<std::filesystem::path> directory, std::uint64_t limit_bytes) noexcept
    : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

std::optional<std::string> disk_cache::refusal() const noexcept {
    try {
        if (directory_) return writable_by_others(*directory_);
        return std::nullopt;
    } catch (...) {
        return "out of memory while checking its directory";
    }
}

bool disk_cache::is_refused() noexcept {
    const std::optional<std::string> why = refusal();
    if (!why) return false;
    if (told_of_refusal_.exchange(true)) return true;
    try {
        const std::string text = fmt::format(
            "Balm: the cache of compiled kernels in '{}' is not used, because other users could put code "
            "there that this program would run: {}. Remove their write permission (chmod go-w), set "
            "BALM_CACHE_DIR to another directory, or disable the cache with BALM_CACHE=0.\n",
            directory_->string(), *why);
        std::fwrite(text.data(), 1, text.size(), stderr);
    } catch (...) {  // out of memory: no message
    }
    return true;
}

std::optional<std::vector<std::byte>> disk_cache::load(const digest& key) noexcept {
    try {
        if (directory_ && !is_refused()) {
            std::error_code fault;
            const std::filesystem::path path = *directory_ / entry_name(key);
            input_file file = input_file::open(path, fault);
            if (file) {
                auto payload = read_entry(file, path, key, limit_bytes_);
                count(payload ? hits_ : damaged_);
                return payload;
            }
            if (!is_absent(fault)) {
                count(damaged_);
                return std::nullopt;
            }
        }
        count(misses_);
    } catch (...) {
        count(damaged_);
    }
    return std::nullopt;
}

void disk_cache::store(const digest& key, std::span<const std::byte> payload,
                       std::string_view description) noexcept {
    if (!directory_) return;
    bool stored = false;
    try {
        stored = try_store(key, payload, description);
    } catch (...) {
        stored = false;
    }
    count(stored ? writes_ : failed_writes_);
}

bool disk_cache::try_store(const digest& key, std::span<const std::byte> payload,
                           std::string_view description) {
    const std::string line = one_line(description);
    const std::uint64_t bytes = header::bytes + line.size() + payload.size();
    if (bytes > limit_bytes_) return false;
    // At every store: the user may have removed the directory meanwhile.
    if (is_refused() || make_directories(*directory_)) return false;
    const std::vector<std::byte> content = entry_content(key, payload, line);
    const std::filesystem::path target = *directory_ / entry_name(key);

    make_room(bytes);
    struct write_scope {
        disk_cache& cache;
        std::uint64_t bytes;
        ~write_scope() { cache.end_write(bytes); }
    } const scope{*this, bytes};
    return !replace_file(target, content);
}

void disk_cache::make_room(std::uint64_t needed) {
    const std::lock_guard lock(room_);
    // A scan queries each file's status, so it runs only if this process, or others that write as much, may
    // have filled the directory.
    const bool may_be_full = estimated_bytes_ + needed > limit_bytes_;
    const bool outdated = written_since_scan_ > limit_bytes_ / 16;
    if (!scanned_ || may_be_full || outdated) scan_and_evict(needed);
    estimated_bytes_ += needed;
    written_since_scan_ += needed;
    being_written_ += needed;
}

void disk_cache::end_write(std::uint64_t bytes) noexcept {
    const std::lock_guard lock(room_);
    being_written_ -= bytes;
}

void disk_cache::scan_and_evict(std::uint64_t needed) {
    const auto now = system_clock::now();
    std::uint64_t bytes = being_written_;
    std::vector<file_information> entries;
    for (file_information& file : list_files(*directory_)) {
        if (is_temporary(file.name)) {
            const bool stale = now - file.modified > stale_temporary_age;
            if (!stale || !remove_file(*directory_ / file.name)) bytes += file.bytes;
        } else if (key_of_entry(file.name)) {
            bytes += file.bytes;
            entries.push_back(std::move(file));
        }
    }
    if (bytes + needed > limit_bytes_) {
        // To nine tenths, else every store to a full cache would scan.
        const std::uint64_t roomy = limit_bytes_ - limit_bytes_ / 10;
        std::sort(entries.begin(), entries.end(), [](const file_information& a, const file_information& b) {
            return std::tie(a.modified, a.name) < std::tie(b.modified, b.name);
        });
        for (const file_information& oldest : entries) {
            if (bytes + needed <= roomy) break;
            if (!remove_file(*directory_ / oldest.name)) continue;
            bytes -= oldest.bytes;
            count(evicted_);
        }
    }
    scanned_ = true;
    estimated_bytes_ = bytes;
    written_since_scan_ = 0;
}

disk_cache::statistics disk_cache::counts() const noexcept {
    return {hits_.load(),   misses_.load(),        damaged_.load(),
            writes_.load(), failed_writes_.load(), evicted_.load()};
}

std::vector<disk_cache::entry> disk_cache::list() const noexcept {
    std::vector<entry> entries;
    if (!directory_) return entries;
    try {
        for (const file_information& file : list_files(*directory_)) {
            const auto key = key_of_entry(file.name);
            if (!key) continue;
            entry each{*key, {}, file.bytes, file.modified, 0, true};
            std::error_code fault;
            input_file opened = input_file::open(*directory_ / file.name, fault);
            const auto no_limit = std::numeric_limits<std::uint64_t>::max();
            if (const auto found =
                    opened ? read_header(opened, *key, no_limit, each.description) : std::nullopt) {
                each.damaged = false;
                each.uses = 1 + uses_in(opened, *found);
            }
            if (each.damaged) each.description.clear();
            entries.push_back(std::move(each));
        }
        std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
            return std::tie(b.last_used, a.key) < std::tie(a.last_used, b.key);
        });
    } catch (...) {
        entries.clear();
    }
    return entries;
}

disk_cache::total disk_cache::size() const noexcept {
    total sum;
    if (!directory_) return sum;
    try {
        for (const file_information& file : list_files(*directory_)) {
            if (!key_of_entry(file.name)) continue;
            sum.entries += 1;
            sum.bytes += file.bytes;
        }
    } catch (...) {
        return {};
    }
    return sum;
}

std::uint64_t disk_cache::clear() noexcept {
    std::uint64_t removed = 0;
    if (!directory_) return removed;
    try {
        const std::lock_guard lock(room_);
        scanned_ = false;
        for (const file_information& file : list_files(*directory_)) {
            if (!key_of_entry(file.name) && !is_temporary(file.name)) continue;
            if (remove_file(*directory_ / file.name)) removed += 1;
        }
    } catch (...) {
        return removed;
    }
    return removed;
}

disk_cache_settings disk_cache_settings_from_environment() {
    disk_cache_settings settings{std::nullopt, default_limit_bytes};
    if (environment_variable("BALM_CACHE") != "0") settings.directory = cache_directory();
    if (const auto text = environment_variable("BALM_CACHE_SIZE")) {
        std::uint64_t size = 0;
        const char* end = text->data() + text->size();
        const auto [stopped, fault] = std::from_chars(text->data(), end, size);
        const bool is_number = fault == std::errc{} && stopped == end;
        if (is_number && size <= std::numeric_limits<std::uint64_t>::max() / mebibyte) {
            settings.limit_bytes = size * mebibyte;
        }
    }
    return settings;
}

disk_cache& default_cache() noexcept {
    try {
        static disk_cache* const cache = [] {
            const disk_cache_settings settings = disk_cache_settings_from_environment();
            return new disk_cache(settings.directory, settings.limit_bytes);
        }();
        return *cache;
    } catch (...) {  // out of memory: off this once, the next use tries again
        alignas(disk_cache) static std::byte room[sizeof(disk_cache)];
        static disk_cache* const off = new (room) disk_cache(std::nullopt, 0);
        return *off;
    }
}

}  // namespace balm::runtime
