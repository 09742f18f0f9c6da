// `balm devices`: one line per device, or all of its properties, as text or JSON. Queries the drivers,
// launches nothing.
//
// Each field is listed once, with its text and its JSON value; its label is its key.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "balm/context.hpp"
#include "balm/error.hpp"
#include "balm/version.hpp"
#include "command.hpp"
#include "finding.hpp"
#include "runtime/device/platform.hpp"
#include "terminal/terminal.hpp"

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

/// SIZE_MAX means no limit: null in JSON, since few readers represent it exactly.
field limit(const char* key, std::size_t value) {
    const bool unlimited = value == std::numeric_limits<std::size_t>::max();
    return {key, unlimited ? "no limit" : std::to_string(value), unlimited ? json(nullptr) : json(value)};
}

field sizes(const char* key, std::span<const std::size_t> values) {
    std::vector<std::string> words;
    json list = json::array();
    for (std::size_t value : values) {
        const field each = limit("", value);
        words.push_back(each.words);
        list.push_back(each.value);
    }
    return {key, fmt::format("{}", fmt::join(words, " x ")), list};
}

field uuid(const device_info& d) {
    const std::string digits = d.uuid_text();
    return {"uuid", or_unknown(digits), digits.empty() ? json(nullptr) : json(digits)};
}

/// Splits a list of names at a separator.
field names(const char* key, const std::string& all, char between) {
    json list = json::array();
    std::string words;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find(between, at), all.size());
        if (end > at) {
            list.push_back(all.substr(at, end - at));
            words += (words.empty() ? "" : " ") + all.substr(at, end - at);
        }
        at = end + 1;
    }
    return {key, words.empty() ? "none" : words, list};
}

/// A list of flags: the text names those that are true, JSON has all.
field choices(const char* key, std::initializer_list<std::pair<const char*, bool>> all) {
    json object = json::object();
    std::string words;
    for (const auto& [name, holds] : all) {
        object[name] = holds;
        if (holds) words += (words.empty() ? "" : ", ") + std::string(name);
    }
    std::replace(words.begin(), words.end(), '_', ' ');
    return {key, words.empty() ? "none" : words, object};
}

field arithmetic(const char* key, const float_support& f) {
    return choices(key, {{"denormals", f.denormals},
                         {"infinities_and_nans", f.infinities_and_nans},
                         {"rounds_to_nearest", f.rounds_to_nearest},
                         {"rounds_to_zero", f.rounds_to_zero},
                         {"rounds_to_infinity", f.rounds_to_infinity},
                         {"fma", f.fma},
                         {"correctly_rounded_divide", f.correctly_rounded_divide},
                         {"in_software", f.in_software}});
}

field widths(const char* key, const vector_widths& w) {
    const std::initializer_list<std::pair<const char*, std::uint32_t>> all{
        {"int8", w.int8},       {"int16", w.int16},     {"int32", w.int32},    {"int64", w.int64},
        {"float16", w.float16}, {"float32", w.float32}, {"float64", w.float64}};
    json object = json::object();
    std::string words;
    for (const auto& [name, lanes] : all) {
        object[name] = lanes;
        if (lanes != 0) words += fmt::format("{}{} x {}", words.empty() ? "" : ", ", lanes, name);
    }
    return {key, or_unknown(words), object};
}

field images(const device_info& d) {
    const image_limits& i = d.images;
    const json object{{"size_2d", i.size_2d},         {"size_3d", i.size_3d},
                      {"buffer_size", i.buffer_size}, {"array_size", i.array_size},
                      {"read_images", i.read_images}, {"write_images", i.write_images},
                      {"samplers", i.samplers},       {"size_1d", i.size_1d}};
    if (!d.has_images) return {"images", "none", object};
    std::string words =
        fmt::format("{} pixels, {} pixels, {} pixels, {} pixels of a buffer, {} in an array", i.size_1d,
                    fmt::join(i.size_2d, " x "), fmt::join(i.size_3d, " x "), i.buffer_size, i.array_size);
    if (i.read_images != 0)
        words += fmt::format("; per kernel: {} to read, {} to write, {} samplers", i.read_images,
                             i.write_images, i.samplers);
    return {"images", words, object};
}

