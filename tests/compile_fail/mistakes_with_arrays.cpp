// expect at each line: what a newcomer writes with arrays, and what the compiler says of it first, where it
// is written.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <balm/balm.hpp>

using balm::dsl::Float;

enum class colour { red, green };
enum side { left, right };

void arrays(const balm::context& ctx, balm::vector<float>& x, balm::vector<float>& y,
            const balm::vector<float>& fixed, const std::vector<float>& host);
void arrays(const balm::context& ctx, balm::vector<float>& x, balm::vector<float>& y,
            const balm::vector<float>& fixed, const std::vector<float>& host) {
    (x + y)[0] = 1;            // Balm: an expression does not store elements
    float first = (x * y)[0];  // Balm: an expression does not store elements
    auto M = balm::view(x, {2, 2});
    float corner = M[0];                            // Balm: index a view with parentheses: M(i, j)
    y = x + host;                                   // Balm: copy them to the device
    y = host * x;                                   // Balm: copy them to the device
    y = 2 * x - std::array{1.f, 2.f};               // Balm: copy them to the device
    y = x * balm::host_array{1.f, 2.f};             // Balm: copy them to the device
    x += host;                                      // Balm: copy them to the device
    x = std::vector<double>(4);                     // Balm: and the vector have different element types
    balm::vector<float> z(ctx, std::vector{1, 2});  // Balm: and the vector have different element types
    balm::vector<float> sized(100);                 // Balm: a vector needs a context: balm::context ctx
    balm::vector<float> copied(host);               // Balm: a vector needs a context: balm::context ctx
    balm::vector<float> list = host;                // Balm: a vector needs a context: balm::context ctx
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
    bool same = x == y;                             // Balm: use balm::all(x > 0), balm::any(x > 0)
    std::vector<float> read = x;                    // Balm: write std::vector<float> h = x.to_host()
    read = x + y;                                   // Balm: write std::vector<float> h = x.to_host()
    std::vector<float> corners = M;                 // Balm: write std::vector<float> h = x.to_host()
    x(0) = 1;                                       // Balm: set an element with x.set(i, value)
    x(0, 1) = 1;                                    // Balm: set an element with x.set(i, value)
    x[y] = 1;                                       // Balm: positions must be integers
    y = fixed[1.5] + M[0.5] + (x + y)[y];           // Balm: positions must be integers
    (x + y) = 1;                                    // Balm: assign to a vector, or to a view of one
    auto kept = x + y;
    kept = x;                                      // Balm: assign to a vector, or to a view of one
    fixed[balm::element_index()] = 1;              // Balm: this view is read-only
    fixed(balm::slice(0, 2)) += 1;                 // Balm: this view is read-only
    balm::view(x + y, {2, 2})(0, 1) = 1;           // Balm: this view is read-only
    M = host;                                      // Balm: copy them to the device
    M += host;                                     // Balm: copy them to the device
    M = colour::red;                               // Balm: cast them: static_cast<int>(red)
    first = balm::sum(host) + balm::dot(x, host);  // Balm: copy them to the device
    first = balm::norm(x);                         // Balm: the Euclidean norm is balm::norm2(x)
    balm::sort(read);                              // Balm: copy them to the device
    balm::sort(x + y);                             // Balm: y = balm::sorted(x)
    balm::sort(fixed);                             // Balm: y = balm::sorted(x)
    balm::vector<float> digits{1, 2, 3};           // Balm: a vector needs a context: balm::context ctx
    balm::vector<float> there(ctx.device(), 3);    // Balm: a vector needs a context, not a device
    fixed = y;                                     // Balm: this vector is const and cannot be assigned to
    fixed = x + y;                                 // Balm: this vector is const and cannot be assigned to
    fixed = 1.f;                                   // Balm: this vector is const and cannot be assigned to
    fixed = host;                                  // Balm: this vector is const and cannot be assigned to
    fixed = {1, 2, 3};                             // Balm: this vector is const and cannot be assigned to
    fixed += y;                                    // Balm: this vector is const and cannot be assigned to
    (x + y) += 1;                                  // Balm: an expression cannot be assigned to
    y++;                                           // Balm: arrays have no ++ and --; write y += 1
    --y;                                           // Balm: arrays have no ++ and --; write y += 1
    (x + y)++;                                     // Balm: arrays have no ++ and --; write y += 1
    ++M(0, 0);                                     // Balm: arrays have no ++ and --; write y += 1
    float* raw = x.data();                         // Balm: x.to_host() copies them, x.map() maps them
    const float* read_only = fixed.data();         // Balm: x.to_host() copies them, x.map() maps them
    raw = (x + y).data();                          // Balm: x.to_host() copies them, x.map() maps them
    raw = M.data();                                // Balm: x.to_host() copies them, x.map() maps them
    y = std::max(x, 0.f);         // Balm: on arrays write balm::max(x, y), not std::max(x, y)
    y = std::max(x, y);           // Balm: on arrays write balm::max(x, y), not std::max(x, y)
    y = std::max(fixed, fixed);   // Balm: on arrays write balm::max(x, y), not std::max(x, y)
    y = std::min(x + y, M);       // Balm: on arrays write balm::min(x, y), not std::min(x, y)
    y = std::clamp(x, 0.f, 1.f);  // Balm: on arrays write balm::clamp(x, low, high)
    auto add = balm::function("add", [](Float a, Float b) { return a + b; });
    y = add(x);  // Balm: wrong number of arguments: the function takes one for each parameter
    (void)corner, (void)one, (void)other, (void)third, (void)read, (void)same, (void)corners, (void)raw,
        (void)read_only;
}

void parts(balm::vector<balm::float4>& v, const balm::vector<balm::float4>& fixed,
           const std::vector<float>& host);
void parts(balm::vector<balm::float4>& v, const balm::vector<balm::float4>& fixed,
           const std::vector<float>& host) {
    balm::lane<0>(fixed) = 1;   // Balm: assign to a vector, or to a view of one, that is not const
    balm::lane<0>(fixed) += 1;  // Balm: assign to a vector, or to a view of one, that is not const
    balm::lanes<0, 0>(v) = 1;   // Balm: an expression cannot be assigned to
    balm::lane<0>(v + v) = 1;   // Balm: an expression cannot be assigned to
    balm::lane<0>(fixed(balm::slice(0, 2))) = 1;  // Balm: an expression cannot be assigned to
    balm::lane<0>(v) = host;                      // Balm: copy them to the device
    balm::lane<0>(v) += host;                     // Balm: copy them to the device
    balm::lane<0>(v) = colour::red;               // Balm: cast them: static_cast<int>(red)
    balm::lane<0>(v)++;                           // Balm: arrays have no ++ and --; write y += 1
}
