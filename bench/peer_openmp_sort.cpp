#include <algorithm>

#include "peer_sort.hpp"

#ifdef BALM_BENCH_TBB
#include <tbb/parallel_sort.h>
#else
#include <parallel/algorithm>
#endif

namespace peer::cpu {

template <class T>
void std_sort(T* first, std::size_t n) {
    std::sort(first, first + n);
}

template <class T>
void parallel_sort(T* first, std::size_t n) {
#ifdef BALM_BENCH_TBB
    tbb::parallel_sort(first, first + n);
#else
    __gnu_parallel::sort(first, first + n);
#endif
}

const char* parallel_sort_name() {
#ifdef BALM_BENCH_TBB
    return "tbb::parallel_sort";
#else
    return "__gnu_parallel::sort";
#endif
}

template void std_sort(std::uint32_t*, std::size_t);
template void std_sort(std::uint64_t*, std::size_t);
template void std_sort(float*, std::size_t);
template void parallel_sort(std::uint32_t*, std::size_t);
template void parallel_sort(std::uint64_t*, std::size_t);
template void parallel_sort(float*, std::size_t);

}  // namespace peer::cpu