field partition(const partition_support& p) {
    field made = choices("partition", {{"equally", p.equally},
                                       {"by_counts", p.by_counts},
                                       {"by_numa", p.by_numa},
                                       {"by_l4_cache", p.by_l4_cache},
                                       {"by_l3_cache", p.by_l3_cache},
                                       {"by_l2_cache", p.by_l2_cache},
                                       {"by_l1_cache", p.by_l1_cache}});
    if (p.max_sub_devices > 1) made.words += fmt::format("; up to {} sub-devices", p.max_sub_devices);
    made.value["max_sub_devices"] = p.max_sub_devices;
    return made;
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
            uuid(d),
            text("pci_address", d.pci_address),
            {"vendor_id", d.vendor_id == 0 ? "unknown" : fmt::format("{:#06x}", d.vendor_id), d.vendor_id},
            text("profile", d.profile),
            number("compute_units", d.compute_units),
            number("max_clock", d.max_clock, " MHz"),
            number("address_bits", d.address_bits),
            flag("little_endian", d.little_endian),
            bytes("global_memory", d.global_memory),
            bytes("max_allocation", d.max_allocation),
            bytes("local_memory", d.local_memory),
            flag("has_own_local_memory", d.has_own_local_memory),
            bytes("constant_memory", d.constant_memory),
            number("max_constant_arguments", d.max_constant_arguments),
            bytes("max_parameter_bytes", d.max_parameter_bytes),
            bytes("global_cache", d.global_cache),
            bytes("global_cache_line", d.global_cache_line),
            text("global_cache_type", to_string(d.global_cache_type)),
            bytes("memory_alignment", d.memory_alignment),
            bytes("type_alignment", d.type_alignment),
            bytes("printf_buffer", d.printf_buffer),
            flag("error_correction", d.error_correction),
            flag("unified_memory", d.unified_memory),
            choices("shared_virtual_memory", {{"allocations", d.shared_virtual_memory.allocations},
                                              {"at_once", d.shared_virtual_memory.at_once},
                                              {"all_memory", d.shared_virtual_memory.all_memory},
                                              {"atomics", d.shared_virtual_memory.atomics}}),
            number("max_dimensions", d.max_dimensions),
            number("max_work_group_size", d.max_work_group_size, " work-items"),
            sizes("max_work_item_sizes", d.max_work_item_sizes),
            sizes("max_group_counts", d.max_group_counts),
            limit("max_groups", d.max_groups),
            d.sub_group_size == 0 ? field{"sub_group_size", "no sub-groups", 0}
                                  : number("sub_group_size", d.sub_group_size, " work-items"),
            widths("preferred_vectors", d.preferred_vectors),
            widths("native_vectors", d.native_vectors),
            number("timer_resolution", d.timer_resolution, " ns"),
            flag("has_double", d.has_double),
            flag("has_half", d.has_half),
            flag("has_fma", d.has_fma),
            flag("has_correctly_rounded_divide", d.has_correctly_rounded_divide),
            arithmetic("half_arithmetic", d.half_arithmetic),
            arithmetic("single_arithmetic", d.single_arithmetic),
            arithmetic("double_arithmetic", d.double_arithmetic),
            flag("has_images", d.has_images),
            images(d),
            flag("has_compiler", d.has_compiler),
            flag("has_linker", d.has_linker),
            flag("runs_native_kernels", d.runs_native_kernels),
            flag("has_out_of_order_queues", d.has_out_of_order_queues),
            flag("has_profiling", d.has_profiling),
            partition(d.partition),
            names("built_in_kernels", d.built_in_kernels, ';'),
            names("extensions", d.extensions, ' ')};
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

/// Breaks at spaces so that lines stay within 100 columns; continuation lines are indented.
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
    const std::string title = fmt::format("{}: {} ({} {})", position, or_unknown(info.name),
                                          to_string(info.api), to_string(info.type));
    fmt::print("{}{}\n", terminal::heading(title), is_default ? "  <- used by a default context" : "");
    constexpr std::size_t label_width = 30;
    for (field f : fields_of(device)) {
        std::replace(f.key.begin(), f.key.end(), '_', ' ');
        fmt::print("   {:{}}{}\n", f.key, label_width, wrapped(f.words, 3 + label_width));
    }
    fmt::print("\n");
}

std::vector<std::size_t> positions_of(const std::vector<device>& devices) {
    std::vector<std::size_t> positions;
    std::transform(devices.begin(), devices.end(), std::back_inserter(positions), position_of);
    return positions;
}

void print_platform(const platform_info& platform) {
    const auto list = [](const std::vector<device>& devices) {
        return fmt::format("{}", fmt::join(positions_of(devices), ", "));
    };
    const std::string words = fmt::format("platform {} ({}), {}", or_unknown(platform.name),
                                          or_unknown(platform.vendor), or_unknown(platform.version));
    fmt::print("{}\n", wrapped(words, 3));
    if (!platform.gpus().empty()) fmt::print("   GPUs: {}\n", list(platform.gpus()));
    if (!platform.cpus().empty()) fmt::print("   CPUs: {}\n", list(platform.cpus()));
    const std::size_t others = platform.devices.size() - platform.gpus().size() - platform.cpus().size();
    if (others != 0) fmt::print("   all devices: {}\n", list(platform.devices));
    if (platform.devices.empty()) fmt::print("   no devices\n");
}

