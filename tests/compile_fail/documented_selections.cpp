// expect nothing: the programs of docs/selections.md, as they stand there.
#include <balm/balm.hpp>
#include <iostream>
#include <tuple>

using namespace balm::dsl;

void overview(const balm::vector<float>& x, const balm::vector<float>& sorted, const balm::vector<int>& keys,
              balm::vector<std::int64_t>& counts);
void overview(const balm::vector<float>& x, const balm::vector<float>& sorted, const balm::vector<int>& keys,
              balm::vector<std::int64_t>& counts) {
    auto positive = balm::copy_if(x, x > 0);
    auto where = balm::copy_if(balm::element_index(), x > 0);
    auto [parted, count] = balm::partition(x, x > 0);
    auto distinct = balm::unique(sorted);
    auto [k, totals] = balm::reduce_by_key(keys, x);
    auto [values, lengths] = balm::run_length_encode(x);
    counts = balm::histogram(x, 1024, 0.0, 1.0);
    std::cout << positive << where << parted << count << distinct << k << totals << values << lengths;
}

void sizes(const balm::context& ctx, std::size_t n, const balm::vector<float>& x,
           const balm::vector<int>& keys, balm::vector<int>& k, balm::vector<float>& totals,
           const balm::vector<int>& id, const balm::vector<float>& score);
void sizes(const balm::context& ctx, std::size_t n, const balm::vector<float>& x,
           const balm::vector<int>& keys, balm::vector<int>& k, balm::vector<float>& totals,
           const balm::vector<int>& id, const balm::vector<float>& score) {
    balm::vector<float> y(ctx, n);
    balm::vector<std::int64_t> found(ctx, 1);
    balm::copy_if_into(y, found, x, x > 0);
    balm::reduce_by_key_into(std::tie(k, totals), found, keys, x);
    auto [ids, scores] = balm::copy_if(std::tie(id, score), score > 0.5f);
    std::cout << ids << scores;
}

void runs(const balm::vector<int>& cells, const balm::vector<float>& m, const balm::vector<int>& i,
          const balm::vector<int>& j, const balm::vector<double>& v,
          const balm::vector<std::int64_t>& seconds, const balm::vector<double>& amounts);
void runs(const balm::vector<int>& cells, const balm::vector<float>& m, const balm::vector<int>& i,
          const balm::vector<int>& j, const balm::vector<double>& v,
          const balm::vector<std::int64_t>& seconds, const balm::vector<double>& amounts) {
    auto [cell, mass, heaviest] = balm::reduce_by_key(cells, m, balm::max_of(m));
    auto [ij, sums] = balm::reduce_by_key(std::tie(i, j), v);
    auto same_day = balm::function("same_day", [](Long a, Long b) { return a / 86400 == b / 86400; });
    auto [first, sales] = balm::reduce_by_key(seconds, same_day, amounts);
    std::cout << cell << mass << heaviest << std::get<0>(ij) << std::get<1>(ij) << sums << first << sales;
}

void histograms(const balm::context& ctx, const balm::vector<int>& cell, std::size_t cells,
                const balm::vector<float>& mass, balm::vector<float>& mass_of_cell,
                const balm::vector<float>& x, balm::vector<std::int64_t>& counts,
                const balm::vector<balm::uchar4>& pixels, balm::vector<std::int64_t>& greens);
void histograms(const balm::context& ctx, const balm::vector<int>& cell, std::size_t cells,
                const balm::vector<float>& mass, balm::vector<float>& mass_of_cell,
                const balm::vector<float>& x, balm::vector<std::int64_t>& counts,
                const balm::vector<balm::uchar4>& pixels, balm::vector<std::int64_t>& greens) {
    mass_of_cell = balm::bincount(cell, cells, mass);
    balm::vector<float> decades(ctx, {1.f, 10.f, 100.f, 1000.f});
    counts = balm::histogram(x, decades);
    auto colours =
        balm::bincount(std::tuple(balm::lane<0>(pixels), balm::lane<1>(pixels), balm::lane<2>(pixels)), 256);
    greens = balm::view(colours, {3, 256})(1, balm::all);
}

void search(balm::vector<std::int64_t>& positions, const balm::vector<float>& sorted,
            const balm::vector<float>& needles, balm::vector<std::int64_t>& times, balm::vector<float>& up,
            balm::vector<float>& height, const balm::vector<int>& parent);
void search(balm::vector<std::int64_t>& positions, const balm::vector<float>& sorted,
            const balm::vector<float>& needles, balm::vector<std::int64_t>& times, balm::vector<float>& up,
            balm::vector<float>& height, const balm::vector<int>& parent) {
    positions = balm::lower_bound(sorted, needles);
    times = balm::upper_bound(sorted, needles) - balm::lower_bound(sorted, needles);
    up = balm::gather_if(height, parent, parent >= 0, 0.f);
    balm::scatter_if(height, parent, up, parent >= 0);
}
