// compare_worlds A B [--tolerance T]: prints the largest difference between the temperatures of two heat
// worlds. The exit code is 1 if it exceeds T, or if the worlds differ in anything else.

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iostream>
#include <system_error>

#include "command.hpp"
#include "reference.hpp"
#include "world.hpp"

namespace {

heat::world read(const std::string& file_name) {
    errno = 0;
    std::ifstream file(file_name, std::ios::binary);
    if (!file.is_open())
        throw std::runtime_error(
            fmt::format("\"{}\" cannot be opened: {}", file_name, std::generic_category().message(errno)));
    try {
        return heat::read_world(file);
    } catch (const heat::format_error& fault) {
        throw std::runtime_error(fmt::format("\"{}\": {}", file_name, fault.what()));
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::string first, second;
    float tolerance = 1;
    const auto app =
        heat::command_line("Prints the largest difference between two heat worlds.", "compare_worlds");
    heat::add_text(*app, "first", first, "a file with a world, text or binary");
    heat::add_text(*app, "second", second, "another");
    heat::add_number(*app, "--tolerance", tolerance, "the largest difference that is no fault");
    return heat::run_command(*app, argc, argv, [&] {
        const heat::world a = read(first), b = read(second);
        if (a.width != b.width || a.height != b.height)
            throw std::runtime_error(fmt::format("one world has {} x {} cells, the other {} x {}", a.width,
                                                 a.height, b.width, b.height));
        if (a.properties != b.properties)
            throw std::runtime_error("the cells of the two worlds differ in kind");
        const double difference = heat::max_difference(a.state, b.state);
        std::cout << fmt::format("{:.3g}\n", difference) << std::flush;
        if (difference > double{tolerance})
            throw std::runtime_error(
                fmt::format("the worlds differ by {:.3g}, more than {:g}", difference, tolerance));
        return 0;
    });
}