json platforms_as_json() {
    json platforms = json::array();
    for (const platform_info& each : runtime::platforms().platforms)
        platforms.push_back({{"name", each.name},
                             {"vendor", each.vendor},
                             {"version", each.version},
                             {"profile", each.profile},
                             {"extensions", names("extensions", each.extensions, ' ').value},
                             {"api", to_string(each.api)},
                             {"devices", positions_of(each.devices)},
                             {"gpus", positions_of(each.gpus())},
                             {"cpus", positions_of(each.cpus())}});
    return platforms;
}

/// "16 GiB"; the verbose output also has the bytes.
std::string short_size(std::uint64_t bytes) {
    const std::string words = in_bytes(bytes);
    return bytes == 0 ? "unknown" : words.substr(0, words.find(" ("));
}

/// One line per device, under headings. `*` marks the devices that a default context takes.
void print_list(const std::vector<std::size_t>& positions, const default_choice& chosen) {
    const auto& devices = runtime::platforms().devices;
    std::vector<std::vector<std::string>> rows{{"", "name", "backend", "type", "memory", "units"}};
    for (const std::size_t k : positions) {
        const device_info& info = devices[k]->info();
        rows.push_back({std::to_string(k) + (chosen.takes(k) ? "*" : " "), or_unknown(info.name),
                        to_string(info.api), to_string(info.type), short_size(info.global_memory),
                        info.compute_units == 0 ? "unknown" : std::to_string(info.compute_units)});
    }
    print_table(rows, "><<<>>");
    if (std::any_of(positions.begin(), positions.end(), [&](std::size_t k) { return chosen.takes(k); }))
        fmt::print("* used by a default context\n");
}

/// Whether the note says that CUDA's driver is not installed, on a machine without an NVIDIA GPU.
bool is_normal(const std::string& note) {
    return note.starts_with("CUDA: libcuda.so") && note.find("No such file") != std::string::npos &&
           !has_nvidia_gpu();
}

/// Notes on a driver that is normally absent become one line; `--verbose` adds their details.
void print_notes(const std::vector<std::string>& notes, bool is_verbose) {
    const bool lacks_cuda = std::any_of(notes.begin(), notes.end(), is_normal);
    if (lacks_cuda) fmt::print("CUDA is not installed, and this machine has no NVIDIA GPU that needs it.\n");
    for (const std::string& note : notes)
        if (is_normal(note)) {
            if (is_verbose) fmt::print("   tried: {}\n", note);
        } else {
            fmt::print("{} {}\n", terminal::warning("note:"), note);
        }
}

struct devices_options {
    bool json = false;
    bool verbose = false;
    std::string device;
};

/// The devices to show: all of them, possibly none, unless `--device` names some.
std::vector<std::size_t> wanted_positions(const devices_options& asked) {
    if (!asked.device.empty()) return positions_of(devices_named(asked.device));
    std::vector<std::size_t> all(runtime::platforms().devices.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

void print_devices(const devices_options& asked) {
    const std::vector<std::size_t> positions = wanted_positions(asked);
    const runtime::platform_list& found = runtime::platforms();
    const default_choice chosen = choose_as_a_default_context();
    if (asked.verbose) {
        for (const platform_info& each : found.platforms) print_platform(each);
        if (!found.platforms.empty()) fmt::print("\n");
        for (const std::size_t k : positions) print_device(k, *found.devices[k], chosen.takes(k));
    } else if (!positions.empty()) {
        print_list(positions, chosen);
    }
    if (found.devices.empty())
        fmt::print("There is no device on this machine.\n");
    else if (!chosen.fault.empty())
        fmt::print("{} {}\n", terminal::bad("A default context fails:"), chosen.fault);
    print_notes(found.notes, asked.verbose);
}

json devices_as_json(const devices_options& asked) {
    const std::vector<std::size_t> positions = wanted_positions(asked);
    const runtime::platform_list& found = runtime::platforms();
    const default_choice chosen = choose_as_a_default_context();
    json devices = json::array();
    for (const std::size_t k : positions) {
        json device{{"position", k}, {"is_default", chosen.takes(k)}};
        for (field& f : fields_of(*found.devices[k])) device[f.key] = std::move(f.value);
        devices.push_back(std::move(device));
    }
    return {{"balm_version", BALM_VERSION},
            {"platforms", platforms_as_json()},
            {"devices", std::move(devices)},
            {"default_context",
             {{"positions", chosen.positions},
              {"error", chosen.fault.empty() ? json(nullptr) : json(chosen.fault)}}},
            {"notes", found.notes}};
}

}  // namespace

command add_devices(CLI::App& balm) {
    CLI::App* const line = balm.add_subcommand("devices", "List the devices of this machine, best first");
    const auto asked = std::make_shared<devices_options>();
    add_device_option(*line, asked->device);
    line->add_flag("-v,--verbose", asked->verbose, "Show everything that the drivers report");
    add_json_flag(*line, asked->json);
    return {line, [asked] {
                if (asked->json)
                    print_json(devices_as_json(*asked));
                else
                    print_devices(*asked);
                return 0;
            }};
}

}  // namespace balm::tool
