// Bytes as BALM_* variables: each line is NAME=value. What they ask for is read, or refused by a short
// sentence that names the variable.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "balm/error.hpp"
#include "base/system.hpp"
#include "fuzz/fuzz.hpp"
#include "runtime/choice/filter_judge.hpp"
#include "runtime/program/disk_cache.hpp"

namespace {

using balm::fuzz::expect;

constexpr const char* variables[] = {
    "BALM_DEVICE", "BALM_PLATFORM",   "BALM_TYPE",      "BALM_BACKEND",  "BALM_POSITION",  "BALM_MAX_DEVICES",
    "BALM_CACHE",  "BALM_CACHE_SIZE", "BALM_CACHE_DIR", "BALM_LOCK_DIR", "XDG_CACHE_HOME", "HOME"};

void set_variables(std::string_view lines) {
    for (const char* name : variables) ::unsetenv(name);
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        for (const char* name : variables) {
            const std::string start = std::string(name) + "=";
            if (!line.starts_with(start) || line.find('\0') != line.npos) continue;
            ::setenv(name, std::string(line.substr(start.size())).c_str(), 1);
        }
    }
}

/// One line that a terminal shows: no control character, and not without end.
bool is_sentence(std::string_view words) {
    for (const char c : words)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    return words.size() < 1000;
}

void read_filter() {
    balm::environment_filter asked;
    try {
        asked = balm::read_environment_filter();
    } catch (const balm::usage_error& refused) {
        expect(is_sentence(refused.what()), "a refusal is one short line", refused.what());
        expect(std::string_view(refused.what()).starts_with("BALM_"), "a refusal names the variable");
        return;
    }
    expect(is_sentence(asked.words), "variables are shown in one short line", asked.words);
    const auto number = [](const char* name) {
        return balm::runtime::environment_variable(name).value_or("");
    };
    if (asked.position)
        expect(std::stoull(number("BALM_POSITION")) == *asked.position,
               "a position is the number that was given");
    if (asked.max_devices) expect(*asked.max_devices > 0, "a count of devices is at least 1");
    if (!asked.choice) return;
    balm::device_info info;
    info.name = "NVIDIA H200";
    info.platform = "NVIDIA CUDA";
    info.type = balm::device_type::gpu;
    balm::detail::selection first, second;
    const auto verdict = asked.choice->judge(info, first);
    expect(is_sentence(verdict.words) && !verdict.words.empty(), "a verdict is one short line",
           verdict.words);
    expect(verdict.accepted == asked.choice->judge(info, second).accepted, "a filter judges alike twice");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    set_variables({reinterpret_cast<const char*>(data), size});
    read_filter();
    const auto settings = balm::runtime::disk_cache_settings_from_environment();
    expect(settings.limit_bytes % (1024 * 1024) == 0, "a cache is limited in MiB");
    if (balm::runtime::environment_variable("BALM_CACHE") == "0")
        expect(!settings.directory, "BALM_CACHE=0 is off");
    if (settings.directory) expect(!settings.directory->empty(), "a cache has a directory");
    expect(!balm::runtime::lock_directory().empty(), "locks have a directory");
    return 0;
}
