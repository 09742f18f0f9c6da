// VexCL programs over Balm's headers, against the same programs over VexCL's headers, on each OpenCL device.
// CMake looks for VexCL's headers (VEXCL_INCLUDE_DIR); without them only Balm is timed.

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/measure.hpp"
#include "vexcl/cases.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 1.0;
constexpr int pairs = 15;

/// The module beside this program; null if it was not built.
const peer::vexcl_library* library(const char* module) {
    const std::filesystem::path file = std::filesystem::canonical("/proc/self/exe").parent_path() / module;
    if (!std::filesystem::exists(file)) return nullptr;
    void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
    if (opened == nullptr) throw std::runtime_error(dlerror());
    const auto cases = reinterpret_cast<peer::vexcl_cases_function*>(dlsym(opened, "vexcl_cases"));
    if (cases == nullptr) throw std::runtime_error(dlerror());
    return cases();
}
const peer::vexcl_library* over_balm() {
    static const peer::vexcl_library* const found = library("libvexcl_cases_balm.so");
    return found;
}
const peer::vexcl_library* over_vexcl() {
    static const peer::vexcl_library* const found = library("libvexcl_cases_vexcl.so");
    return found;
}

bool agree(double a, double b) { return std::abs(a - b) <= 1e-3 * std::max(std::abs(a), std::abs(b)); }

double timed(peer::vexcl_work& work) {
    work.prepare();
    return seconds([&] { work.run(); });
}

comparison measured(peer::vexcl_work& ours, peer::vexcl_work* theirs, int count) {
    std::vector<double> own, other, ratios;
    for (int k = 0; k < count; ++k) {
        own.push_back(timed(ours));
        if (theirs == nullptr) continue;
        other.push_back(timed(*theirs));
        ratios.push_back(other.back() / own.back());
    }
    if (theirs == nullptr) return {median(own), 0, 0};
    return {median(own), median(other), median(ratios)};
}

void measure(benchmark::State& state, const balm::device& on, const peer::vexcl_case& what) {
    const peer::vexcl_device which{on.info().platform.c_str(), on.name().c_str()};
    const auto work = [&](const peer::vexcl_library* from) {
        return from == nullptr ? nullptr : from->make(what.name, which);
    };
    const std::unique_ptr<peer::vexcl_work> ours = work(over_balm()), theirs = work(over_vexcl());
    if (ours == nullptr) return state.SkipWithError("the module over Balm's headers is not there");
    const bool is_first = std::string(what.name) == "first expression";
    if (!is_first) {  // compiles, and checks
        timed(*ours);
        if (theirs != nullptr) {
            timed(*theirs);
            if (what.agrees && !agree(ours->check(), theirs->check()))
                return state.SkipWithError("the results differ");
        }
    }
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = measured(*ours, theirs.get(), is_first ? 1 : pairs);
        theirs != nullptr ? report(state, made, bar) : state.SetIterationTime(made.balm);
    }
}

void register_all() {
    const auto is_opencl = [](const balm::device& on) { return on.info().api == balm::backend::opencl; };
    for (const peer::vexcl_case& each : peer::all_vexcl_cases)
        on_devices_that(is_opencl, fmt::format("vexcl/{}", each.name),
                        [each](benchmark::State& state, const balm::device& on) {
                            try {
                                measure(state, on, each);
                            } catch (const std::exception& fault) {
                                state.SkipWithError(fault.what());
                            }
                        });
}

}  // namespace

int main(int argc, char** argv) {
    setenv("BALM_CACHE", "0", 1);  // the first expression is compiled, not loaded
    setenv("POCL_KERNEL_CACHE", "0", 1);
    return run(argc, argv, register_all);
}
