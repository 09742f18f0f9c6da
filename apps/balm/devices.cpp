// `balm devices`: what is known of every device, for people and as JSON. Asks drivers, starts nothing.
//
// Each field is listed once, with its words and its JSON value; its label is its key.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "balm/context.hpp"
#include "balm/error.hpp"
#include "balm/version.hpp"
#include "command.hpp"
#include "runtime/platform.hpp"

namespace balm::tool {

namespace {

using json = nlohmann::ordered_json;

struct field {
    std::string key;  ///< of device_info, or "compiler"
    std::string words;
    json value;
};

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

field text(const char* key, const std::string& value) { return {key, or_unknown(value), value}; }
field flag(const char* key, bool value) { return {key, value ? "yes" : "no", value}; }
field bytes(const char* key, std::uint64_t value) {
    return {key, value == 0 ? "unknown" : in_bytes(value), value};
}
field number(const char* key, std::uint64_t value, const char* unit = "") {
    return {key, value == 0 ? "unknown" : fmt::format("{}{}", value, unit), value};
}

/// SIZE_MAX is no limit: null, since few JSON readers hold it exactly.
field sizes(const char* key, std::span<const std::size_t> values) {
    std::vector<std::string> words;
    json list = json::array();
    for (std::size_t value : values) {
        const bool unlimited = value == std::numeric_limits<std::size_t>::max();
        words.push_back(unlimited ? "no limit" : std::to_string(value));
        list.push_back(unlimited ? json(nullptr) : json(value));
    }
    return {key, fmt::format("{}", fmt::join(words, " x ")), list};
}

/// As the drivers' own tools write it: 8-4-4-4-12 digits.
field uuid(const std::array<std::uint8_t, 16>& value) {
    if (std::all_of(value.begin(), value.end(), [](auto byte) { return byte == 0; }))
        return {"uuid", "unknown", nullptr};
    std::string digits;
    for (std::size_t k = 0; k < value.size(); ++k)
        digits += fmt::format("{}{:02x}", k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", value[k]);
    return {"uuid", digits, digits};
}

field extensions(const std::string& names) {
    json list = json::array();
    std::string words;
    for (std::size_t at = 0; at < names.size();) {
        const std::size_t end = std::min(names.find(' ', at), names.size());
        if (end > at) {
            list.push_back(names.substr(at, end - at));
            words += (words.empty() ? "" : " ") + names.substr(at, end - at);
        }
        at = end + 1;
    }
    return {"extensions", words.empty() ? "none" : words, list};
}

std::vector<field> fields_of(const runtime::device_state& device) {
    const device_info& d = device.info();
    return {text("name", d.name),
            text("vendor", d.vendor),
            text("api", to_string(d.api)),
            text("type", to_string(d.type)),
            flag("is_available", d.is_available),
            text("platform", d.platform),
            text("platform_version", d.platform_version),
            text("version", d.version),
            text("language_version", d.language_version),
            text("driver_version", d.driver_version),
            text("compiler", device.driver().compiler()),
            uuid(d.uuid),
            text("pci_address", d.pci_address),
            number("compute_units", d.compute_units),
            number("max_clock", d.max_clock, " MHz"),
            number("address_bits", d.address_bits),
            flag("little_endian", d.little_endian),
            bytes("global_memory", d.global_memory),
            bytes("max_allocation", d.max_allocation),
            bytes("local_memory", d.local_memory),
            bytes("constant_memory", d.constant_memory),
            bytes("global_cache", d.global_cache),
            bytes("global_cache_line", d.global_cache_line),
            bytes("memory_alignment", d.memory_alignment),
            bytes("max_parameter_bytes", d.max_parameter_bytes),
            flag("error_correction", d.error_correction),
            flag("unified_memory", d.unified_memory),
            number("max_work_group_size", d.max_work_group_size, " work-items"),
            sizes("max_work_item_sizes", d.max_work_item_sizes),
            sizes("max_group_counts", d.max_group_counts),
            d.sub_group_size == 0 ? field{"sub_group_size", "no sub-groups", 0}
                                  : number("sub_group_size", d.sub_group_size, " work-items"),
            number("timer_resolution", d.timer_resolution, " ns"),
            flag("has_double", d.has_double),
            flag("has_half", d.has_half),
            flag("has_images", d.has_images),
            flag("has_fma", d.has_fma),
            flag("has_correctly_rounded_divide", d.has_correctly_rounded_divide),
            extensions(d.extensions)};
}

/// The positions that a default context takes, or why it takes none.
struct default_choice {
    std::vector<std::size_t> positions;
    std::string fault;

    bool takes(std::size_t position) const {
        return std::find(positions.begin(), positions.end(), position) != positions.end();
    }
};

default_choice choose_as_a_default_context() {
    default_choice made;
    const auto& devices = runtime::platforms().devices;
    try {
        const context chosen;
        for (std::size_t k = 0; k < devices.size(); ++k)
            for (const device& each : chosen.devices())
                if (each.state() == devices[k]) made.positions.push_back(k);
    } catch (const error& fault) {
        made.fault = fault.what();
    }
    return made;
}

/// Breaks at spaces so that lines stay within 100 columns; further lines are indented.
std::string wrapped(const std::string& words, std::size_t indent) {
    constexpr std::size_t columns = 100;
    std::string lines;
    std::size_t used = indent;
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        if (used > indent && used + 1 + (end - at) > columns) {
            lines += '\n' + std::string(indent, ' ');
            used = indent;
        } else if (at > 0) {
            lines += ' ';
            ++used;
        }
        lines.append(words, at, end - at);
        used += end - at;
        at = end + 1;
    }
    return lines;
}

void print_device(std::size_t position, const runtime::device_state& device, bool is_default) {
    const device_info& info = device.info();
    fmt::print("{}: {} ({} {}){}\n", position, or_unknown(info.name), to_string(info.api),
               to_string(info.type), is_default ? "  <- a default context takes it" : "");
    constexpr std::size_t label_width = 30;
    for (field f : fields_of(device)) {
        std::replace(f.key.begin(), f.key.end(), '_', ' ');
        fmt::print("   {:{}}{}\n", f.key, label_width, wrapped(f.words, 3 + label_width));
    }
    fmt::print("\n");
}

void print_devices() {
    const runtime::platform_list& found = runtime::platforms();
    const default_choice chosen = choose_as_a_default_context();
    for (std::size_t k = 0; k < found.devices.size(); ++k)
        print_device(k, *found.devices[k], chosen.takes(k));
    if (found.devices.empty())
        fmt::print("There is no device on this machine.\n");
    else if (!chosen.fault.empty())
        fmt::print("A default context fails: {}\n", chosen.fault);
    for (const std::string& note : found.notes) fmt::print("note: {}\n", note);
}

json devices_as_json() {
    const runtime::platform_list& found = runtime::platforms();
    const default_choice chosen = choose_as_a_default_context();
    json devices = json::array();
    for (std::size_t k = 0; k < found.devices.size(); ++k) {
        json device{{"position", k}, {"is_default", chosen.takes(k)}};
        for (field& f : fields_of(*found.devices[k])) device[f.key] = std::move(f.value);
        devices.push_back(std::move(device));
    }
    return {{"balm_version", BALM_VERSION},
            {"devices", std::move(devices)},
            {"default_context",
             {{"positions", chosen.positions},
              {"error", chosen.fault.empty() ? json(nullptr) : json(chosen.fault)}}},
            {"notes", found.notes}};
}

}  // namespace

command add_devices(CLI::App& balm) {
    CLI::App* const line = balm.add_subcommand("devices", "Every device of the machine, best first");
    const auto as_json = std::make_shared<bool>(false);
    add_json_flag(*line, *as_json);
    return {line, [as_json] {
                if (*as_json)
                    print_json(devices_as_json());
                else
                    print_devices();
                return 0;
            }};
}

}  // namespace balm::tool
