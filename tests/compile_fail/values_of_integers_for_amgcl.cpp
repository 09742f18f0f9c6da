// expect: the value type of the AMGCL backend must be float, double, std::complex of these, or a
#include <balm/amgcl.hpp>
#include <balm/balm.hpp>

std::size_t size_of_backend();
std::size_t size_of_backend() { return sizeof(balm::amgcl_backend<int>); }
