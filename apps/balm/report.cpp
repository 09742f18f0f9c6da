// Verdicts as text and as XML. JUnit's format has no standard; this is the subset that Jenkins, GitLab and
// GitHub's reporters agree on.

#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "balm/version.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::tool {

namespace {

/// XML 1.0 has no control characters, not even escaped ones (section 2.2).
std::string xml(std::string_view text) {
    std::string escaped;
    for (const char letter : text) {
        switch (letter) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\n': escaped += "&#10;"; break;
            case '\t': escaped += "&#9;"; break;
            default: escaped += static_cast<unsigned char>(letter) < 32 ? ' ' : letter;
        }
    }
    return escaped;
}

std::string test_case(const check& each) {
    const std::string name =
        fmt::format(R"(    <testcase classname="{}" name="{}")", xml(each.kind), xml(each.words()));
    if (each.passed()) return name + "/>\n";
    if (!each.fault.empty())
        return fmt::format("{}>\n      <error message=\"{}\"/>\n    </testcase>\n", name, xml(each.fault));
    std::string lines;
    for (const wrong_value& wrong : each.examples) lines += words_of(each, wrong) + '\n';
    return fmt::format(
        "{}>\n      <failure message=\"{} of {} values are wrong\">{}</failure>\n    </testcase>\n", name,
        each.wrong, each.values, xml(lines));
}

}  // namespace

bool report::is_fit() const {
    return std::all_of(checks.begin(), checks.end(), [](const check& each) { return each.passed(); });
}

std::size_t report::values() const {
    std::size_t sum = 0;
    for (const check& each : checks) sum += each.values;
    return sum;
}

std::size_t report::count(const char* kind) const {
    return static_cast<std::size_t>(
        std::count_if(checks.begin(), checks.end(), [&](const check& each) { return each.kind == kind; }));
}

std::string report::verdict() const {
    if (is_fit()) return "fit";
    std::string failures;
    for (const check& each : checks)
        if (!each.passed()) failures += (failures.empty() ? "" : ", ") + each.words();
    return "not fit: " + failures;
}

std::string words_of(const check& of, const wrong_value& wrong) {
    const bool has_error = of.bound > 0 && std::isfinite(wrong.ulp);
    return fmt::format("{}({}): got {}, expected {}{}", of.words(), fmt::join(wrong.inputs, ", "), wrong.got,
                       wrong.expected,
                       has_error ? fmt::format(" ({:.4g} ulp, {} allowed)", wrong.ulp, of.bound) : "");
}

std::string as_junit(const std::vector<report>& reports, std::uint64_t seed) {
    std::string suites;
    std::size_t tests = 0, failures = 0, errors = 0;
    double seconds = 0;
    for (const report& each : reports) {
        const auto with_fault = static_cast<std::size_t>(std::count_if(
            each.checks.begin(), each.checks.end(), [](const check& c) { return !c.fault.empty(); }));
        const auto failed = static_cast<std::size_t>(std::count_if(
            each.checks.begin(), each.checks.end(), [](const check& c) { return !c.passed(); }));
        const std::size_t wrong = failed - with_fault;
        suites += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n"
            "    <properties>\n"
            "      <property name=\"balm_version\" value=\"{}\"/>\n"
            "      <property name=\"driver_version\" value=\"{}\"/>\n"
            "      <property name=\"seed\" value=\"{}\"/>\n"
            "    </properties>\n",
            xml(each.on.state()->words()), each.checks.size(), wrong, with_fault, each.seconds,
            xml(BALM_VERSION), xml(each.on.info().driver_version), seed);
        for (const check& c : each.checks) suites += test_case(c);
        suites += "  </testsuite>\n";
        tests += each.checks.size();
        failures += wrong;
        errors += with_fault;
        seconds += each.seconds;
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"balm selftest\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n"
        "{}</testsuites>\n",
        tests, failures, errors, seconds, suites);
}

}  // namespace balm::tool
