// Files of plans. In: a device. Out: one of its candidates. A file has four lines of text:
//
//     balm heat plan 2
//     device: opencl, The pocl project, pthread-haswell, 8 compute units, driver 3.1
//     plan: stream 8 272x144 1x1 0
//     cells per second: 8.4e+09

#include "plan_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "pending_file.hpp"
#include "terminal/progress.hpp"

namespace heat {
namespace {

// The number is incremented when changed kernels may make old plans slower than others.
constexpr std::string_view first_line = "balm heat plan 2";
constexpr std::size_t largest_file = 4096;

std::string words_of(const plan& plan) {
    constexpr std::array<const char*, 4> methods{"single", "tile", "sweep", "stream"};
    return fmt::format("{} {} {}x{} {}x{} {}", methods.at(static_cast<std::size_t>(plan.method)), plan.steps,
                       plan.tile_width, plan.tile_height, plan.item_width, plan.item_height, plan.at_once);
}

// The properties that a plan depends on, as one line.
std::string identity(const balm::device_info& device) {
    std::string line = fmt::format("{}, {}, {}, {} compute units, driver {}", balm::to_string(device.api),
                                   device.platform, device.name, device.compute_units, device.driver_version);
    for (char& letter : line)
        if (letter < ' ' || letter > '~') letter = '?';
    if (line.size() > 1000) line.resize(1000);
    return line;
}

// The contents of the file up to the rate.
std::string contents(const balm::device_info& device, const plan& plan) {
    return fmt::format("{}\ndevice: {}\nplan: {}\ncells per second: ", first_line, identity(device),
                       words_of(plan));
}

std::optional<std::string> set_variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == 0) return std::nullopt;
    return value;
}

struct descriptor {
    int number;
    explicit descriptor(int opened) : number(opened) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (number >= 0) ::close(number);
    }
};

// Reads the file, or sets `fault` unless it is absent. Refuses links, pipes and devices without blocking.
std::optional<std::string> read_small_file(const std::filesystem::path& path, std::string& fault) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    struct stat found {};
    if (file.number < 0 || ::fstat(file.number, &found) != 0) {
        if (errno != ENOENT && errno != ENOTDIR) fault = last_system_error();
        return std::nullopt;
    }
    if (!S_ISREG(found.st_mode)) {
        fault = "it is not a regular file";
        return std::nullopt;
    }
    std::string text(largest_file + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t count = ::read(file.number, text.data() + size, text.size() - size);
        if (count < 0) {
            fault = last_system_error();
            return std::nullopt;
        }
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    if (size > largest_file) {
        fault = "it is too large";
        return std::nullopt;
    }
    text.resize(size);
    return text;
}

// The rate at the end of the file; 0 if it is invalid.
double rate_of(std::string_view text) {
    double rate = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), rate);
    const bool is_whole = fault == std::errc{} && std::string_view(stop, text.data() + text.size()) == "\n";
    return is_whole && std::isfinite(rate) && rate > 0 ? rate : 0;
}

}  // namespace

std::optional<std::filesystem::path> plan_folder() {
    if (set_variable("BALM_CACHE") == "0") return std::nullopt;
    if (const auto folder = set_variable("BALM_CACHE_DIR")) return *folder;
    if (const auto caches = set_variable("XDG_CACHE_HOME"); caches && caches->front() == '/')
        return std::filesystem::path(*caches) / "balm";
    if (const auto home = set_variable("HOME"); home && home->front() == '/')
        return std::filesystem::path(*home) / ".cache" / "balm";
    return std::nullopt;
}

std::string plan_file_name(const balm::device_info& device) {
    std::uint64_t hash =
        0xcbf29ce484222325;  // FNV-1a; the file repeats what is hashed, so collisions are found
    for (const char letter : identity(device))
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return fmt::format("heat_plan_{:016x}.txt", hash);
}

std::filesystem::path store_plan(const std::filesystem::path& folder, const balm::device_info& device,
                                 const plan& plan, double cells_per_second) {
    const std::vector<heat::plan> known = candidate_plans(device);
    if (std::find(known.begin(), known.end(), plan) == known.end())
        throw std::invalid_argument(fmt::format("\"{}\" is not a plan for {}", describe(plan), device.name));
    if (!std::isfinite(cells_per_second) || cells_per_second <= 0)
        throw std::invalid_argument("a plan needs a measured rate that is finite and positive");
    std::error_code fault;
    const bool is_there = std::filesystem::exists(folder, fault);
    std::filesystem::create_directories(folder, fault);
    if (fault)
        throw std::runtime_error(
            fmt::format("the folder \"{}\" cannot be created: {}", folder.string(), fault.message()));
    // Private, as Balm makes it: kernels are loaded only from a folder that others cannot write to.
    if (!is_there) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, fault);
    std::filesystem::path path = folder / plan_file_name(device);
    const std::string text = contents(device, plan) + fmt::format("{:.3g}\n", cells_per_second);
    pending_file file(path.string(), "plan");
    file.write(text.data(), text.size());
    file.complete();
    return path;
}

chosen_plan choose_plan(const std::optional<std::filesystem::path>& folder, const balm::device_info& device) {
    chosen_plan result{plan_for(device), "the table of plans", {}};
    if (!folder) return result;
    const std::filesystem::path path = *folder / plan_file_name(device);
    std::string fault;
    if (const std::optional<std::string> text = read_small_file(path, fault)) {
        fault = "it is damaged, or belongs to another device";
        for (const plan& each : candidate_plans(device)) {
            const std::string expected = contents(device, each);
            if (text->compare(0, expected.size(), expected) != 0) continue;
            const double rate = rate_of(std::string_view(*text).substr(expected.size()));
            if (rate > 0)
                return {each,
                        fmt::format("\"{}\", measured at {}", path.string(),
                                    balm::terminal::rate_text(rate, "cell")),
                        {}};
        }
    }
    if (!fault.empty())
        result.warning = fmt::format("the stored plan \"{}\" is ignored: {}", path.string(), fault);
    return result;
}

}  // namespace heat
