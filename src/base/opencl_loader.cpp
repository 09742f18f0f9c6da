#include "base/opencl_loader.hpp"

#include <array>
#include <string>

namespace balm::runtime {

shared_library open_opencl_loader() {
    shared_library library = shared_library::of_program();
    if (library.symbol("clGetPlatformIDs") != nullptr) return library;
    const std::array<std::string, 2> names{"libOpenCL.so.1", "libOpenCL.so"};
    return shared_library::open_first(names);
}

}  // namespace balm::runtime
