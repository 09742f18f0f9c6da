// A function of the elements of two arrays; each work-item advances through them by pointers.

#include <algorithm>
#include <balm/balm.hpp>
#include <iostream>
#include <string_view>
#include <vector>

namespace {

using namespace balm::dsl;

/// result[i] = op(a[i], b[i]), for any number of work-items.
template <class T, class Op>
auto transform(std::string_view name, Op op) {
    return balm::kernel<1>(name, [=](Long n, In<T> a, In<T> b, InOut<T> result) {
        Index first = named("first", global_id(0)), step = named("step", global_size(0));
        Ptr<const T> left = a.data() + first, right = b.data() + first;
        Ptr<T> to = result.data() + first, end = result.data() + n;
        WHILE (to < end) {
            *to = op(Var<T>(*left), Var<T>(*right));
            left += step;
            right += step;
            to += step;
        }
    });
}

/// Launches a grid of at most 256 groups of 256.
template <class T, class Kernel>
auto apply(const balm::device& on, const Kernel& kernel, const std::vector<T>& a, const std::vector<T>& b) {
    const size_t group = 256, groups = std::min<size_t>(256, (a.size() + group - 1) / group);
    auto left = on.in_buffer<T>(a.size()), right = on.in_buffer<T>(a.size());
    auto result = on.mixed_buffer<T>(a.size());
    left.write(a);
    right.write(b);
    on.execute(kernel(static_cast<long>(a.size()), left, right, result), {groups * group}, {group});
    return result.read();
}

}  // namespace

int main() {
    const auto sums = transform<int>("sums(n, a, b, result)", [](Int x, Int y) { return x + y; });
    const auto larger =
        transform<double>("larger(n, a, b, result)", [](Double x, Double y) { return max(x, y); });

    const size_t n = 100'000;
    std::vector<int> whole(n), more(n);
    std::vector<double> real(n), other(n);
    for (size_t i = 0; i < n; ++i) {
        whole[i] = static_cast<int>(i);
        more[i] = static_cast<int>(3 * i);
        real[i] = static_cast<double>(i % 1000);
        other[i] = static_cast<double>(i % 77) * 12.5;
    }
    balm::context ctx;
    const auto got_sums = apply(ctx.device(0), sums, whole, more);
    const auto got_larger = apply(ctx.device(0), larger, real, other);
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i)
        wrong += got_sums[i] != whole[i] + more[i] || got_larger[i] != std::max(real[i], other[i]);
    std::cout << got_sums[n - 1] << ' ' << got_larger[n - 1] << ", " << wrong << " wrong\n";
    return wrong == 0 ? 0 : 1;
}
