// expect: use InOut<T> instead of Out<T>
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Out<int>& out);
void body([[maybe_unused]] Out<int>& out) { atomic_add(out[0], 1); }
