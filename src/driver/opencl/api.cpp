#include "driver/opencl/api.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "base/opencl_loader.hpp"

namespace balm::opencl {

namespace {

// The names of entry points that the library lacks; empty if the table is complete.
std::string fill(loader_api& api, const runtime::shared_library& library) {
    std::string missing;
#define BALM_OPENCL_FIND(name) \
    api.name = library.function<std::remove_pointer_t<decltype(api.name)>>(#name, missing);
    BALM_OPENCL_TABLE(BALM_OPENCL_FIND)
#undef BALM_OPENCL_FIND
    return missing;
}

loader_library open_loader() {
    loader_library found;
    found.library = runtime::open_opencl_loader();
    if (!found.library) {
        for (const auto& failure : found.library.failures())
            found.notes.push_back(
                fmt::format("OpenCL: {} cannot be opened ({}).", failure.name, failure.reason));
        return found;
    }
    found.library.keep_loaded();
    if (const std::string missing = fill(found.api, found.library); missing.empty())
        found.is_ready = true;
    else
        found.notes.push_back(fmt::format("OpenCL: {} is too old or not an OpenCL loader: it lacks {}.",
                                          found.library.name(), missing));
    return found;
}

}  // namespace

const loader_library& load_loader() {
    static const auto* const library = new loader_library(open_loader());
    return *library;
}

}  // namespace balm::opencl
