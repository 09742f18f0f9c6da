// expect: write a function of two of them
#include <balm/balm.hpp>

float f(const balm::vector<balm::float4>& y);
float f(const balm::vector<balm::float4>& y) {
    using namespace balm::dsl;
    const auto larger = balm::function("larger", [](Float a, Float b) { return max(a, b); });
    return balm::fold(y, 0.f, larger);
}
