// The Mandelbrot set as a PNG, coloured by how fast each point escapes. `mandelbrot [file.png]`

#include <algorithm>
#include <balm/balm.hpp>
#include <balm/png.hpp>
#include <cmath>
#include <iostream>
#include <string>

namespace {

using namespace balm::dsl;
using std::fma;

constexpr int width = 640, height = 480, max_turns = 500;
constexpr double left = -2.2, top = -1.2, step = 2.4 / height;  // of the picture, in the complex plane
constexpr double far = 256;  // |z|^2 beyond this escapes; well beyond 4, so that the colours run smoothly

// z -> z^2 + c once, for host and device. Every rounding is explicit, so both find the same numbers: fma
// rounds once, and x * x is used twice, so it is never contracted.
template <class T>
struct orbit {
    T cx, cy, x = cx, y = cy, xx = x * x, yy = y * y;

    orbit(const T& column, const T& row) : cx(fma(column, T(step), T(left))), cy(fma(row, T(step), T(top))) {}
    auto is_near() const { return xx + yy < far; }
    void turn() {
        y = fma(x + x, y, cy);
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
    }
};

// One work-item per pixel, which writes its count and its colour.
const auto mandelbrot =
    balm::kernel<2>("mandelbrot(counts, colours)", [](Out<int, 2> counts, Out<balm::uchar4, 2> colours) {
        Int column = named("column", cast<int>(global_id(0))), row = named("row", cast<int>(global_id(1)));
        orbit<Double> z(cast<double>(column), cast<double>(row));
        Int turns = named("turns", 0);
        WHILE (turns < max_turns && z.is_near()) {
            z.turn();
            ++turns;
        }
        counts[row * width + column] = turns;

        // Escape velocity: the turns, and the fraction of the next one that log2(log2 |z|) determines.
        Float velocity = named("velocity", cast<float>(turns) - log2(log2(cast<float>(z.xx + z.yy)) / 8.f));
        const auto shade = [&](float phase) {
            return cast<unsigned char>(127.5f - 127.5f * cos(0.7f * sqrt(velocity) + phase));
        };
        Var<balm::uchar4> colour(0, 0, 0, 255);
        IF (turns < max_turns) {  // red, green and blue are out of phase
            colour.xyz = Var<balm::uchar3>(shade(0.f), shade(0.6f), shade(1.2f));
        }
        colours[row * width + column] = colour;
    });

int turns_on_host(int column, int row) {
    orbit<double> z(column, row);
    int turns = 0;
    for (; turns < max_turns && z.is_near(); ++turns) z.turn();
    return turns;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string file = argc > 1 ? argv[1] : "mandelbrot.png";
    balm::context ctx;
    balm::device dev = ctx.device(0);
    auto counts = dev.out_buffer<int>(height, width);
    auto colours = dev.out_buffer<balm::uchar4>(height, width);
    balm::event done = dev.execute(mandelbrot(counts, colours), {width, height});
    std::cerr << static_cast<double>(done.profile().duration()) * 1e-6 << " ms\n";

    balm::write_png(file, colours.read());

    const auto got = counts.read();
    size_t inside = 0, different = 0;
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
            const int turns = got(static_cast<size_t>(row), static_cast<size_t>(column));
            inside += turns == max_turns;
            different += turns != turns_on_host(column, row);
        }
    std::cout << inside << " of " << got.size() << " points do not escape; " << different
              << " counts differ from the host's\n";
    return different == 0 ? 0 : 1;
}
