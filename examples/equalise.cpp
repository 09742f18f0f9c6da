// Histogram equalisation: a grey picture of poor contrast is spread over all greys. The new grey of a pixel
// is the share of pixels that are no lighter: a histogram, its cumulative sums, and a lookup table that the
// picture indexes. `equalise [file.png]` writes the picture before and after, side by side.

#include <balm/balm.hpp>
#include <balm/png.hpp>
#include <cstdint>
#include <cstdio>

namespace {

using grey = unsigned char;
constexpr std::int64_t width = 512, height = 384, pixels = width * height, greys = 256;

/// Hills in fog. Made only of + - * / and random numbers, which all devices compute identically.
balm::vector<grey> foggy_picture(const balm::context& ctx) {
    const auto i = balm::element_index(0, pixels);
    const auto x = balm::cast<double>(i % width) / height, y = balm::cast<double>(i / width) / height;
    const auto hill = [&](double middle_x, double middle_y, double radius) {
        const auto dx = (x - middle_x) / radius, dy = (y - middle_y) / radius;
        return 1.0 / (1.0 + dx * dx + dy * dy);
    };
    const auto light = hill(0.3, 0.4, 0.3) + 0.8 * hill(1.0, 0.65, 0.3) - 0.9 * hill(0.7, 0.4, 0.2);
    const auto grain = balm::uniform<double>()(i, 2026);
    balm::vector<grey> picture(ctx, pixels);
    picture = balm::cast<grey>(90.0 + 60.0 * light + 4.0 * grain);
    return picture;
}

/// The number of pixels with each grey or a darker one.
balm::expr<std::int64_t> cumulative_histogram(const balm::vector<grey>& picture) {
    return balm::inclusive_scan(balm::bincount(picture, greys));
}

void print_statistics(const char* when, const balm::vector<grey>& picture) {
    const auto [least, most, sum] =
        balm::reduce(balm::min_of(picture), balm::max_of(picture), balm::sum_of(picture));
    // If all greys are equally frequent, the cumulative histogram is a straight line.
    const auto line = (balm::element_index(0, greys) + 1.0) / greys;
    const auto share = balm::cast<double>(cumulative_histogram(picture)) / pixels;
    const double distance = balm::max(abs(share - line));
    std::printf("%s: greys from %d to %d, mean %.1f; cumulative histogram within %.2f of a straight line\n",
                when, least, most, static_cast<double>(sum) / pixels, distance);
}

}  // namespace

int main(int argc, char** argv) {
    const balm::context ctx;
    const balm::vector<grey> picture = foggy_picture(ctx);

    const balm::vector<grey> table = balm::cast<grey>((greys - 1) * cumulative_histogram(picture) / pixels);
    const balm::vector<grey> equalised = table[picture];

    print_statistics("before", picture);
    print_statistics("after", equalised);

    if (argc > 1) {
        balm::vector<grey> both(ctx, 2 * pixels);
        auto page = balm::view(both, {height, 2 * width});
        page(balm::all, balm::slice(0, width)) = balm::view(picture, {height, width});
        page(balm::all, balm::slice(width, 2 * width)) = balm::view(equalised, {height, width});
        balm::write_png(argv[1], page);
    }
}
