// expect nothing: every line of docs/buffers.md
#include <algorithm>
#include <array>
#include <balm/balm.hpp>

using namespace balm::dsl;

void documented(const balm::device& device, std::vector<float> host, std::array<float, 10> ten,
                std::size_t n);
void documented(const balm::device& device, std::vector<float> host, std::array<float, 10> ten,
                std::size_t n) {
    const std::size_t rows = 16, columns = 16;
    auto a = device.in_buffer<float>(n);
    auto r = device.out_buffer<float>(rows, columns);
    auto m = device.mixed_buffer<balm::float4>(n);
    auto total = device.mixed_buffer<float>();
    auto b = device.mixed_buffer<float>(n);
    auto grid = device.mixed_buffer<float>(rows, columns), other = device.mixed_buffer<float>(rows, columns);
    const std::vector<float> row(columns), hundred(100);

    balm::event written = a.write(host);
    a.write({1, 2, 3});
    a.write(host.begin(), host.end());
    a.write(std::move(host), written);
    balm::event copied = a.copy_to(b, written);
    balm::event filled = m.fill({1, 2, 3, 4});
    const balm::event done = filled;
    balm::host_array<float> got = r.read(done);
    r.read_into(got);
    auto later = r.read_async(done);
    got = later.get();
    total.write(2.f);
    float sum = total.read();

    b.range(10, 20).write(ten);
    b.from(90).copy_to(b.until(10));
    b.range(0, 100).copy_to(b.range(1, 101));
    grid.region({0, 3}, {rows, 1}).fill(0.f);
    grid.region({8, 8}, {4, 4}).copy_to(other.region({0, 0}, {4, 4}));
    auto tile = grid.region({8, 8}, {4, 4}).read();
    b.from(16).reshaped({rows, columns}).region({1, 0}, {1, columns}).write(row);
    auto vectors = b.as<balm::float4>();
    static_cast<void>(vectors.size() + tile.size());
    auto scale = balm::kernel<1>("scale", [](Float factor, In<float> in, Out<float> out) {
        Index i = global_id(0);
        out[i] = factor * in[i];
    });
    device.execute(scale(sum, b.range(0, 100), b.from(900)), {100});

    balm::device_pointer<float> p = device.allocate<float>(1000);
    p.range(100).write(hundred);
    device.execute(scale(2.f, p, p + 500), {100});
    balm::device_pointer<balm::float4> q = (p + 4).as<balm::float4>();
    std::ptrdiff_t far = (p + 8) - p;
    balm::device_pointer into(b.from(3));
    static_cast<void>(q.size_bytes() + into.size_bytes() + static_cast<std::size_t>(far));

    balm::pinned_array<float> in = device.pinned_array<float>(n), out = device.pinned_array<float>(n);
    std::fill(in.begin(), in.end(), 1.f);
    balm::event sent = b.write(in);
    balm::event back = b.read_into(out, sent);
    b.range(0, 10).write(in.until(10));
    {
        auto view = b.map();
        for (float& x : view) x *= 2;
    }
    static_cast<void>(b.map_to_read().size() + b.map_to_overwrite().size());
    balm::managed_array<float> managed = device.managed_array<float>(n);
    managed.write(hundred);
    device.execute(scale(2.f, managed, b), {n});
    {
        auto view = managed.map();
        view[0] = static_cast<float>(view.data() == managed.address());
    }
    static_cast<void>(b.size_bytes() + balm::size_on_device(row));
    b.free();
    device.finish();
    device.trim();
    static_cast<void>(device.memory().in_use);
    device.free();
}
