// Examines the set-up of a machine: the environment, the drivers, the kernel cache, and each device at work.

#include "finding.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string_view>
#include <system_error>

#include "balm/context.hpp"
#include "balm/device.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "base/opencl_loader.hpp"
#include "base/system.hpp"
#include "command.hpp"
#include "nearest.hpp"
#include "runtime/device/platform.hpp"
#include "runtime/program/disk_cache.hpp"

namespace balm::tool {

namespace {

namespace fs = std::filesystem;

struct variable {
    std::string_view name, words;
};
constexpr variable known_variables[] = {
    {"BALM_BACKEND", "contexts use only devices of this backend"},
    {"BALM_CACHE", "0 disables the cache of compiled kernels"},
    {"BALM_CACHE_DIR", "compiled kernels are cached there"},
    {"BALM_CACHE_SIZE", "size limit of the cache of compiled kernels, in MiB"},
    {"BALM_DEVICE", "contexts use only devices with this in their names"},
    {"BALM_FUSE", "0 switches the fusion of recorded statements off"},
    {"BALM_LOCK_DIR", "lock files for exclusive use of devices are there"},
    {"BALM_MAX_DEVICES", "contexts use at most this many devices"},
    {"BALM_PLATFORM", "contexts use only platforms with this in their names"},
    {"BALM_POSITION", "contexts use the device at this position among those that match"},
    {"BALM_SHOW_KERNELS", "1 prints each kernel's source"},
    {"BALM_TYPE", "contexts use only devices of this type"},
    {"CUDA_HOME", "NVRTC is searched for there"},
    {"CUDA_PATH", "NVRTC is searched for there"},
    {"CUDA_VISIBLE_DEVICES", "CUDA exposes only these devices"},
    {"OCL_ICD_FILENAMES", "the OpenCL loader also opens these drivers"},
    {"OCL_ICD_VENDORS", "the OpenCL loader searches for drivers there"},
    {"POCL_CACHE_DIR", "PoCL caches its compiled kernels there"},
    {"POCL_DEVICES", "PoCL exposes these devices"},
    {"POCL_MAX_PTHREAD_COUNT", "PoCL uses at most this many threads"},
    {"XDG_CACHE_HOME", "compiled kernels are cached in balm/ there"},
};

/// Whether the variable belongs to the tests, the benchmarks or scripts/.
bool is_for_scripts(std::string_view name) {
    return name.starts_with("BALM_TEST_") || name.starts_with("BALM_LONG_") || name == "BALM_JOBS";
}

finding unknown_variable(std::string_view name) {
    std::vector<std::string> known;
    for (const variable& each : known_variables) known.emplace_back(each.name);
    const auto nearest = nearest_word(name, known);
    return {severity::note, "environment", fmt::format("{} is set, but Balm has no such variable", name),
            nearest ? fmt::format("did you mean {}?", *nearest) : fmt::format("unset {}", name)};
}

/// The file of the library that defines this function; empty if there is none.
std::string file_with(const runtime::shared_library& library, const char* function) {
    Dl_info found{};
    void* const address = library.symbol(function);
    if (address == nullptr || ::dladdr(address, &found) == 0 || found.dli_fname == nullptr) return {};
    return found.dli_fname;
}

finding look_at_icd(const fs::path& file) {
    std::string library;
    std::ifstream in(file);
    std::getline(in, library);
    while (!library.empty() && std::isspace(static_cast<unsigned char>(library.back())) != 0)
        library.pop_back();
    if (library.empty())
        return {severity::problem, file.string(), "does not name a library",
                fmt::format("remove {}", file.string())};
    const std::array names{library};
    runtime::shared_library opened = runtime::shared_library::open_first(names);
    if (!opened)
        return {severity::problem, file.string(), opened.describe_failures(),
                fmt::format("install the package that provides {}, or remove {}", library, file.string())};
    opened.keep_loaded();
    return {severity::ok, file.string(), library};
}

/// The name of a network file system, by f_type of statfs(2); null for others.
const char* network_file_system(const fs::path& folder) {
    struct statfs about {};
    if (::statfs(folder.c_str(), &about) != 0) return nullptr;
    switch (static_cast<std::uint32_t>(about.f_type)) {
        case 0x6969: return "NFS";
        case 0xff534d42: return "CIFS";
        case 0xfe534d42: return "SMB";
        case 0x0bd00bd0: return "Lustre";
        case 0x47504653: return "GPFS";
        default: return nullptr;
    }
}

/// The folder itself, or its nearest existing ancestor.
fs::path existing_part(fs::path folder) {
    std::error_code fault;
    while (folder.has_relative_path() && !fs::exists(folder, fault)) folder = folder.parent_path();
    return folder;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

finding look_at_device(const device& dev) {
    const std::string subject =
        fmt::format("device {}: {} ({})", position_of(dev), dev.info().name, to_string(dev.info().api));
    if (!dev.info().is_available) return {severity::problem, subject, "its driver reports it as unavailable"};
    try {
        constexpr int count = 1000;
        const context ctx(std::vector<device>{dev});
        std::vector<int> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0);
        const std::uint64_t hits = runtime::default_cache().counts().hits;
        auto start = std::chrono::steady_clock::now();
        const vector<int> x(ctx, numbers);
        vector<int> y(ctx, count);
        y = 3 * x + 4;
        const host_array<int> got = y.to_host();
        const double first = milliseconds_since(start);
        for (std::size_t k = 0; k < got.size(); ++k)
            if (got[k] != 3 * numbers[k] + 4)
                return {severity::problem, subject,
                        fmt::format("computes 3 * {} + 4 as {}", numbers[k], got[k]),
                        "run `balm selftest`; update or remove its driver"};
        const bool was_cached = runtime::default_cache().counts().hits > hits;
        start = std::chrono::steady_clock::now();
        y = 3 * x + 4;
        static_cast<void>(y[0]);
        return {severity::ok, subject,
                fmt::format("computes; the first statement took {:.4g} ms ({}), a later one {:.3g} ms", first,
                            was_cached ? "its kernel was cached" : "its kernel was compiled",
                            milliseconds_since(start))};
    } catch (const std::exception& fault) {
        return {severity::problem, subject, first_line(fault.what()),
                "if the driver is broken, remove it, or select another with BALM_PLATFORM or BALM_BACKEND"};
    }
}

}  // namespace

bool has_nvidia_gpu() {
    std::error_code fault;
    return fs::exists("/dev/nvidiactl", fault);
}

findings look_at_environment(const std::vector<std::string>& environment) {
    findings all;
    for (const std::string& line : environment) {
        const std::string_view name = std::string_view(line).substr(0, line.find('='));
        const std::string_view value = std::string_view(line).substr(std::min(name.size() + 1, line.size()));
        const auto* const known = std::find_if(std::begin(known_variables), std::end(known_variables),
                                               [&](const variable& v) { return v.name == name; });
        if (known != std::end(known_variables))
            all.push_back(
                {severity::note, "environment", fmt::format("{}={}: {}", name, value, known->words)});
        else if (name.starts_with("BALM_") && !is_for_scripts(name))
            all.push_back(unknown_variable(name));
    }
    return all;
}

findings look_at_opencl(const std::string& folder) {
    findings all;
    std::error_code fault;
    std::vector<fs::path> files;
    if (fs::is_regular_file(folder, fault)) files.emplace_back(folder);  // OCL_ICD_VENDORS may name a file
    for (const fs::directory_entry& each : fs::directory_iterator(folder, fault))
        if (each.path().extension() == ".icd") files.push_back(each.path());
    std::sort(files.begin(), files.end());
    const runtime::shared_library library = runtime::open_opencl_loader();
    const std::string loader = file_with(library, "clGetPlatformIDs");
    if (loader.empty())  // drivers without it are of no use
        all.push_back({files.empty() ? severity::note : severity::problem, "OpenCL loader",
                       library ? library.name() + " is not an OpenCL loader" : library.describe_failures(),
                       "for OpenCL devices: apt install ocl-icd-libopencl1"});
    else
        all.push_back({severity::ok, "OpenCL loader", loader});
    std::transform(files.begin(), files.end(), std::back_inserter(all), look_at_icd);
    if (files.empty() && folder == runtime::usual_opencl_vendors)
        all.push_back({severity::note, "OpenCL drivers", fmt::format("no *.icd file in {}", folder),
                       "for OpenCL on the CPU: apt install pocl-opencl-icd"});
    else if (files.empty())
        all.push_back(
            {severity::problem, "OpenCL drivers", fmt::format("no *.icd file in {}", folder),
             fmt::format("unset OCL_ICD_VENDORS: drivers are in {}", runtime::usual_opencl_vendors)});
    constexpr std::string_view prefix = "OpenCL: ";
    for (const std::string& each : runtime::platforms().notes)
        if (each.starts_with(prefix)) all.push_back({severity::note, "OpenCL", each.substr(prefix.size())});
    return all;
}

findings look_at_cuda() {
    const auto& devices = runtime::platforms().devices;
    const auto count = static_cast<unsigned long long>(std::count_if(
        devices.begin(), devices.end(), [](const auto& d) { return d->info().api == backend::cuda; }));
    if (count > 0) return {{severity::ok, "CUDA", counted(count, "device")}};
    if (!has_nvidia_gpu()) return {{severity::ok, "CUDA", "no NVIDIA GPU on this machine"}};
    findings all;
    if (::access("/dev/nvidiactl", R_OK | W_OK) != 0)
        all.push_back({severity::problem, "/dev/nvidiactl", "this user has no permission to open it",
                       "sudo usermod -aG video $USER, and log in again"});
    for (const std::string& each : runtime::platforms().notes)
        if (each.starts_with("CUDA"))
            all.push_back({severity::problem, "CUDA", each,
                           "install NVIDIA's driver and NVRTC (docs/devices.md says where Balm looks)"});
    return all;
}

findings look_at_cache() {
    const runtime::disk_cache& cache = runtime::default_cache();
    if (!cache.directory())
        return {{severity::note, "kernel cache", "off: every run compiles its kernels",
                 "unset BALM_CACHE, or set BALM_CACHE_DIR"}};
    const fs::path& folder = *cache.directory();
    if (const auto refusal = cache.refusal())
        return {{severity::problem, "kernel cache",
                 fmt::format("{} is not used: {}", folder.string(), *refusal),
                 fmt::format("chmod go-w '{0}', or set BALM_CACHE_DIR to another folder", folder.string())}};
    const fs::path there = existing_part(folder);
    if (::access(there.c_str(), W_OK | X_OK) != 0)
        return {{severity::problem, "kernel cache", fmt::format("{} is not writable", there.string()),
                 "set BALM_CACHE_DIR to another folder"}};
    findings all;
    const runtime::disk_cache::total total = cache.size();
    all.push_back({severity::ok, "kernel cache",
                   fmt::format("{} in {}, {} of at most {}", counted(total.entries, "kernel"),
                               folder.string(), in_bytes(total.bytes), in_bytes(cache.limit_bytes()))});
    if (const char* const name = network_file_system(there))
        all.push_back({severity::note, "kernel cache",
                       fmt::format("is on {}, which slows down program start-up", name),
                       "set BALM_CACHE_DIR to a local folder"});
    std::error_code fault;
    const fs::space_info space = fs::space(there, fault);
    if (!fault && space.available < (std::uintmax_t{64} << 20))
        all.push_back({severity::note, "kernel cache",
                       fmt::format("its disk has {} left", in_bytes(space.available)),
                       "free some space, or set BALM_CACHE_DIR to another folder"});
    return all;
}

findings look_at_devices() {
    findings all;
    for (const auto& each : runtime::platforms().devices) all.push_back(look_at_device(device(each)));
    if (all.empty())
        return {{severity::problem, "devices", "none found",
                 "fix the driver problems listed here, if any; without a GPU, apt install pocl-opencl-icd "
                 "ocl-icd-libopencl1 to compute on the CPU"}};
    try {
        const context chosen;
        for (const device& each : chosen.devices())
            all.push_back({severity::ok, "default context",
                           fmt::format("uses device {}, {}", position_of(each), each.info().name)});
    } catch (const error& fault) {
        all.push_back({severity::problem, "default context", first_line(fault.what()),
                       "change the BALM_… environment variables"});
    }
    return all;
}

}  // namespace balm::tool
