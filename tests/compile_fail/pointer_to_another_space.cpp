// expect: Balm: pointers keep their address space
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Ptr<int> global, LocalPtr<int> local);
void f(Ptr<int> global, LocalPtr<int> local) { global = local; }
