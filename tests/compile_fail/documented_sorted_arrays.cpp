// expect nothing: the programs of docs/sorted-arrays.md, as they stand there.
#include <balm/balm.hpp>
#include <iostream>
#include <tuple>

void overview(const balm::vector<int>& a, const balm::vector<int>& b, const balm::vector<int>& k1,
              const balm::vector<float>& v1, const balm::vector<int>& k2, const balm::vector<float>& v2,
              const balm::vector<float>& scores, balm::vector<float>& x, const balm::vector<int>& offsets);
void overview(const balm::vector<int>& a, const balm::vector<int>& b, const balm::vector<int>& k1,
              const balm::vector<float>& v1, const balm::vector<int>& k2, const balm::vector<float>& v2,
              const balm::vector<float>& scores, balm::vector<float>& x, const balm::vector<int>& offsets) {
    auto all = balm::merge(a, b);
    auto [k, v] = balm::merge_by_key(k1, v1, k2, v2);
    auto both = balm::set_intersection(a, b);
    auto [best, where] = balm::top_k(scores, 10);
    float median = balm::nth_element(x, x.size() / 2);
    balm::sort_segments(x, offsets);
    auto totals = balm::reduce_segments(offsets, x);
    auto highest = balm::reduce_segments(offsets, balm::max_of(x));
    std::cout << all << k << v << both << best << where << median << totals << highest;
}

void into(const balm::context& ctx, const balm::vector<int>& a, const balm::vector<int>& b,
          const balm::vector<int>& i, const balm::vector<int>& j, const balm::vector<float>& v,
          const balm::vector<int>& i2, const balm::vector<int>& j2, const balm::vector<float>& v2);
void into(const balm::context& ctx, const balm::vector<int>& a, const balm::vector<int>& b,
          const balm::vector<int>& i, const balm::vector<int>& j, const balm::vector<float>& v,
          const balm::vector<int>& i2, const balm::vector<int>& j2, const balm::vector<float>& v2) {
    balm::vector<int> merged(ctx, a.size() + b.size());
    balm::vector<std::int64_t> found(ctx, 1);
    balm::merge_into(merged, a, b);
    balm::set_union_into(merged, found, a, b);
    auto [ij, w] = balm::merge_by_key(std::tie(i, j), v, std::tie(i2, j2), v2);
    std::cout << std::get<0>(ij) << std::get<1>(ij) << w;
}
