// expect: values of AMGCL's backend are float, double, std::complex of these, or square amgcl::static_matrix
#include <balm/amgcl.hpp>
#include <balm/balm.hpp>

std::size_t size_of_backend();
std::size_t size_of_backend() { return sizeof(balm::amgcl_backend<int>); }
