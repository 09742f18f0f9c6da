// expect nothing: the examples of docs/modules.md, as they stand there.
#include <balm/balm.hpp>

#include <span>

using namespace balm::dsl;

const balm::module<balm::host_array<float>(std::span<const float>)> smooth([](balm::module_builder& m) {
    auto weights = m.constant<float>("weights", 3);
    auto k = m.kernel<1>("smooth(in, out)", [=](In<float> in, Out<float> out) {
        Index i = global_id(0), last = global_size(0) - 1;
        out[i] = weights[0] * in[max(i - 1, 0)] + weights[1] * in[i] + weights[2] * in[min(i + 1, last)];
    });
    return m.entry([=](balm::program& p, std::span<const float> values) {
        auto in = p.device().in_buffer<float>(values.size());
        auto out = p.device().out_buffer<float>(values.size());
        in.write(values);
        p.set(weights, {0.25f, 0.5f, 0.25f});
        p.execute(k(in, out), {values.size()});
        return out.read();
    });
});

void instances(const balm::device& device, std::span<const float> x);
void instances(const balm::device& device, std::span<const float> x) {
    auto on_gpu = smooth.on(device);
    balm::host_array<float> y = on_gpu(x);
}

void options(balm::module_builder& m);
void options(balm::module_builder& m) {
    m.options({.fast_math = true,
               .max_registers = 64,
               .opencl = "-cl-no-signed-zeros",
               .cuda = "--ptxas-options=--warn-on-spills"});
}

void modules_that_share();
void modules_that_share() {
    balm::module_array<float> table;
    const balm::module<void(std::span<const float>)> tables([&](balm::module_builder& m) {
        table = m.constant<float>("table", 256);
        return m.entry([=](balm::program& p, std::span<const float> values) { p.set(table, values); });
    });
    const balm::module<float(std::span<const float>, int)> look_up([&](balm::module_builder& m) {
        m.link(tables);
        auto k = m.kernel<1>("look_up", [=](Int i, Out<float> out) { out[0] = table[i]; });
        return m.entry([=](balm::program& p, std::span<const float> values, int i) {
            p.linked(tables)(values);
            auto out = p.device().out_buffer<float>();
            p.execute(k(i, out), {1});
            return out.read();
        });
    });
}
