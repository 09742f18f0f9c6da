// `balm bandwidth`: the bandwidth within the host, to and from each device, within it and between devices,
// and the latency of the smallest commands. In: part of a device's name, a size. Out: a table or JSON.

#include "bandwidth.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "balm/error.hpp"
#include "balm/version.hpp"
#include "command.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"

namespace balm::tool {

namespace {

using json = nlohmann::ordered_json;

struct bandwidth_options {
    bool json = false;
    std::string device;
    std::size_t mebibytes = 256;
};

struct device_report {
    device on;
    std::size_t bytes = 0;
    std::vector<measurement> made;
    std::string fault;
};

struct pair_report {
    std::size_t from = 0, to = 0;  ///< positions
    measurement made;
    std::string fault;
};

/// The requested size, limited to the largest allocation and to an eighth of the device's memory (but not to
/// less than 1 MiB): three arrays must fit beside what others use.
std::size_t bytes_on(const device_info& info, std::size_t wanted) {
    const std::uint64_t room = std::max<std::uint64_t>(info.global_memory / 8, 1 << 20);
    const std::uint64_t bytes = std::min<std::uint64_t>({wanted, info.max_allocation, room});
    return static_cast<std::size_t>(bytes / sizeof(float) * sizeof(float));
}

device_report report_on(const device& on, std::size_t wanted, const std::function<void()>& on_line) {
    device_report made{on, bytes_on(on.info(), wanted), {}, {}};
    try {
        if (!on.info().is_available) throw device_error("The device is not available.");
        made.made = measure_device(on, made.bytes, measurements(on_line));
    } catch (const error& fault) {
        made.fault = fault.what();
    }
    return made;
}

/// Whether copies between the devices are measured: two different, available devices of one backend.
bool is_pair(const device& a, const device& b) {
    return a != b && a.info().api == b.info().api && a.info().is_available && b.info().is_available;
}

std::size_t count_pairs(const std::vector<device>& devices) {
    std::size_t count = 0;
    for (const device& from : devices)
        for (const device& to : devices) count += is_pair(from, to) ? 1 : 0;
    return count;
}

pair_report report_on(const device& from, const device& to, std::size_t wanted) {
    pair_report made{position_of(from), position_of(to), {}, {}};
    const std::size_t bytes = std::min(bytes_on(from.info(), wanted), bytes_on(to.info(), wanted));
    try {
        made.made = measure_pair(from, to, bytes);
    } catch (const error& fault) {
        made.fault = fault.what();
    }
    return made;
}

// ---- for people

double gigabytes(const measurement& of, double seconds) {
    return static_cast<double>(of.bytes) / seconds * 1e-9;
}

std::string words(const measurement& of) {
    if (of.bytes == 0)
        return fmt::format("{:9.2f} us   (best {:.2f})", of.took.median * 1e6, of.took.best * 1e6);
    return fmt::format("{:9.2f} GB/s (best {:.2f})", gigabytes(of, of.took.median),
                       gigabytes(of, of.took.best));
}

void print_lines(const std::vector<measurement>& made) {
    for (const measurement& each : made) fmt::print("   {:26}{}\n", each.name, words(each));
}

void print_report(const device_report& of) {
    const device_info& info = of.on.info();
    const std::string title = fmt::format("{}: {} ({} {})", position_of(of.on), info.name,
                                          to_string(info.api), to_string(info.type));
    fmt::print("\n{}, arrays of {}\n", terminal::heading(title), in_bytes(of.bytes));
    print_lines(of.made);
    if (!of.fault.empty()) fmt::print("   {} {}\n", terminal::bad("failed:"), first_line(of.fault));
}

void print_report(const pair_report& of) {
    fmt::print("   {:26}{}\n", fmt::format("{} to {}", of.from, of.to),
               of.fault.empty() ? words(of.made) + "  " + of.made.name
                                : terminal::bad("failed: ") + first_line(of.fault));
}

// ---- for programs

json as_json(const measurement& of) {
    json value{{"bytes", of.bytes}, {"seconds", of.took.median}, {"best_seconds", of.took.best}};
    if (of.bytes != 0) {
        value["gigabytes_per_second"] = gigabytes(of, of.took.median);
        value["best_gigabytes_per_second"] = gigabytes(of, of.took.best);
    }
    return value;
}

json as_json(const std::vector<measurement>& made) {
    json list = json::array();
    for (const measurement& each : made) {
        list.push_back({{"name", each.name}});
        list.back().update(as_json(each));
    }
    return list;
}

json fault_as_json(const std::string& fault) { return fault.empty() ? json(nullptr) : json(fault); }

json as_json(const device_report& of) {
    const device_info& info = of.on.info();
    return {{"position", position_of(of.on)},  {"name", info.name},       {"api", to_string(info.api)},
            {"type", to_string(info.type)},    {"array_bytes", of.bytes}, {"measurements", as_json(of.made)},
            {"fault", fault_as_json(of.fault)}};
}

json as_json(const pair_report& of) {
    json value = of.fault.empty() ? as_json(of.made) : json::object();
    value["path"] = of.made.name;
    value["from"] = of.from;
    value["to"] = of.to;
    value["fault"] = fault_as_json(of.fault);
    return value;
}

int run_bandwidth(const bandwidth_options& asked) {
    const std::vector<device> devices = devices_named(asked.device);
    const std::size_t wanted = asked.mebibytes << 20;
    bool is_good = true;

    std::size_t done = 0;
    const std::size_t before_pairs = lines_of_host + devices.size() * lines_of_device;
    terminal::progress bar("bandwidth", before_pairs + count_pairs(devices),
                           terminal::progress::for_long_runs());
    const auto on_line = [&] { bar.show(++done); };
    const std::vector<measurement> host = measure_host(wanted, measurements(on_line));
    bar.hide();
    if (!asked.json) {
        fmt::print("{}, {}, arrays of {}\n", terminal::heading("host memory"),
                   counted(std::max(1u, std::thread::hardware_concurrency()), "thread"), in_bytes(wanted));
        print_lines(host);
    }
    json device_list = json::array();
    for (const device& each : devices) {
        const std::size_t last = done + lines_of_device;
        const device_report report = report_on(each, wanted, on_line);
        done = last;  // also if the device failed
        bar.hide();
        is_good = is_good && report.fault.empty();
        if (asked.json)
            device_list.push_back(as_json(report));
        else
            print_report(report);
    }
    json pair_list = json::array();
    for (const device& from : devices)
        for (const device& to : devices) {
            if (!is_pair(from, to)) continue;
            bar.show(done++);
            const pair_report report = report_on(from, to, wanted);
            bar.hide();
            is_good = is_good && report.fault.empty();
            if (!asked.json && pair_list.empty()) fmt::print("\n{}\n", terminal::heading("between devices"));
            if (!asked.json) print_report(report);
            pair_list.push_back(as_json(report));
        }
    if (asked.json)
        print_json({{"balm_version", BALM_VERSION},
                    {"host",
                     {{"threads", std::max(1u, std::thread::hardware_concurrency())},
                      {"array_bytes", wanted},
                      {"measurements", as_json(host)}}},
                    {"devices", std::move(device_list)},
                    {"between_devices", std::move(pair_list)}});
    else if (pair_list.empty())
        fmt::print("\nbetween devices: no two devices have the same backend\n");
    return is_good ? 0 : 1;
}

}  // namespace

command add_bandwidth(CLI::App& balm) {
    CLI::App* const line = balm.add_subcommand(
        "bandwidth", "Measure bandwidth and latency: on the host, and to, from, within and between devices");
    const auto asked = std::make_shared<bandwidth_options>();
    add_device_option(*line, asked->device);
    line->add_option("--size", asked->mebibytes, "Size of each array, in MiB")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 16))
        ->capture_default_str();
    add_json_flag(*line, asked->json);
    return {line, [asked] { return run_bandwidth(*asked); }};
}

}  // namespace balm::tool
