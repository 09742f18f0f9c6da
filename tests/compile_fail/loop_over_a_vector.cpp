// expect: loop over x.to_host(), or over x.map()
#include <balm/balm.hpp>

float added(const balm::vector<float>& x);
float added(const balm::vector<float>& x) {
    float sum = 0;
    for (float each : x) sum += each;
    return sum;
}
