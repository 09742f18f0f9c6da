// expect at each line: what a newcomer writes in kernels, and what the compiler says of it first, where it is
// written.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <iostream>
#include <string>
#include <vector>

#include <balm/balm.hpp>

using namespace balm::dsl;

enum class colour { red, green };
enum side { left, right };
struct particle {
    float mass;
    int kind;
};
BALM_STRUCT(particle, mass, kind)

void by_name(In<float> a, Out<float> b);
void kernels(const balm::device& dev);
void kernels(const balm::device& dev) {
    balm::kernel<1>("k", [](In<float> a, Out<float> b, Mixed<int> m, Int n, Float4 v) {
        Index i = global_id(0);
        float x = a[i];             // Balm: write Float v or auto v instead of float v
        x = m[i];                   // Balm: write Float v or auto v instead of float v
        int y = n;                  // Balm: write Float v or auto v instead of float v
        std::size_t z = i;          // Balm: write Float v or auto v instead of float v
        float w = v.x;              // Balm: write Float v or auto v instead of float v
        (void)static_cast<int>(n);  // Balm: a device value has no value while the kernel is traced
        b[i] = std::sin(a[i]);      // Balm: a device value has no value while the kernel is traced
        std::array<float, 4> table{};
        b[i] = table[n];  // Balm: index In<T>, Array<T, N> or balm::constant_array instead of host arrays
        std::vector<float> list(4);
        b[i] = list[m[i]];  // Balm: index In<T>, Array<T, N> or balm::constant_array instead of host arrays
        float numbers[4] = {};
        b[i] = numbers[n];           // Balm: instead of host arrays
        std::cout << a[i];           // Balm: to print in a kernel, write print(
        std::cout << "n " << n;      // Balm: to print in a kernel, write print(
        std::cout << m[i] << v;      // Balm: to print in a kernel, write print(
        print(a[i]);                 // Balm: the first argument of print is a format string
        if (n > 0) b[i] = 1;         // Balm: use IF, WHILE or select(condition, a, b)
        if (n) b[i] = 1;             // Balm: use IF, WHILE or select(condition, a, b)
        for (int k = 0; k < n; ++k)  // Balm: use IF, WHILE or select(condition, a, b)
            b[k] = 0;
        for (auto e : a) b[i] = e;  // Balm: loop_over_range_of_a_number
        auto kept = m[i];
        kept += 1;                       // Balm: an element (x[i]) cannot be kept with auto
        ++kept;                          // Balm: an element (x[i]) cannot be kept with auto
        Bool is_red = n == colour::red;  // Balm: cast them: static_cast<int>(red)
        Int sum = right + n;             // Balm: cast them: static_cast<int>(red)
        Int c = colour::green;           // Balm: cast them: static_cast<int>(red)
        m[i] = colour::green;            // Balm: cast them: static_cast<int>(red)
        b[i] = a[i] * 2.0L;              // Balm: cast them: static_cast<int>(red)
        const auto one = [] { return 1.f; };
        b[i] = if_else(n > 0, one, one);   // Balm: return Float(1.f), not 1.f
        b[i] = if_else(n > 0, a[i], 1.f);  // Balm: to choose between values, write select(c, a, b)
        (void)x, (void)y, (void)z, (void)w, (void)is_red, (void)sum, (void)c;
    });
    const balm::vector<float> array;
    balm::kernel<1>("k", [=](In<float> a, Out<float> b, Mixed<int> m, Mixed<balm::float4> f,
                             Mixed<particle> p, Mixed<std::complex<float>> z, Float x, Float3 v) {
        Index i = global_id(0);
        b[i] = std::max(a[i], 0.f);    // Balm: on device values write max(x, y)
        b[i] = std::min(x, x);         // Balm: on device values write min(x, y)
        m[i] = std::max(m[i], 0);      // Balm: on device values write max(x, y)
        x = std::clamp(x, 0.f, a[i]);  // Balm: on device values write clamp(x, low, high)
        b[i] = a;                      // Balm: cannot be assigned to an element; assign an element of memory
        b[i] = array;                  // Balm: cannot be assigned to an element; assign an element of memory
        b[i] = "one";                  // Balm: cannot be assigned to an element; assign an element of memory
        b[i] = z[i];                   // Balm: cannot be assigned to an element; assign an element of memory
        b[i] = p[i];                   // Balm: cannot be assigned to an element; assign an element of memory
        f[i] = a;                      // Balm: cannot be assigned to an element; assign an element of memory
        z[i] = v;                      // Balm: cannot be assigned to an element; assign an element of memory
        m[i] = a[i];                   // Balm: a device value does not narrow implicitly
        m[i] = 0.5;                    // Balm: a device value does not narrow implicitly
        b[i] = v;                      // Balm: a vector does not convert to a scalar; select a lane: v.x
        f[i] = v;                      // Balm: a vector to another vector type needs cast<float4>(v)
        p[i] = x;                      // Balm: only be assigned one of the same type; assign to a member
    });
    balm::function("f", [](Int n) {
        return_(1.f);  // Balm: return_(Float(1.f)), not 1.f
        return n;
    });
    balm::kernel<1>("k", [](auto x) { x[0] = 1; });              // Balm: parameters of a kernel need types
    balm::kernel<1>("k", [](int n) { print("{}", n); });         // Balm: parameters must have device types
    balm::kernel<1>("k", [](colour) {});                         // Balm: parameters must have device types
    balm::kernel<1>("k", [](Int& n) { print("{}", n); });        // Balm: by value, not by reference
    balm::kernel<1>("k", by_name);                               // Balm: a kernel is traced from a lambda
    balm::kernel("k", [](Int n, Out<int> out) { out[0] = n; });  // Balm: number of dimensions of its grid
    balm::kernel<1>([](Int n, Out<int> out) { out[0] = n; });    // Balm: a kernel needs a name
    balm::function([](Float x) { return x; });                   // Balm: a function needs a name
    balm::function("f", [](auto x) { return x; });               // Balm: parameters of a function need types
    balm::function("f", [](float x) { return x; });              // Balm: parameters must have device types
    balm::function("f", [](Float) { return 1.f; });              // Balm: return Float(1.f), not 1.f
    auto set = balm::kernel<1>("set", [](Int n, Out<int> out) { out[0] = n; });
    set(colour::red, balm::vector<int>());     // Balm: cast them: static_cast<int>(red)
    dev.execute(set(1, balm::vector<int>()));  // Balm: a launch needs the number of work-items
    dev.execute(set, 1, balm::vector<int>());  // Balm: bind the kernel's arguments first
    std::cout << set;                          // Balm: a kernel cannot be printed
    std::cout << set(1, balm::vector<int>());  // Balm: a kernel cannot be printed
    std::cout << balm::function("f", [](Float y) { return y; });  // Balm: a function cannot be printed
    balm::kernel<2>("k", [](In<float, 2> m, In<float> x, Out<float, 3> t) {
        Float first = m(global_id(0));  // Balm: memory takes one index per dimension
        first = x(0, 1);                // Balm: memory takes one index per dimension
        first = m(0, 1, 2);             // Balm: memory takes one index per dimension
        t(0, 1) = first;                // Balm: memory takes one index per dimension
    });
}
