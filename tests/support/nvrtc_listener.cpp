#include "support/nvrtc_listener.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "algorithm/reduce/reduce_shapes.hpp"
#include "balm/error.hpp"
#include "base/hash.hpp"
#include "driver/cuda/nvrtc.hpp"
#include "emit/printer.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::test {

namespace {

constexpr int capability = 90;  // the H100's

/// Without the line that says where a kernel came from.
std::string without_provenance(const std::string& source) { return source.substr(source.find('\n') + 1); }

class compilations : public testing::EmptyTestEventListener {
public:
    void add(std::string source) {
        const std::lock_guard lock(mutex_);
        if (known_.insert(without_provenance(source)).second) waiting_.push_back(std::move(source));
    }

    /// Failures here belong to the test that ends.
    void OnTestEnd(const testing::TestInfo&) override {
        for (const std::string& source : taken()) compile(source);
    }
    void OnTestProgramEnd(const testing::UnitTest&) override {
        if (known_.empty()) return;
        if (!cuda::nvrtc_available())
            std::cout << "NVRTC compiled nothing: " << cuda::describe_nvrtc() << '\n';
        else
            std::cout << "NVRTC compiled " << compiled_ << " kernels for " << architecture() << ", "
                      << failed_ << " failed, " << known_before_ << " had compiled before\n";
    }

private:
    std::vector<std::string> taken() {
        const std::lock_guard lock(mutex_);
        return std::exchange(waiting_, {});
    }
    static const std::string& architecture() {
        static const std::string name = cuda::nvrtc_architecture(capability, "compute capability 9.0");
        return name;
    }
    /// Nothing runs what comes out: it is optimised as little as this NVRTC can, in half the time.
    static const std::string& options() {
        static const std::string chosen = [] {
            const std::string fast = std::string(cuda::nvrtc_options) + " --Ofast-compile=max";
            try {
                std::string log;
                cuda::compile_with_nvrtc("", fast, architecture(), log);
                return fast;
            } catch (const build_error&) {
                return std::string(cuda::nvrtc_options);
            }
        }();
        return chosen;
    }
    /// Suites share many kernels. What one has compiled leaves a file, of no bytes, for the others and for
    /// later runs.
    static std::filesystem::path mark_of(const std::string& source) {
        const runtime::digest key = runtime::hasher{}
                                        .text(cuda::describe_nvrtc())
                                        .text(options())
                                        .text(architecture())
                                        .text(without_provenance(source))
                                        .result();
        return std::filesystem::path(BALM_TEST_BIN_DIR) / ".." / "test-cache" / "nvrtc" /
               runtime::to_hex(key);
    }
    void compile(const std::string& source) {
        if (!cuda::nvrtc_available()) return;
        const std::filesystem::path mark = mark_of(source);
        std::error_code no_matter;
        if (std::filesystem::exists(mark, no_matter)) {
            ++known_before_;
            return;
        }
        try {
            std::string log;
            cuda::compile_with_nvrtc(source, options(), architecture(), log);
            ++compiled_;
            std::filesystem::create_directories(mark.parent_path(), no_matter);
            std::ofstream{mark};
        } catch (const build_error& fault) {
            ++failed_;
            ADD_FAILURE() << fault.what();
        }
    }

    std::mutex mutex_;
    std::unordered_set<std::string> known_;
    std::vector<std::string> waiting_;
    int compiled_ = 0;
    int failed_ = 0;
    int known_before_ = 0;
};

compilations& the_compilations() {
    static compilations& c = *new compilations;  // GoogleTest owns and deletes it once it listens
    return c;
}

/// Whether CPUs alone get it in this shape: a reduction, transform or matrix product as wide as their vectors
/// would take NVRTC minutes.
bool is_for_cpus(const ir::function& kernel) {
    const bool is_reduction = kernel.name.starts_with("reduce_") || kernel.name.starts_with("finish_");
    return (is_reduction && !array::are_shapes_of_gpus()) || kernel.name.starts_with("fft_of_") ||
           kernel.name.ends_with("_panels") || kernel.name == "heat_stream";
}

/// The kernel as it is printed: what the passes made of it keeps the rules that hold for what was traced.
ir::function lowered(const ir::function& kernel, const ir::launch_facts& facts) {
    ir::function made = ir::lower(kernel, facts).kernel;
    try {
        ir::verify(made);
    } catch (const trace_error& fault) {
        ADD_FAILURE() << "kernel '" << kernel.name << "', lowered: " << fault.what();
    }
    return made;
}

void look_at(const ir::function& kernel, const ir::launch_facts& facts) {
    if (facts.on_cpu) {
        static_cast<void>(lowered(kernel, facts));
        if (is_for_cpus(kernel)) return;
    }
    ir::launch_facts gpu = facts;
    gpu.on_cpu = gpu.loops_over_items = false;
    also_compile_with_nvrtc(kernel, gpu);
}

}  // namespace

void compile_kernels_with_nvrtc() {
    const char* const asked = std::getenv("BALM_TEST_NVRTC");
    if (asked != nullptr && std::string_view(asked) == "0") return;
    testing::UnitTest::GetInstance()->listeners().Append(&the_compilations());
    compile_kernels_with_nvrtc_again();
}

void compile_kernels_with_nvrtc_again() { kernels::observe_compilations(look_at); }

int compilations_of(const std::function<void()>& body) {
    std::atomic<int> compiled = 0;
    kernels::observe_compilations([&](const ir::function& kernel, const ir::launch_facts& facts) {
        ++compiled;
        look_at(kernel, facts);
    });
    body();
    compile_kernels_with_nvrtc_again();
    return compiled;
}

void also_compile_with_nvrtc(const ir::function& kernel, const ir::launch_facts& facts) {
    const emit::dialect& language = emit::dialect_of(runtime::dialect::cuda_cpp);
    const ir::function written = kernels::written_out(kernel, language.has, device_info{});
    also_compile_with_nvrtc(emit::print(lowered(written, facts), language));
}

void also_compile_with_nvrtc(std::string cuda_source) { the_compilations().add(std::move(cuda_source)); }

}  // namespace balm::test
