// Animated PNG: taken apart here by the specification, with a CRC of its own; libpng decodes each frame.

#include "animation.hpp"

#include <png.h>

#include <filesystem>
#include <random>

#include "generate.hpp"
#include "golden.hpp"
#include "image.hpp"
#include "programs.hpp"
#include "support/scratch_directory.hpp"

namespace {

using bytes = std::string;

std::uint32_t number(const bytes& from, std::size_t at, int count = 4) {
    std::uint32_t result = 0;
    for (int i = 0; i < count; ++i) result = result << 8 | static_cast<unsigned char>(from.at(at++));
    return result;
}

bytes big_endian(std::uint32_t value) {
    bytes result;
    for (int shift = 24; shift >= 0; shift -= 8) result += static_cast<char>(value >> shift & 0xff);
    return result;
}

// Bit by bit, as the specification defines it.
std::uint32_t crc(const bytes& of) {
    std::uint32_t rest = 0xffffffff;
    for (const char each : of) {
        rest ^= static_cast<unsigned char>(each);
        for (int bit = 0; bit < 8; ++bit) rest = rest & 1 ? rest >> 1 ^ 0xedb88320 : rest >> 1;
    }
    return ~rest;
}

bytes chunk(const bytes& type, const bytes& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + type + data + big_endian(crc(type + data));
}

const bytes signature = "\x89PNG\r\n\x1a\n";

struct frame {
    std::uint32_t x, y, width, height, numerator, denominator;
    bytes compressed;
};

struct parsed {
    std::uint32_t width = 0, height = 0, claimed_frames = 0, chunks = 0;
    std::vector<frame> frames;
};

// What the file holds; every rule of its structure is checked on the way.
parsed parse_animation(const bytes& file) {
    parsed result;
    EXPECT_EQ(file.substr(0, 8), signature);
    std::uint32_t sequence = 0;
    bytes before;
    for (std::size_t at = 8; at < file.size();) {
        const std::uint32_t length = number(file, at);
        const bytes type = file.substr(at + 4, 4), data = file.substr(at + 8, length);
        EXPECT_EQ(number(file, at + 8 + length), crc(type + data)) << type << " at " << at;
        at += length + 12;
        ++result.chunks;
        if (type == "IHDR") {
            EXPECT_EQ(before, "");
            result.width = number(data, 0);
            result.height = number(data, 4);
            EXPECT_EQ(data.substr(8), bytes("\x08\x02\0\0\0", 5));
        } else if (type == "acTL") {
            EXPECT_EQ(before, "IHDR");
            result.claimed_frames = number(data, 0);
            EXPECT_EQ(number(data, 4), 0u) << "loops";
        } else if (type == "fcTL") {
            EXPECT_EQ(data.size(), 26u);
            EXPECT_EQ(number(data, 0), sequence++);
            EXPECT_EQ(number(data, 24, 2), 0u) << "no disposal, no blending";
            result.frames.push_back({number(data, 12), number(data, 16), number(data, 4), number(data, 8),
                                     number(data, 20, 2), number(data, 22, 2), ""});
        } else if (type == "IDAT" || type == "fdAT") {
            EXPECT_EQ(type == "IDAT", result.frames.size() == 1);
            if (type == "fdAT") {
                EXPECT_EQ(number(data, 0), sequence++);
            }
            result.frames.at(result.frames.size() - 1).compressed += data.substr(type == "fdAT" ? 4 : 0);
        } else {
            EXPECT_EQ(type, "IEND");
            EXPECT_EQ(at, file.size());
        }
        before = type;
    }
    EXPECT_EQ(before, "IEND");
    EXPECT_EQ(result.claimed_frames, result.frames.size());
    return result;
}

// A frame's pixels, by libpng: as the only image of a file.
std::vector<std::uint8_t> decode(const frame& of) {
    const bytes file =
        signature + chunk("IHDR", big_endian(of.width) + big_endian(of.height) + bytes("\x08\x02\0\0\0", 5)) +
        chunk("IDAT", of.compressed) + chunk("IEND", "");
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0) << image.message;
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> rgb(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr), 0) << image.message;
    return rgb;
}

// What a viewer shows, frame by frame.
std::vector<std::vector<std::uint8_t>> shown(const parsed& film) {
    std::vector<std::vector<std::uint8_t>> result;
    std::vector<std::uint8_t> canvas(3 * std::size_t{film.width} * film.height);
    for (const frame& each : film.frames) {
        EXPECT_LE(each.x + each.width, film.width);
        EXPECT_LE(each.y + each.height, film.height);
        const std::vector<std::uint8_t> rgb = decode(each);
        for (std::size_t y = 0; y < each.height; ++y)
            std::copy_n(
                rgb.begin() + static_cast<std::ptrdiff_t>(3 * y * each.width), 3 * each.width,
                canvas.begin() + static_cast<std::ptrdiff_t>(3 * ((each.y + y) * film.width + each.x)));
        result.push_back(canvas);
    }
    return result;
}

class H4_animation : public testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    bytes contents(const std::string& name) const { return heat_test::read_file(folder_ / name); }
    std::vector<std::string> names() const { return folder_.names(); }

private:
    balm::test::scratch_directory folder_;
};

