// Printing and checks in kernels: formats are {fmt}'s, and the text is the same on every device.

#include <balm/balm.hpp>
#include <iostream>
#include <string>

struct particle {
    balm::float3 pos;
    int id;
};
BALM_STRUCT(particle, pos, id)

int main() {
    using namespace balm::dsl;

    balm::context ctx;
    balm::device dev = ctx.device(0);
    ctx.print_to(std::cout);  // the default; any stream or function is possible

    auto values = balm::kernel<1>("values", [] {
        Int i = cast<int>(global_id(0)) - 3;
        Double d = 4.2;
        print("Booleans: {} {}\n", i < 0, i >= 0);
        print("Floating: {:f} {:e} {:.3E} {:g} {}\n", d, d, d, d, d);
        print("Integers: {:04} {:#x} {:o} {}\n", i, bit_cast<unsigned>(i), bit_cast<unsigned>(i), i);
        print("Strings:  {} and {:>6}\n", "literal", std::string("host"));
        print("Vectors:  {} {:.1f}\n", Float4(1.f, 2.f, 3.f, 4.f), Float2(0.25f));
    });
    dev.execute(values(), {1});

    // The first arguments are given once, the others at each print.
    auto lines = balm::kernel<1>("lines", [] {
        auto line = printer("blk({:03}) thd({:03}) {}\n", group_id(0), local_id(0));
        line("begins");
        IF (local_id(0) == 1) {
            line(cast<float>(global_id(0)) / 2.f);
        }
    });
    dev.execute(lines(), {4}, {2});

    auto particles = dev.in_buffer<particle>(2);
    particles.write({{{0.5f, 1.f, 2.f}, 7}, {{-1.f, 0.f, 8.f}, 9}});
    auto inspect = balm::kernel<1>("inspect(particles)", [](In<particle> swarm) {
        Var<particle> p = swarm[global_id(0)];
        print("{}\n", p);
        check(p.pos.x >= 0.f, "particle {} left the box at {:.2f}", p.id, p.pos);
    });
    balm::event done = dev.execute(inspect(particles), {2});
    try {
        done.wait();
    } catch (const balm::check_error& fault) {
        const std::string text = fault.what();  // "printing.cpp:46: a check failed in kernel 'inspect' on …"
        std::cout << text.substr(text.find("particle ")) << '\n';
    }
}
