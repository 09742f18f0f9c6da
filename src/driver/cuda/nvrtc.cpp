#include "driver/cuda/nvrtc.hpp"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <string_view>

#include "balm/error.hpp"
#include "base/system.hpp"
#include "driver/build_failure.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/toolkit.hpp"
#include "driver/joined_options.hpp"

namespace balm::cuda {

namespace {

using nvrtcProgram = struct nvrtcProgram_st*;
enum nvrtcResult : unsigned { NVRTC_SUCCESS = 0 };

#define BALM_NVRTC_TABLE(ROW)                                                                 \
    ROW(nvrtcVersion, int*, int*)                                                             \
    ROW(nvrtcGetNumSupportedArchs, int*)                                                      \
    ROW(nvrtcGetSupportedArchs, int*)                                                         \
    ROW(nvrtcCreateProgram, nvrtcProgram*, const char*, const char*, int, const char* const*, \
        const char* const*)                                                                   \
    ROW(nvrtcDestroyProgram, nvrtcProgram*)                                                   \
    ROW(nvrtcCompileProgram, nvrtcProgram, int, const char* const*)                           \
    ROW(nvrtcGetPTXSize, nvrtcProgram, std::size_t*)                                          \
    ROW(nvrtcGetPTX, nvrtcProgram, char*)                                                     \
    ROW(nvrtcGetCUBINSize, nvrtcProgram, std::size_t*)                                        \
    ROW(nvrtcGetCUBIN, nvrtcProgram, char*)                                                   \
    ROW(nvrtcGetProgramLogSize, nvrtcProgram, std::size_t*)                                   \
    ROW(nvrtcGetProgramLog, nvrtcProgram, char*)

struct nvrtc_api {
#define BALM_NVRTC_MEMBER(name, ...) nvrtcResult (*name)(__VA_ARGS__) = nullptr;
    BALM_NVRTC_TABLE(BALM_NVRTC_MEMBER)
#undef BALM_NVRTC_MEMBER
    const char* (*nvrtcGetErrorString)(nvrtcResult) = nullptr;
};

// An NVRTC that opened and has every entry point.
struct nvrtc_library {
    nvrtc_api api;
    std::string name;
    int major = 0;
    int minor = 0;
    std::vector<int> architectures;  // in ascending order
};

struct nvrtc_search {
    std::optional<nvrtc_library> found;
    std::string failures;  // "name (reason); name (reason)"
};

constexpr std::string_view nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                            "libnvrtc.so"};

bool fill(nvrtc_api& api, const runtime::shared_library& library) {
    bool complete = true;
#define BALM_NVRTC_FIND(name, ...)                                \
    api.name = library.function<nvrtcResult(__VA_ARGS__)>(#name); \
    complete = complete && api.name != nullptr;
    BALM_NVRTC_TABLE(BALM_NVRTC_FIND)
#undef BALM_NVRTC_FIND
    api.nvrtcGetErrorString = library.function<const char*(nvrtcResult)>("nvrtcGetErrorString");
    return complete && api.nvrtcGetErrorString != nullptr;
}

// Fills in all but the name. Returns false, with a reason, if this NVRTC cannot be used.
bool inspect(nvrtc_library& opened, const runtime::shared_library& library, std::string& reason) {
    if (!fill(opened.api, library)) {
        reason = "older than CUDA 11.2";
        return false;
    }
    int count = 0;
    if (opened.api.nvrtcVersion(&opened.major, &opened.minor) != NVRTC_SUCCESS ||
        opened.api.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count <= 0) {
        reason = "does not report its version and architectures";
        return false;
    }
    opened.architectures.resize(static_cast<std::size_t>(count));
    if (opened.api.nvrtcGetSupportedArchs(opened.architectures.data()) == NVRTC_SUCCESS) return true;
    reason = "does not report its architectures";
    return false;
}

// The first NVRTC whose binaries the driver can load: it may refuse those of a newer major version, which is
// therefore used only if there is no other.
nvrtc_search search() {
    nvrtc_search result;
    const int driver_major = load_driver().version / 1000;
    const auto note = [&](const std::string& name, const std::string& reason) {
        result.failures += fmt::format("{}{} ({})", result.failures.empty() ? "" : "; ", name, reason);
    };
    std::optional<nvrtc_library> newer;
    for (const std::string& name : toolkit_paths(nvrtc_names)) {
        auto library = runtime::shared_library::open_first({&name, 1});
        if (!library) {
            note(name, library.failures().empty() ? "not found" : library.failures().front().reason);
            continue;
        }
        nvrtc_library opened;
        opened.name = name;
        std::string reason;
        if (!inspect(opened, library, reason)) {
            note(name, reason);
            continue;
        }
        const bool fits = driver_major == 0 || opened.major <= driver_major;
        if (!fits) {
            note(name, fmt::format("version {}.{}, newer than the driver", opened.major, opened.minor));
            if (newer) continue;
        }
        library.keep_loaded();
        (fits ? result.found : newer) = std::move(opened);
        if (fits) break;
    }
    if (!result.found) result.found = std::move(newer);
    return result;
}

// Never destroyed: programs may be compiled while static objects are destroyed.
const nvrtc_search& nvrtc() {
    static const auto* const found = new nvrtc_search(search());
    return *found;
}

const nvrtc_library& required_nvrtc(const std::string& device_name) {
    if (nvrtc().found) return *nvrtc().found;
    throw build_error(fmt::format(
        "A program cannot be compiled for CUDA{}: NVRTC was not found. Install the CUDA toolkit's NVRTC, set "
        "CUDA_HOME to its folder, or choose OpenCL with BALM_BACKEND=opencl. Tried: {}.",
        device_name.empty() ? "" : fmt::format(" device '{}'", device_name), nvrtc().failures));
}

class nvrtc_program {
public:
    nvrtc_program(const nvrtc_api& api, const std::string& source) : api_(api) {
        check(api_.nvrtcCreateProgram(&program_, source.c_str(), "balm.cu", 0, nullptr, nullptr),
              "nvrtcCreateProgram");
    }
    ~nvrtc_program() { api_.nvrtcDestroyProgram(&program_); }
    nvrtc_program(const nvrtc_program&) = delete;
    nvrtc_program& operator=(const nvrtc_program&) = delete;

    nvrtcResult compile(const std::vector<std::string>& options) {
        std::vector<const char*> pointers;
        pointers.reserve(options.size());
        for (const std::string& option : options) pointers.push_back(option.c_str());
        return api_.nvrtcCompileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
    }

    std::string log() {
        std::size_t size = 0;
        if (api_.nvrtcGetProgramLogSize(program_, &size) != NVRTC_SUCCESS || size == 0) return {};
        std::string text(size, '\0');
        if (api_.nvrtcGetProgramLog(program_, text.data()) != NVRTC_SUCCESS) return {};
        while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
        return text;
    }

    std::vector<std::byte> cubin() {
        return image(api_.nvrtcGetCUBINSize, api_.nvrtcGetCUBIN, "nvrtcGetCUBIN");
    }
    std::vector<std::byte> ptx() { return image(api_.nvrtcGetPTXSize, api_.nvrtcGetPTX, "nvrtcGetPTX"); }

private:
    void check(nvrtcResult code, const char* call) const {
        if (code != NVRTC_SUCCESS)
            throw build_error(fmt::format("{} failed with {} ({}).", call, api_.nvrtcGetErrorString(code),
                                          static_cast<unsigned>(code)));
    }

    std::vector<std::byte> image(nvrtcResult (*size_of)(nvrtcProgram, std::size_t*),
                                 nvrtcResult (*get)(nvrtcProgram, char*), const char* call) {
        std::size_t size = 0;
        check(size_of(program_, &size), call);
        std::vector<std::byte> bytes(size);
        check(get(program_, reinterpret_cast<char*>(bytes.data())), call);
        return bytes;
    }

    const nvrtc_api& api_;
    nvrtcProgram program_ = nullptr;
};

}  // namespace

std::string nvrtc_words_for(const compile_options& wanted) {
    std::string words;
    if (wanted.fast_math) words += "--use_fast_math ";
    if (wanted.flush_denormals) words += "--ftz=true ";
    if (!wanted.optimise) words += "--ptxas-options=-O0 ";
    if (wanted.max_registers > 0) words += fmt::format("--maxrregcount={} ", wanted.max_registers);
    return words + wanted.cuda;
}

// --use_fast_math has no effect after the options that it implies (NVRTC 13.0).
std::string nvrtc_options_with(const std::string& users) {
    constexpr backend_support::replacement replacements[] = {{"use_fast_math", "fmad"},
                                                             {"use_fast_math", "ftz"},
                                                             {"use_fast_math", "prec-div"},
                                                             {"use_fast_math", "prec-sqrt"}};
    return backend_support::joined_options(nvrtc_options, users, replacements);
}

bool nvrtc_available() { return nvrtc().found.has_value(); }

std::string describe_nvrtc() {
    if (const auto& found = nvrtc().found)
        return fmt::format("NVRTC {}.{} ({})", found->major, found->minor, found->name);
    return "NVRTC was not found: " + nvrtc().failures;
}

std::string nvrtc_architecture(int capability, const std::string& device_name) {
    const nvrtc_library& library = required_nvrtc(device_name);
    int newest_before = 0;
    for (const int known : library.architectures) {
        if (known == capability) return fmt::format("sm_{}", capability);
        if (known < capability && known > newest_before) newest_before = known;
    }
    if (newest_before != 0) return fmt::format("compute_{}", newest_before);
    throw build_error(
        fmt::format("{} compiles for compute capability {}.{} and later, but device '{}' has {}.{}: install "
                    "an older NVRTC, or use OpenCL (BALM_BACKEND=opencl).",
                    describe_nvrtc(), library.architectures.front() / 10, library.architectures.front() % 10,
                    device_name, capability / 10, capability % 10));
}

std::vector<std::byte> compile_with_nvrtc(const std::string& source, const std::string& options,
                                          const std::string& architecture, std::string& log,
                                          const std::string& device_name) {
    const nvrtc_library& library = required_nvrtc(device_name);
    std::vector<std::string> words{"--gpu-architecture=" + architecture};
    std::istringstream rest(options);
    for (std::string word; rest >> word;) words.push_back(word);

    nvrtc_program program(library.api, source);
    const nvrtcResult code = program.compile(words);
    log = program.log();
    if (code != NVRTC_SUCCESS)
        backend_support::fail_build(
            fmt::format("nvrtcCompileProgram (NVRTC {}.{}) failed with {} ({}) for {}{} with options '{}'.",
                        library.major, library.minor, library.api.nvrtcGetErrorString(code),
                        static_cast<unsigned>(code), architecture,
                        device_name.empty() ? "" : fmt::format(" on device '{}'", device_name), options),
            log, source);
    return architecture.starts_with("sm_") ? program.cubin() : program.ptx();
}

}  // namespace balm::cuda
