// The legend. In: a picture. Out: the same with a bar, numbers and words below. Lengths are in dots; a dot is
// a square of pixels.

#include "legend.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "font.hpp"

namespace heat {
namespace {

constexpr unsigned margin = 3, side = 2, gap = 2, bar_height = 8, tick_height = 2;
constexpr unsigned tick_top = margin + bar_height, numbers_top = tick_top + tick_height + 1;
constexpr unsigned words_top = numbers_top + glyph_height + gap, line_pitch = glyph_height + gap;
constexpr colour paper = {255, 255, 255}, ink = {0, 0, 0};
// World files have temperatures from 0 (cold) to 1 (hot), without a unit.
constexpr std::string_view measure = "relative temperature", insulators = "insulator";
constexpr std::array<std::pair<double, std::string_view>, 5> ticks = {
    {{0.0, "0"}, {0.25, "0.25"}, {0.5, "0.5"}, {0.75, "0.75"}, {1.0, "1"}}};
constexpr unsigned swatch = glyph_height - 1;

constexpr unsigned columns_of(std::string_view words) {
    return static_cast<unsigned>(words.size()) * glyph_pitch;
}
constexpr unsigned narrowest =
    side + columns_of(measure) + 2 * glyph_pitch + swatch + gap + columns_of(insulators) + side;

class strip {
public:
    strip(picture& on, std::size_t top, unsigned dot) : picture_(on), top_(top), dot_(dot) {}

    unsigned width() const { return picture_.width / dot_; }

    void paint_bar(colour_map map) {
        const std::size_t last = picture_.width - 1;
        for (std::size_t x = 0; x <= last; ++x)
            picture_.fill(x, top_ + std::size_t{margin} * dot_, 1, std::size_t{bar_height} * dot_,
                          colour_of(map, static_cast<float>(x) / static_cast<float>(last)));
        for (const auto& [temperature, number] : ticks) {
            const auto at = static_cast<unsigned>(std::lround(temperature * (width() - 1)));
            fill(at, tick_top, 1, tick_height, ink);
            const unsigned wide = text_width(number), left = std::max(at, side + wide / 2) - wide / 2;
            write(std::min(left, width() - side - wide), numbers_top, number);
        }
    }

    void explain(colour_map map) {
        write(side, words_top, measure);
        const unsigned left = width() - side - text_width(insulators);
        fill(left - gap - swatch, words_top, swatch, swatch, insulator_colour(map));
        write(left, words_top, insulators);
    }

    void write(unsigned left, unsigned top, std::string_view text) {
        print(picture_, std::size_t{left} * dot_, top_ + std::size_t{top} * dot_, dot_, text, ink);
    }

private:
    void fill(unsigned left, unsigned top, unsigned columns, unsigned rows, const colour& with) {
        picture_.fill(std::size_t{left} * dot_, top_ + std::size_t{top} * dot_, std::size_t{columns} * dot_,
                      std::size_t{rows} * dot_, with);
    }

    picture& picture_;
    std::size_t top_;
    unsigned dot_;
};

void widen(picture& picture, unsigned width) {
    heat::picture wider{width, picture.height,
                        std::vector<std::uint8_t>(3 * std::size_t{width} * picture.height, paper[0])};
    for (std::size_t y = 0; y < picture.height; ++y)
        std::copy_n(picture.rgb.begin() + static_cast<std::ptrdiff_t>(y * picture.row_bytes()),
                    picture.row_bytes(),
                    wider.rgb.begin() + static_cast<std::ptrdiff_t>(y * wider.row_bytes()));
    picture = std::move(wider);
}

// Splits the captions into lines of at most `longest` characters, at spaces where possible.
std::vector<std::string> lines_of(const std::vector<std::string>& captions, std::size_t longest) {
    std::vector<std::string> lines;
    for (std::string rest : captions) {
        while (rest.size() > longest) {
            const std::size_t space = rest.rfind(' ', longest);
            const bool is_breakable = space != std::string::npos && space > 0;
            lines.push_back(rest.substr(0, is_breakable ? space : longest));
            rest.erase(0, is_breakable ? space + 1 : longest);
        }
        lines.push_back(rest);
    }
    return lines;
}

}  // namespace

void add_legend(picture& picture, colour_map map, const std::vector<std::string>& captions) {
    const unsigned dot = std::max(1u, picture.width / 256), width = std::max(picture.width / dot, narrowest);
    const auto lines = lines_of(captions, (width - 2 * side + 1) / glyph_pitch);
    const std::size_t height = (words_top + (lines.size() + 1) * line_pitch + margin - gap) * dot;
    if (height > std::numeric_limits<unsigned>::max() - picture.height)
        throw std::invalid_argument("the picture is too tall for a legend");
    if (picture.width < narrowest) widen(picture, narrowest);
    const unsigned top = picture.height;
    picture.height += static_cast<unsigned>(height);
    picture.rgb.resize(picture.row_bytes() * picture.height, paper[0]);
    strip below(picture, top, dot);
    below.paint_bar(map);
    below.explain(map);
    unsigned at = words_top;
    for (const std::string& line : lines) below.write(side, at += line_pitch, line);
}

}  // namespace heat
