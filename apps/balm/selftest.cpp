// `balm selftest`: checks each device against the host, and reports which are fit. In: part of a device's
// name. Out: a line per failure, a verdict per device; exit code 1 if one is not fit.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "balm/error.hpp"
#include "balm/version.hpp"
#include "check.hpp"
#include "command.hpp"
#include "report.hpp"
#include "runtime/device/device_state.hpp"
#include "terminal/progress.hpp"
#include "terminal/terminal.hpp"

namespace balm::tool {

namespace {

using json = nlohmann::ordered_json;

struct selftest_options {
    bool json = false;
    bool all = false;
    bool ulp = false;
    bool quick = false;
    std::string device, junit;
    std::optional<std::uint64_t> seed;
};

check failed(const char* kind, const std::string& why) {
    check outcome;
    outcome.kind = kind;
    outcome.name = kind;
    outcome.fault = why;
    return outcome;
}

report examine(const device& on, const settings& how) {
    report made{on, {}, 0};
    const auto begin = std::chrono::steady_clock::now();
    const std::pair<const char*, std::vector<check> (*)(const device&, const settings&)> parts[] = {
        {"built-in", check_builtins},
        {"array built-in", check_arrays},
        {"conversion", check_conversions},
        {"path", check_paths}};
    if (!on.info().is_available)
        made.checks.push_back(failed("device", "the device is not available"));
    else
        for (const auto& [kind, run] : parts) {
            try {
                for (check& each : run(on, how)) made.checks.push_back(std::move(each));
            } catch (const std::exception& fault) {
                made.checks.push_back(failed(kind, fault.what()));
            }
        }
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return made;
}

std::size_t count_builtins(const device& on, const settings& how) {
    std::size_t count = 0;
    for (const scalar type : types_of_builtins(on.info(), how)) count += rows_of(type, on.info()).size();
    return count;
}

/// The approximate number of steps; look-back is not counted.
std::size_t count_steps(const device& on, const settings& how) {
    std::size_t kernels = how.is_quick ? 2 : 5;  // conversions, and one for each path
    if (!how.is_quick && on.info().type == device_type::cpu)
        for (const scalar type : {scalar::f32, scalar::f64})
            if (type == scalar::f32 || on.info().has_double) kernels += rows_of(type, on.info()).size();
    return count_builtins(on, how) + kernels * steps_of_a_kernel;
}

constexpr const char* quick_words =
    "quick: skips three of four values, all types but i32 and f32 of the built-ins, built-ins of arrays, "
    "reductions, local memory, the kernel cache and look-back";

// ---- for people

void print_failures(const check& outcome) {
    if (!outcome.fault.empty())
        fmt::print("  {}: {}\n", outcome.words(), outcome.fault.substr(0, outcome.fault.find('\n')));
    for (const wrong_value& wrong : outcome.examples) fmt::print("  {}\n", words_of(outcome, wrong));
    if (outcome.wrong > outcome.examples.size())
        fmt::print("  {}: {} more of {}\n", outcome.words(), outcome.wrong - outcome.examples.size(),
                   counted(outcome.values, "value"));
}

void print_report(const report& r) {
    for (const check& each : r.checks) print_failures(each);
    fmt::print("{}: {}\n", r.on.state()->words(),
               r.is_fit() ? terminal::good(r.verdict()) : terminal::bad(r.verdict()));
    fmt::print("  {}, {}, {}, {}: {} in {:.1f} s\n\n", counted(r.count("built-in"), "typed built-in"),
               counted(r.count("array built-in"), "array built-in"),
               counted(r.count("conversion"), "conversion"), counted(r.count("path"), "whole path"),
               counted(r.values(), "value"), r.seconds);
}

// ---- for programs

json wrong_as_json(const wrong_value& wrong) {
    return {{"inputs", wrong.inputs},
            {"got", wrong.got},
            {"expected", wrong.expected},
            {"ulp", std::isfinite(wrong.ulp) ? json(wrong.ulp) : json(nullptr)}};
}

json check_as_json(const check& each) {
    json value{{"kind", each.kind},
               {"name", each.name},
               {"type", each.type},
               {"values", each.values},
               {"wrong", each.wrong},
               {"ulp_allowed", each.bound < 0 ? json(nullptr) : json(each.bound)},
               {"ulp_worst", std::isfinite(each.worst_ulp) ? json(each.worst_ulp) : json(nullptr)},
               {"ulp_worst_inputs", each.worst_inputs},
               {"fault", each.fault.empty() ? json(nullptr) : json(each.fault)},
               {"examples", json::array()}};
    for (const wrong_value& wrong : each.examples) value["examples"].push_back(wrong_as_json(wrong));
    return value;
}

json report_as_json(const report& r) {
    const device_info& info = r.on.info();
    json value{{"name", info.name},          {"platform", info.platform},
               {"api", to_string(info.api)}, {"type", to_string(info.type)},
               {"is_fit", r.is_fit()},       {"verdict", r.verdict()},
               {"values", r.values()},       {"seconds", r.seconds},
               {"checks", json::array()}};
    for (const check& each : r.checks) value["checks"].push_back(check_as_json(each));
    return value;
}

// ---- --ulp: the errors of floating-point results

constexpr std::size_t values_for_errors = 1 << 16;

int measure_errors(const selftest_options& asked, settings how) {
    how.values = values_for_errors;
    bool all_within = true;
    json reports = json::array();
    const std::vector<device> devices = devices_named(asked.device);
    std::size_t done = 0, steps = 0;
    for (const device& on : devices) steps += count_builtins(on, how);
    terminal::progress bar("errors", steps, terminal::progress::for_long_runs());
    how.on_steps = [&](std::size_t more) { bar.show(done += more); };
    for (const device& on : devices) {
        std::vector<check> checks;
        for (check& each : check_builtins(on, how))
            if (each.is_floating || !each.fault.empty()) checks.push_back(std::move(each));
        const bool is_within =
            std::all_of(checks.begin(), checks.end(), [](const check& each) { return each.passed(); });
        all_within = all_within && is_within;
        bar.hide();
        if (!asked.json) {
            fmt::print("{}: worst errors in units of the last place (allowed), seed {}\n\n{}\n",
                       on.state()->words(), how.seed, ulp_table(checks));
            continue;
        }
        json rows = json::array();
        for (const check& each : checks) rows.push_back(check_as_json(each));
        const device_info& info = on.info();
        reports.push_back({{"name", info.name},
                           {"platform", info.platform},
                           {"api", to_string(info.api)},
                           {"driver_version", info.driver_version},
                           {"is_within", is_within},
                           {"functions", std::move(rows)}});
    }
    if (asked.json)
        print_json({{"balm_version", BALM_VERSION},
                    {"seed", how.seed},
                    {"values", how.values},
                    {"all_within", all_within},
                    {"devices", std::move(reports)}});
    return all_within ? 0 : 1;
}

int run_selftest(const selftest_options& asked) {
    // PoCL compiles a kernel again when the cache asks for its binary, which would take nearly half of the
    // time of a quick run.
    if (asked.quick) ::setenv("BALM_CACHE", "0", 1);
    settings how;
    how.seed = asked.seed.value_or(std::random_device{}());
    how.is_quick = asked.quick;
    if (asked.quick) how.values = 2048;
    if (asked.all) how.most_examples = static_cast<std::size_t>(-1);
    if (asked.ulp) return measure_errors(asked, how);
    const std::vector<device> devices = devices_named(asked.device);
    std::ofstream junit_file;
    if (!asked.junit.empty()) junit_file.open(asked.junit);
    if (!asked.junit.empty() && !junit_file)
        throw usage_error(fmt::format("--junit: '{}' cannot be written", asked.junit));
    if (!asked.json) fmt::print("seed {} (the same values again: --seed {})\n", how.seed, how.seed);
    if (!asked.json && asked.quick) fmt::print("{}\n", quick_words);
    std::size_t done = 0, steps = 0;
    for (const device& on : devices) steps += count_steps(on, how);
    terminal::progress bar("selftest", steps, terminal::progress::for_long_runs());
    how.on_steps = [&](std::size_t more) { bar.show(done += more); };
    std::vector<report> reports;
    for (const device& on : devices) {
        reports.push_back(examine(on, how));
        bar.hide();
        if (asked.json) continue;
        print_report(reports.back());
    }
    if (junit_file.is_open() && !(junit_file << as_junit(reports, how.seed) << std::flush))
        throw usage_error(fmt::format("--junit: '{}' cannot be written", asked.junit));
    const bool all_fit =
        std::all_of(reports.begin(), reports.end(), [](const report& r) { return r.is_fit(); });
    if (asked.json) {
        json list = json::array();
        for (const report& each : reports) list.push_back(report_as_json(each));
        print_json({{"balm_version", BALM_VERSION},
                    {"seed", how.seed},
                    {"left_out", asked.quick ? json(quick_words) : json(nullptr)},
                    {"all_fit", all_fit},
                    {"devices", std::move(list)}});
    }
    return all_fit ? 0 : 1;
}

}  // namespace

command add_selftest(CLI::App& balm) {
    CLI::App* const line = balm.add_subcommand(
        "selftest", "Check every built-in, conversion and whole path on each device against the host");
    const auto asked = std::make_shared<selftest_options>();
    add_json_flag(*line, asked->json);
    add_device_option(*line, asked->device);
    line->add_option("--seed", asked->seed, "The seed of the random values (default: a new one for each run)")
        ->type_name("NUMBER");
    line->add_flag("--all", asked->all, "Print every failure, not only the first five of each check");
    auto* const junit =
        line->add_option("--junit", asked->junit, "Also write the results to this file, as JUnit XML")
            ->type_name("FILE");
    auto* const quick =
        line->add_flag("--quick", asked->quick, "Check a subset in a few seconds, and say what is skipped");
    line->add_flag("--ulp", asked->ulp,
                   "Only measure errors: the worst of each floating-point function and type, beside what "
                   "OpenCL allows")
        ->excludes(quick)
        ->excludes(junit);
    return {line, [asked] { return run_selftest(*asked); }};
}

}  // namespace balm::tool
