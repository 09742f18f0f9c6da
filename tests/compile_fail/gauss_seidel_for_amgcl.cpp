// expect: gauss_seidel processes one row after the other; on devices use spai0, damped_jacobi,
#include <amgcl/relaxation/gauss_seidel.hpp>
#include <balm/amgcl.hpp>
#include <balm/balm.hpp>

std::size_t size_of_smoother();
std::size_t size_of_smoother() {
    return sizeof(amgcl::relaxation::gauss_seidel<balm::amgcl_backend<double>>);
}
