#include "driver/cuda/driver_api.hpp"

#include <fmt/format.h>

#include <array>

#include "base/system.hpp"
#include "driver/cuda/check.hpp"

namespace balm::cuda {

namespace {

#define BALM_CUDA_FIND(name, symbol, ...) \
    api.name = library.function<CUresult(__VA_ARGS__)>(#symbol, missing);

// The names of entry points that the library lacks; empty if the table is complete.
std::string fill(driver_api& api, const runtime::shared_library& library) {
    std::string missing;
    BALM_CUDA_DRIVER_TABLE(BALM_CUDA_FIND)
    return missing;
}
std::string fill_loops(driver_api& api, const runtime::shared_library& library) {
    std::string missing;
    BALM_CUDA_LOOP_TABLE(BALM_CUDA_FIND)
    return missing;
}

#undef BALM_CUDA_FIND

driver_library open_driver() {
    driver_library found;
    const std::array<std::string, 2> names{"libcuda.so.1", "libcuda.so"};
    auto library = runtime::shared_library::open_first(names);
    if (!library) {
        for (const auto& failure : library.failures())
            found.notes.push_back(
                fmt::format("CUDA: {} cannot be opened ({}).", failure.name, failure.reason));
        return found;
    }
    library.keep_loaded();
    if (const std::string missing = fill(found.api, library); !missing.empty()) {
        found.notes.push_back(
            fmt::format("CUDA: {} is too old or not a CUDA driver: it lacks {}.", library.name(), missing));
        return found;
    }
    found.has_loops = fill_loops(found.api, library).empty();
    found.api.cuDriverGetVersion(&found.version);
    const CUresult code = found.api.cuInit(0);
    if (code == CUDA_SUCCESS)
        found.is_ready = true;
    else
        found.notes.push_back(
            fmt::format("CUDA: cuInit of {} failed with {}.", library.name(), error_text(found.api, code)));
    return found;
}

}  // namespace

const driver_library& load_driver() {
    static const auto* const library = new driver_library(open_driver());
    return *library;
}

}  // namespace balm::cuda
