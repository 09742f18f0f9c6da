// A random heat world of 5000 x 5000 cells as text, 325 MB: written to a file and read from it, against the
// iostream operators. Both sides include the cost of the file's pages.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <string>
#include <vector>

#include "generate.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"
#include "world.hpp"

namespace {

using namespace balm::bench;

constexpr unsigned size = 5000;
constexpr int pairs = 3;

// Two temporary files, which the destructor removes.
struct two_files {
    two_files() = default;
    two_files(const two_files&) = delete;
    two_files& operator=(const two_files&) = delete;
    ~two_files() {
        std::remove(ours.c_str());
        std::remove(theirs.c_str());
    }
    std::string ours = name("ours"), theirs = name("theirs");

private:
    static std::string name(const char* whose) {
        return (std::filesystem::temp_directory_path() /
                fmt::format("balm_bench_{}_{}.txt", whose, ::getpid()))
            .string();
    }
};

template <class Value>
void print_rows(std::ostream& stream, const heat::world& world, const std::vector<Value>& values) {
    stream << "-\n";
    for (std::size_t y = 0, i = 0; y < world.height; ++y) {
        for (std::size_t x = 0; x < world.width; ++x) stream << ' ' << values[i++];
        stream << '\n';
    }
}

void write_by_iostream(const std::string& name, const heat::world& world) {
    std::ofstream file(name, std::ios::binary);
    file << "HPCEHeatWorldV0\n" << world.width << ' ' << world.height << ' ' << world.alpha << '\n';
    print_rows(file, world, world.properties);
    file << std::fixed << std::setprecision(8);
    print_rows(file, world, world.state);
    file << "End\n";
}

heat::world read_by_iostream(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    heat::world world;
    std::string token;
    file >> token >> world.width >> world.height >> world.alpha >> token;
    world.properties.resize(world.size());
    for (std::uint32_t& flags : world.properties) file >> flags;
    file >> token;
    world.state.resize(world.size());
    for (float& temperature : world.state) file >> temperature;
    return world;
}

void text_world(benchmark::State& state) {
    const two_files files;
    const heat::world world = heat::make_random(size, size, 0.1f, 1);
    heat::world ours, theirs;
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = compare_in_pairs(
            [&] {
                std::ofstream output(files.ours, std::ios::binary);
                heat::write_world(output, world, heat::format::text);
                output.close();
                std::ifstream input(files.ours, std::ios::binary);
                ours = heat::read_world(input);
            },
            [&] {
                write_by_iostream(files.theirs, world);
                theirs = read_by_iostream(files.theirs);
            },
            pairs);
        report(state, made, 10);
    }
    if (ours.state != theirs.state || ours.properties != theirs.properties)
        state.SkipWithError("the worlds differ");
}
BENCHMARK(text_world)
    ->Name("text heat world, 5000 x 5000, write and read")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
