// Pictures: the golden bitmaps byte by byte, and PNG files read back by libpng.

#include <png.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "generate.hpp"
#include "golden.hpp"
#include "image.hpp"
#include "support/scratch_directory.hpp"

namespace {

using heat_test::golden;
using heat_test::parse;

class H1_render : public testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    std::size_t files() const { return folder_.names().size(); }

private:
    balm::test::scratch_directory folder_;
};

TEST_F(H1_render, bitmaps_equal_the_golden_ones) {
    for (const std::string name : {"slalom_33.dt0.1.n1000", "random_37x21.dt0.1.n50"}) {
        heat::render(parse(golden(name + ".txt")), path("world.bmp"));
        const std::string bytes = heat_test::read_file(path("world.bmp")), expected = golden(name + ".bmp");
        ASSERT_EQ(bytes.size(), expected.size());
        EXPECT_EQ(bytes.substr(0, 54), expected.substr(0, 54));
        for (std::size_t i = 54; i < bytes.size(); ++i) {
            const int found = static_cast<unsigned char>(bytes[i]),
                      wanted = static_cast<unsigned char>(expected[i]);
            ASSERT_LE(std::abs(found - wanted), 1) << name << ", byte " << i;
        }
    }
}

TEST_F(H1_render, paints_cold_blue_hot_red_and_insulators_green) {
    heat::world world = heat::make_random(4, 1, 0.1f, 1);
    world.properties = {heat::normal, heat::fixed, heat::normal, heat::insulator};
    world.state = {0.0f, 1.0f, 0.5f, 0.5f};
    EXPECT_EQ(heat::paint(world).rgb,
              (std::vector<std::uint8_t>{0, 0, 255, 255, 0, 0, 127, 0, 128, 0, 255, 0}));
}

TEST_F(H1_render, png_holds_the_painted_pixels) {
    for (const auto& [width, height] : {std::pair{37u, 21u}, {1u, 5u}, {64u, 3u}, {1u, 1u}}) {
        heat::random_options open;
        open.closed_border = false;
        const heat::world world = heat::make_random(width, height, 0.1f, 11, open);
        heat::render(world, path("world.PNG"));

        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        ASSERT_NE(png_image_begin_read_from_file(&image, path("world.PNG").c_str()), 0) << image.message;
        EXPECT_EQ(image.width, width);
        EXPECT_EQ(image.height, height);
        image.format = PNG_FORMAT_RGB;
        std::vector<std::uint8_t> rgb(PNG_IMAGE_SIZE(image));
        ASSERT_NE(png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr), 0) << image.message;
        EXPECT_EQ(rgb, heat::paint(world).rgb);
    }
}

TEST_F(H1_render, replaces_a_file_and_leaves_nothing_beside_it) {
    heat::render(heat::make_slalom(10, 12, 0.1f), path("world.png"));
    heat::render(heat::make_slalom(12, 10, 0.1f), path("world.png"));
    EXPECT_EQ(files(), 1u);
}

TEST_F(H1_render, a_picture_that_cannot_be_written_leaves_nothing) {
    const heat::world world = heat::make_slalom(10, 10, 0.1f);
    EXPECT_THROW(heat::render(world, path("no/such/folder.png")), std::runtime_error);
    std::filesystem::create_directory(path("folder.bmp"));
    EXPECT_THROW(heat::render(world, path("folder.bmp")), std::runtime_error);
    EXPECT_EQ(files(), 1u);
}

TEST_F(H1_render, other_extensions_are_refused) {
    const heat::world world = heat::make_slalom(10, 10, 0.1f);
    for (const char* name : {"world.gif", "world", "png", "world.png.txt", ""})
        EXPECT_THROW(heat::render(world, *name != 0 ? path(name) : name), std::invalid_argument) << name;
    EXPECT_EQ(files(), 0u);
}

}  // namespace
