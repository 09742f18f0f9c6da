// `balm doctor`: reports what is wrong with the set-up of a machine and how to fix it. Out: one line per
// finding, as text to paste or as JSON; exit code 1 if there is a problem.

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "balm/error.hpp"
#include "balm/version.hpp"
#include "base/opencl_loader.hpp"
#include "base/system.hpp"
#include "command.hpp"
#include "finding.hpp"
#include "terminal/terminal.hpp"

namespace balm::tool {

namespace {

using json = nlohmann::ordered_json;

const char* word_for(severity how) {
    constexpr const char* words[] = {"ok", "note", "problem"};
    return words[static_cast<std::size_t>(how)];
}

std::vector<std::string> environment_lines() {
    std::vector<std::string> lines;
    for (char** line = ::environ; line != nullptr && *line != nullptr; ++line) lines.emplace_back(*line);
    return lines;
}

/// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64".
std::string operating_system() {
    std::string name;
    std::ifstream file("/etc/os-release");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("PRETTY_NAME=")) name = line.substr(line.find('=') + 1);
    std::erase(name, '"');
    utsname kernel{};
    if (::uname(&kernel) != 0) return name;
    return fmt::format("{}{}{} {} {}", name, name.empty() ? "" : ", ", kernel.sysname, kernel.release,
                       kernel.machine);
}

findings look_at_everything() {
    const std::string folder =
        runtime::environment_variable("OCL_ICD_VENDORS").value_or(runtime::usual_opencl_vendors);
    const std::pair<const char*, std::function<findings()>> parts[] = {
        {"environment", [] { return look_at_environment(environment_lines()); }},
        {"OpenCL", [&] { return look_at_opencl(folder); }},
        {"CUDA", look_at_cuda},
        {"kernel cache", look_at_cache},
        {"devices", look_at_devices}};
    findings all{{severity::ok, "Balm", BALM_VERSION}, {severity::ok, "system", operating_system()}};
    for (const auto& [subject, look] : parts) {
        try {
            findings some = look();
            std::move(some.begin(), some.end(), std::back_inserter(all));
        } catch (const std::exception& fault) {
            all.push_back({severity::problem, subject, first_line(fault.what())});
        }
    }
    return all;
}

void print(const finding& f) {
    const std::string word = fmt::format("{:8}", word_for(f.how));
    fmt::print("{} {}: {}\n",
               f.how == severity::ok     ? terminal::good(word)
               : f.how == severity::note ? terminal::warning(word)
                                         : terminal::bad(word),
               f.subject, f.words);
    if (!f.mend.empty()) fmt::print("         -> {}\n", f.mend);
}

json as_json(const findings& all) {
    json list = json::array();
    for (const finding& f : all)
        list.push_back({{"severity", word_for(f.how)},
                        {"subject", f.subject},
                        {"words", f.words},
                        {"mend", f.mend.empty() ? json(nullptr) : json(f.mend)}});
    return {{"balm_version", BALM_VERSION}, {"findings", std::move(list)}};
}

}  // namespace

command add_doctor(CLI::App& balm) {
    CLI::App* const line =
        balm.add_subcommand("doctor", "Find problems in the set-up of this machine, and say how to fix them");
    const auto machine_reads = std::make_shared<bool>(false);
    add_json_flag(*line, *machine_reads);
    return {line, [machine_reads] {
                const findings all = look_at_everything();
                const auto count = [&](severity how) {
                    return static_cast<unsigned long long>(std::count_if(
                        all.begin(), all.end(), [&](const finding& f) { return f.how == how; }));
                };
                if (*machine_reads) {
                    print_json(as_json(all));
                } else {
                    std::for_each(all.begin(), all.end(), print);
                    fmt::print("\n{}, {}\n", counted(count(severity::problem), "problem"),
                               counted(count(severity::note), "note"));
                }
                return count(severity::problem) == 0 ? 0 : 1;
            }};
}

}  // namespace balm::tool
