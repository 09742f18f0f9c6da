// `balm selftest`: proves each device against the host, and says which is fit. In: part of a device's name.
// Out: a line for each failure, a verdict a device; exit code 1 if one is not fit.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "balm/error.hpp"
#include "balm/version.hpp"
#include "check.hpp"
#include "command.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::tool {

namespace {

using json = nlohmann::ordered_json;

struct selftest_options {
    bool json = false;
    bool all = false;
    bool ulp = false;
    std::string device;
    std::optional<std::uint64_t> seed;
};

/// All that was found out about one device.
struct report {
    device on;
    std::vector<check> checks;
    double seconds = 0;

    bool is_fit() const {
        return std::all_of(checks.begin(), checks.end(), [](const check& each) { return each.passed(); });
    }
    std::size_t values() const {
        std::size_t count = 0;
        for (const check& each : checks) count += each.values;
        return count;
    }
    std::size_t count(const char* kind) const {
        return static_cast<std::size_t>(std::count_if(checks.begin(), checks.end(),
                                                      [&](const check& each) { return each.kind == kind; }));
    }
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

// ---- for people

std::string ulp_words(const check& failed_check, const wrong_value& wrong) {
    if (failed_check.bound <= 0 || !std::isfinite(wrong.ulp)) return "";
    return fmt::format(" ({:.4g} ulp, {} allowed)", wrong.ulp, failed_check.bound);
}

void print_failures(const check& outcome) {
    if (!outcome.fault.empty())
        fmt::print("  {}: {}\n", outcome.words(), outcome.fault.substr(0, outcome.fault.find('\n')));
    for (const wrong_value& wrong : outcome.examples)
        fmt::print("  {}({}): got {}, expected {}{}\n", outcome.words(), fmt::join(wrong.inputs, ", "),
                   wrong.got, wrong.expected, ulp_words(outcome, wrong));
    if (outcome.wrong > outcome.examples.size())
        fmt::print("  {}: {} more of {}\n", outcome.words(), outcome.wrong - outcome.examples.size(),
                   counted(outcome.values, "value"));
}

std::string verdict(const report& r) {
    if (r.is_fit()) return "fit";
    std::string failures;
    for (const check& each : r.checks)
        if (!each.passed()) failures += (failures.empty() ? "" : ", ") + each.words();
    return "not fit: " + failures;
}

void print_report(const report& r) {
    for (const check& each : r.checks) print_failures(each);
    fmt::print("{}: {}\n", r.on.state()->words(), verdict(r));
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
               {"is_fit", r.is_fit()},       {"verdict", verdict(r)},
               {"values", r.values()},       {"seconds", r.seconds},
               {"checks", json::array()}};
    for (const check& each : r.checks) value["checks"].push_back(check_as_json(each));
    return value;
}

// ---- --ulp: how far floating results are from the exact ones

constexpr std::size_t values_for_errors = 1 << 16;

int measure_errors(const selftest_options& asked, settings how) {
    how.values = values_for_errors;
    bool all_within = true;
    json reports = json::array();
    for (const device& on : devices_named(asked.device)) {
        std::vector<check> checks;
        for (check& each : check_builtins(on, how))
            if (each.is_floating || !each.fault.empty()) checks.push_back(std::move(each));
        const bool is_within =
            std::all_of(checks.begin(), checks.end(), [](const check& each) { return each.passed(); });
        all_within = all_within && is_within;
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
    settings how;
    how.seed = asked.seed.value_or(std::random_device{}());
    if (asked.all) how.most_examples = static_cast<std::size_t>(-1);
    if (asked.ulp) return measure_errors(asked, how);
    const std::vector<device> devices = devices_named(asked.device);
    if (!asked.json) fmt::print("seed {} (the same values again: --seed {})\n", how.seed, how.seed);
    bool all_fit = true;
    json reports = json::array();
    for (const device& on : devices) {
        const report made = examine(on, how);
        all_fit = all_fit && made.is_fit();
        if (asked.json)
            reports.push_back(report_as_json(made));
        else
            print_report(made);
    }
    if (asked.json)
        print_json({{"balm_version", BALM_VERSION},
                    {"seed", how.seed},
                    {"all_fit", all_fit},
                    {"devices", std::move(reports)}});
    return all_fit ? 0 : 1;
}

}  // namespace

command add_selftest(CLI::App& balm) {
    CLI::App* const line = balm.add_subcommand(
        "selftest", "Every built-in, conversion and whole path on each device against the host: is it fit?");
    const auto asked = std::make_shared<selftest_options>();
    add_json_flag(*line, asked->json);
    line->add_option("--device", asked->device,
                     "Only devices with this text in their name, platform or backend (default: all)");
    line->add_option("--seed", asked->seed, "Of the random values; by default each run draws its own");
    line->add_flag("--all", asked->all, "Every failure, not the first five of each check");
    line->add_flag("--ulp", asked->ulp,
                   "Only measure errors: the worst of each floating-point function and type, beside what "
                   "OpenCL allows");
    return {line, [asked] { return run_selftest(*asked); }};
}

}  // namespace balm::tool
