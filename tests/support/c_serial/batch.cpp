#include "support/c_serial/batch.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <vector>

#include "emit/printer.hpp"
#include "support/c_serial/arguments.hpp"
#include "support/c_serial/dialect.hpp"
#include "support/child_process.hpp"

namespace balm::test {

namespace {

balm_serial::argument converted(const interpreter_argument& given) {
    balm_serial::argument made;
    made.bits = given.bits;
    made.memory = given.memory.data();
    for (std::size_t d = 0; d < 3; ++d) made.extents[d] = given.extents[d];
    made.between = static_cast<balm_serial::filter>(given.through.filter);
    made.beyond = static_cast<balm_serial::address>(given.through.address);
    made.is_normalised = given.through.coordinates == image_coordinates::normalised;
    return made;
}

/// GCC 12 computes the last value of a counter wrong if the sum of its steps exceeds its type (-O1).
#ifdef __clang__
constexpr const char* right_counters = "-O1";
#else
constexpr const char* right_counters = "-fno-tree-scev-cprop";
#endif

}  // namespace

std::size_t serial_batch::add(const ir::function& kernel) {
    const emit::printed source = emit::print_program(kernel, c_serial());
    source_ += fmt::format(
        "\nnamespace balm_{0} {{\n{1}\n}}\n"
        "BALM_ENTRY void balm_run_{0}(const balm_serial::argument* given, const balm_serial::grid& g) {{\n"
        "    balm_serial::launch(balm_{0}::{2}, given, g);\n}}\n",
        count_, source.text, source.kernel_name);
    return count_++;
}

void serial_batch::compile() {
    const std::string source = folder_ / "kernels.cpp", library = folder_ / "kernels.so";
    std::ofstream(source) << source_;
    // Pointers into memory may be reinterpreted; only Balm contracts; what libraries share cannot be
    // unloaded.
    const process_end end = run_program(
        BALM_TEST_CXX, {"-std=c++20", "-O1", "-w", "-fPIC", "-shared", "-ffp-contract=off",
                        "-fno-strict-aliasing", right_counters, "-fvisibility=hidden",
                        "-I" BALM_TEST_SOURCE_DIR "/tests/support/c_serial", "-o", library, source});
    if (end.status != 0) throw std::runtime_error(end.err + "\n" + source_);
    library_.reset(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!library_) throw std::runtime_error(::dlerror());
}

void serial_batch::run(std::size_t number, const interpreter_grid& on,
                       std::span<const interpreter_argument> arguments) const {
    using entry = void (*)(const balm_serial::argument*, const balm_serial::grid&);
    const auto run =
        reinterpret_cast<entry>(::dlsym(library_.get(), fmt::format("balm_run_{}", number).c_str()));
    std::vector<balm_serial::argument> given;
    for (const interpreter_argument& each : arguments) given.push_back(converted(each));
    balm_serial::grid grid;
    for (std::size_t d = 0; d < 3; ++d) {
        grid.global[d] = on.global[d];
        grid.local[d] = on.local[d];
    }
    run(given.data(), grid);
}

void serial_batch::close::operator()(void* library) const noexcept { ::dlclose(library); }

bool has_serial_compiler() { return ::access(BALM_TEST_CXX, X_OK) == 0; }

}  // namespace balm::test
