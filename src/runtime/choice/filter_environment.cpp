// The choice of devices by the environment: from variables to a filter.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "balm/error.hpp"
#include "base/system.hpp"
#include "runtime/choice/filter_judge.hpp"

namespace balm {

namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

device_filter type_named(const std::string& value) {
    const std::string wanted = lower(value);
    if (wanted == "gpu") return filter::gpu;
    if (wanted == "cpu") return filter::cpu;
    if (wanted == "accelerator") return filter::accelerator;
    throw usage_error(fmt::format("BALM_TYPE is '{}', but must be gpu, cpu or accelerator.", shown(value)));
}

device_filter backend_named(const std::string& value) {
    const std::string wanted = lower(value);
    if (wanted == "opencl") return filter::backend(backend::opencl);
    if (wanted == "cuda") return filter::backend(backend::cuda);
    throw usage_error(fmt::format("BALM_BACKEND is '{}', but must be opencl or cuda.", shown(value)));
}

std::size_t number_of(const char* variable, const std::string& value, std::size_t least) {
    std::size_t number = 0;
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (fault != std::errc() || end != value.data() + value.size() || number < least)
        throw usage_error(fmt::format("{} is '{}', but must be a whole number, {} or more.", variable,
                                      shown(value), least));
    return number;
}

/// Reads variables that are set and not empty, and notes them as text.
class reader {
public:
    std::optional<std::string> value(const char* variable) {
        auto found = runtime::environment_variable(variable);
        if (!found.has_value() || found->empty()) return std::nullopt;
        words_ += fmt::format("{}{}={}", words_.empty() ? "" : ", ", variable, shown(*found));
        return found;
    }
    const std::string& words() const { return words_; }

private:
    std::string words_;
};

}  // namespace

std::string shown(std::string_view value) {
    constexpr std::size_t longest = 80;
    std::string text;
    for (const char each : value.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(each);
        text += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, each);
    }
    return value.size() > longest ? text + "..." : text;
}

environment_filter read_environment_filter() {
    environment_filter asked;
    reader environment;
    const auto add = [&](const device_filter& more) {
        asked.choice = asked.choice.has_value() ? *asked.choice && more : more;
    };
    if (const auto value = environment.value("BALM_DEVICE")) add(filter::name(*value));
    if (const auto value = environment.value("BALM_PLATFORM")) add(filter::platform(*value));
    if (const auto value = environment.value("BALM_TYPE")) add(type_named(*value));
    if (const auto value = environment.value("BALM_BACKEND")) add(backend_named(*value));
    if (const auto value = environment.value("BALM_MAX_DEVICES"))
        asked.max_devices = number_of("BALM_MAX_DEVICES", *value, 1);
    if (const auto value = environment.value("BALM_POSITION"))
        asked.position = number_of("BALM_POSITION", *value, 0);
    asked.words = environment.words();
    return asked;
}

}  // namespace balm
