// expect: Balm: a module's entry must take a balm::program& and the parameters of the module's signature
#include <balm/balm.hpp>

using namespace balm::dsl;

const balm::module<float(int)> module([](balm::module_builder& m) {
    return m.entry([](balm::program&, const char* words) { return words[0]; });
});
