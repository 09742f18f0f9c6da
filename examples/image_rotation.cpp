// A picture rotated and enlarged by a sampler, which reads between the picture's elements: one kernel, three
// samplers.

#include <balm/balm.hpp>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

namespace {

const std::vector<std::string> arrow{
    "........",  //
    "...##...",  //
    "..####..",  //
    ".######.",  //
    "...##...",  //
    "...##...",  //
    "...##...",  //
    "........",
};

void show(const char* what, const balm::host_array<float>& picture) {
    std::cout << what << '\n';
    for (size_t row = 0; row < picture.shape()[0]; ++row) {
        std::cout << "  ";
        for (size_t column = 0; column < picture.shape()[1]; ++column)
            std::cout << (picture(row, column) > 0.5f ? "##" : "..");
        std::cout << '\n';
    }
}

}  // namespace

int main() {
    using namespace balm::dsl;

    // Bytes on the host; kernels see 0 to 1.
    std::vector<std::uint8_t> bytes;
    for (const std::string& row : arrow)
        for (char c : row) bytes.push_back(c == '#' ? 255 : 0);

    balm::context ctx(balm::filter::images);
    balm::device dev = ctx.device(0);
    auto picture = dev.image<balm::normalised<std::uint8_t>>(8, 8);
    picture.write(bytes);

    // Each element of the result reads its position before the rotation: x along a row, both relative to the
    // middle.
    auto rotate = balm::kernel<2>("rotate(cosine, sine, shown, from, to)",
                                  [](Float cosine, Float sine, Float shown,
                                     Sampled<balm::normalised<std::uint8_t>, 2> from, OutImage<float, 2> to) {
                                      Index column = global_id(0), row = global_id(1);
                                      Float x = (cast<float>(column) + 0.5f) / cast<float>(to.width()) - 0.5f;
                                      Float y = (cast<float>(row) + 0.5f) / cast<float>(to.height()) - 0.5f;
                                      to(row, column) = from(shown * (cosine * x + sine * y) + 0.5f,
                                                             shown * (cosine * y - sine * x) + 0.5f);
                                  });

    const float angle = 0.59f;
    auto turned = dev.image<float>(24, 24);
    auto run = [&](const char* what, float shown, const balm::sampler& through) {
        dev.execute(rotate(std::cos(angle), std::sin(angle), shown, picture.sampled(through), turned),
                    {24, 24});
        show(what, turned.read());
    };
    balm::sampler sampler;
    sampler.coordinates = balm::image_coordinates::normalised;
    sampler.address = balm::address_mode::clamp_to_border;
    run("the nearest element:", 1.3f, sampler);
    sampler.filter = balm::image_filter::linear;
    run("linear:", 1.3f, sampler);
    sampler.address = balm::address_mode::mirrored_repeat;
    run("linear, with mirrors around:", 2.6f, sampler);
}