// Noise, smooth pictures, single pixels that change, and pictures that do not.
std::vector<heat::picture> make_pictures(unsigned width, unsigned height, std::mt19937_64& random) {
    std::vector<heat::picture> result;
    heat::picture picture{width, height, std::vector<std::uint8_t>(3 * std::size_t{width} * height)};
    for (int i = 0; i < 8; ++i) {
        for (std::size_t k = 0; k < picture.rgb.size(); ++k) {
            if (i == 0 || i == 7) picture.rgb[k] = static_cast<std::uint8_t>(random());
            if (i == 3) picture.rgb[k] = static_cast<std::uint8_t>(k / 3 % width + k / 3 / width);
        }
        if (i % 3 == 1) picture.rgb[random() % picture.rgb.size()] ^= 1;
        result.push_back(picture);
    }
    return result;
}

TEST_F(H4_animation, holds_the_pictures_that_were_added) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto some = [&](unsigned most) { return 1 + static_cast<unsigned>(random() % most); };
    for (const auto& [width, height] :
         {std::pair{1u, 1u}, {some(40), some(40)}, {some(40), 1u}, {1u, some(40)}, {201u, 160u}}) {
        const std::vector<heat::picture> pictures = make_pictures(width, height, random);
        heat::animation film(path("film.png"), 25);
        for (const heat::picture& each : pictures) film.add(each);
        EXPECT_EQ(film.frames(), pictures.size());
        film.complete();
        EXPECT_EQ(names(), (std::vector<std::string>{"film.png"}));
        const parsed file = parse_animation(contents("film.png"));
        ASSERT_EQ(file.width, width);
        ASSERT_EQ(file.height, height);
        const auto frames = shown(file);
        ASSERT_EQ(frames.size(), pictures.size());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            EXPECT_EQ(frames[i], pictures[i].rgb) << width << " x " << height << ", picture " << i;
            EXPECT_EQ(file.frames[i].denominator, 25 * file.frames[i].numerator);
        }
        EXPECT_EQ(file.frames[1].width * file.frames[1].height, 1u) << "one pixel differs";
        if (width == 201) {
            EXPECT_GT(file.chunks, 2 * pictures.size() + 3) << "noise takes several chunks";
        }
    }
}

TEST_F(H4_animation, the_last_picture_may_be_shown_for_longer) {
    const heat::picture picture = heat::paint(heat::make_slalom(9, 9, 0.1f));
    heat::animation film(path("film.apng"), 10);
    film.add(picture);
    film.add(picture);
    film.complete(1500);
    const parsed file = parse_animation(contents("film.apng"));
    EXPECT_EQ(file.frames.at(0).numerator * 10, file.frames.at(0).denominator);
    EXPECT_EQ(file.frames.at(1).numerator * 2, file.frames.at(1).denominator * 3);
}

TEST_F(H4_animation, pictures_are_on_the_disk_before_the_next_one_comes) {
    std::mt19937_64 random(heat_test::fresh_seed());
    heat::picture noise{64, 64, std::vector<std::uint8_t>(3 * 64 * 64)};
    heat::animation film(path("film.png"), 10);
    for (std::uintmax_t i = 1; i <= 4; ++i) {
        for (std::uint8_t& each : noise.rgb) each = static_cast<std::uint8_t>(random());
        film.add(noise);
        ASSERT_EQ(names().size(), 1u);
        EXPECT_GT(std::filesystem::file_size(path(names()[0])), i * noise.rgb.size() - 8192);
    }
}

TEST_F(H4_animation, what_cannot_be_animated_is_refused_and_leaves_nothing) {
    for (const char* name : {"film.gif", "film", "film.bmp", "film.png.txt"})
        EXPECT_THROW(heat::animation(path(name), 10), std::invalid_argument) << name;
    for (const unsigned rate : {0u, 1001u})
        EXPECT_THROW(heat::animation(path("film.png"), rate), std::invalid_argument);
    EXPECT_THROW(heat::animation(path("no/such/film.png"), 10), std::runtime_error);
    {
        heat::animation film(path("film.png"), 10);
        EXPECT_THROW(film.complete(), std::logic_error);
        EXPECT_THROW(film.add(heat::picture{}), std::invalid_argument);
        film.add(heat::paint(heat::make_slalom(9, 9, 0.1f)));
        EXPECT_THROW(film.add(heat::paint(heat::make_slalom(9, 10, 0.1f))), std::invalid_argument);
    }
    EXPECT_TRUE(names().empty());
}

using H4_programs = heat_test::heat_programs;

TEST_F(H4_programs, step_world_animates_a_run) {
    const heat_test::outcome result =
        run("make_world 12 0.5 >start && step_world --frames folder --animate film.png --every 3 --scale 2 "
            "--frames-per-second 7 0.5 7 1 <start >end && cat film.png");
    ASSERT_EQ(result.code, 0) << result.err;
    const parsed file = parse_animation(result.out);
    ASSERT_EQ(file.frames.size(), 4u);
    EXPECT_EQ(file.frames[0].denominator, 7u);
    const heat::world end = heat_test::parse(run("cat end").out);
    const auto frames = shown(file);
    EXPECT_EQ(frames.back(), heat::paint(end, {.scale = {2, 1}}).rgb);
    EXPECT_NE(frames[0], frames[1]);
    EXPECT_EQ(run("render_world last.png --scale 2 <end && cmp last.png folder/step_0000000007.png").code, 0);

    const bytes still =
        run("step_world --animate still.apng --legend 0.5 0 <start >same && cat still.apng").out;
    EXPECT_EQ(parse_animation(still).frames.size(), 1u);
    expect_refusal("step_world --animate film.gif <start", "step_world", "must end in .png or .apng");
    expect_refusal("step_world --animate no/film.png <start", "step_world", "No such file");
    expect_refusal("step_world --frames-per-second 0 <start", "step_world", "--frames-per-second");
}

}  // namespace
