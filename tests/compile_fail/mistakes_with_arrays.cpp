// expect at each line: what a newcomer writes with arrays, and what the compiler says of it first, where it
// is written.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <balm/balm.hpp>

enum class colour { red, green };
enum side { left, right };

void arrays(const balm::context& ctx, balm::vector<float>& x, balm::vector<float>& y,
            const std::vector<float>& host);
void arrays(const balm::context& ctx, balm::vector<float>& x, balm::vector<float>& y,
            const std::vector<float>& host) {
    (x + y)[0] = 1;            // Balm: an expression has no elements of its own
    float first = (x * y)[0];  // Balm: an expression has no elements of its own
    auto M = balm::view(x, {2, 2});
    float corner = M[0];                            // Balm: positions are in parentheses: M(i, j)
    y = x + host;                                   // Balm: copy them to the device
    y = host * x;                                   // Balm: copy them to the device
    y = 2 * x - std::array{1.f, 2.f};               // Balm: copy them to the device
    y = x * balm::host_array{1.f, 2.f};             // Balm: copy them to the device
    x += host;                                      // Balm: copy them to the device
    x = std::vector<double>(4);                     // Balm: the elements on the host are of another type
    balm::vector<float> z(ctx, std::vector{1, 2});  // Balm: the elements on the host are of another type
    balm::vector<float> sized(100);                 // Balm: a vector says where it is
    balm::vector<float> copied(host);               // Balm: a vector says where it is
    balm::vector<float> list = host;                // Balm: a vector says where it is
    for (auto v : x) first += v;                    // Balm: loop_over_x_to_host_or_x_map
    for (auto& v : x) v = 1;                        // Balm: loop_over_x_to_host_or_x_map
    for (auto v : x + y) first += v;                // Balm: loop_over_x_to_host_or_x_map
    for (auto v : M) first += v;                    // Balm: loop_over_x_to_host_or_x_map
    std::sort(x.begin(), x.end());                  // Balm: loop_over_x_to_host_or_x_map
    y = x + colour::red;                            // Balm: cast them: static_cast<int>(red)
    y = right * x;                                  // Balm: cast them: static_cast<int>(red)
    x = colour::red;                                // Balm: cast them: static_cast<int>(red)
    y = x * 2.0L;                                   // Balm: cast them: static_cast<int>(red)
    float one = x * y;                              // Balm: an array is many values, not one
    float other = x;                                // Balm: an array is many values, not one
    float third = M;                                // Balm: an array is many values, not one
    y = std::sin(x);                                // Balm: sin(x), not std::sin(x)
    if (x == y) y = x;                              // Balm: use balm::all(x > 0), balm::any(x > 0)
    if (x) y = x;                                   // Balm: use balm::all(x), balm::any(x), x.empty()
    std::vector<float> read = x;                    // Balm: write std::vector<float> h = x.to_host()
    (void)corner, (void)one, (void)other, (void)third, (void)read;
}
