// expect nothing: every line of docs/images.md
#include <balm/balm.hpp>

using namespace balm::dsl;

void documented(const balm::device& device, const std::vector<balm::uchar4>& pixels,
                const balm::image<balm::float4, 2>& small, balm::vector<float>& values,
                const balm::vector<float>& u, const balm::vector<float>& v);
void documented(const balm::device& device, const std::vector<balm::uchar4>& pixels,
                const balm::image<balm::float4, 2>& small, balm::vector<float>& values,
                const balm::vector<float>& u, const balm::vector<float>& v) {
    const std::size_t planes = 8, rows = 16, columns = 16;
    auto buffer = device.mixed_buffer<float>(rows, columns);
    auto sharper = device.image<float>(rows, columns);

    auto heights = device.image<float>(rows, columns);
    auto photo = device.image<balm::normalised<balm::uchar4>>(rows, columns);
    auto volume = device.image<std::int16_t, 3>({planes, rows, columns});
    photo.write(pixels);
    photo.region({8, 8}, {4, 4}).fill({255, 0, 0, 255});
    balm::host_array<balm::uchar4> tile = photo.region({8, 8}, {4, 4}).read();
    balm::event copied = heights.copy_to(buffer);

    auto sharpen = balm::kernel<2>("sharpen(in, out)", [](InImage<float, 2> in, OutImage<float, 2> out) {
        Index column = global_id(0), row = global_id(1);
        out(row, column) = 5.f * in(row, column) - in(row - 1, column) - in(row + 1, column) -
                           in(row, column - 1) - in(row, column + 1);
    });
    device.execute(sharpen(heights, sharper), {columns, rows});

    auto shrink = balm::kernel<2>(
        "shrink(in, out)", [](Sampled<balm::normalised<balm::uchar4>, 2> in, OutImage<balm::float4, 2> out) {
            Index column = global_id(0), row = global_id(1);
            Float x = (cast<float>(column) + 0.5f) / cast<float>(out.width());
            Float y = (cast<float>(row) + 0.5f) / cast<float>(out.height());
            out(row, column) = in(x, y);
        });
    const balm::sampler smooth{.filter = balm::image_filter::linear,
                               .address = balm::address_mode::clamp_to_edge,
                               .coordinates = balm::image_coordinates::normalised};
    device.execute(shrink(photo.sampled(smooth), small), {small.width(), small.height()});

    values = balm::sample(heights.sampled(smooth), u, v);
    auto red = balm::function("red", [](Sampled<balm::normalised<balm::uchar4>, 2> in, Float x, Float y) {
        return Float(in(x, y).x);
    });
    values = red(photo.sampled(smooth), u, v);
    static_cast<void>(volume);
}
