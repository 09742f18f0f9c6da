// Neighbours within a radius. The particles of a periodic box are sorted by cell; each particle then searches
// its own cell and the eight around it.

#include <balm/balm.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace {

using namespace balm::dsl;

constexpr int n = 20'000;
constexpr int cells = 64;               // along each side of the unit square
constexpr double radius = 1.0 / cells;  // at most a cell's side

/// The number of the cell that contains a point, row-major.
const auto cell_of = balm::function("cell_of(point)", [](Double2 point) {
    const Int2 at = convert<balm::int2>(point * cells);
    return at.y * cells + at.x;
});

/// Counts the particles within the radius of particle i. Cell c has particles first[c] to first[c + 1] - 1.
const auto neighbours_of = balm::function(
    "neighbours_of(i, points, first)", [](Long i, In<balm::double2> points, In<std::int64_t> first) {
        const Double2 here = points[i];
        const Int2 at = convert<balm::int2>(here * cells);
        Int count = named("count", -1);  // does not count itself
        for (Int row : range(at.y - 1, at.y + 2))
            for (Int column : range(at.x - 1, at.x + 2)) {
                const Int cell = (row + cells) % cells * cells + (column + cells) % cells;
                for (Long j : range(first[cell], first[cell + 1])) {
                    Double2 way = points[j] - here;
                    way -= rint(way);  // the shortest vector in a periodic box
                    count += cast<int>(dot(way, way) < radius * radius);
                }
            }
        return count;
    });

/// The same on the host, for one particle, by testing all of them.
int neighbours_on_host(const balm::host_array<balm::double2>& points, std::size_t i) {
    int count = -1;
    for (const balm::double2& point : points) {
        const double dx = point.x - points[i].x, dy = point.y - points[i].y;
        count += std::hypot(dx - std::rint(dx), dy - std::rint(dy)) < radius;
    }
    return count;
}

}  // namespace

int main() {
    const balm::context ctx;
    constexpr std::uint64_t seed = 2026;
    balm::vector<balm::double2> points(ctx, n);
    points = balm::uniform<balm::double2>()(balm::element_index(), seed);

    balm::vector<int> cell = cell_of(points);
    balm::sort_by_key(cell, points);
    // One bin more than there are cells: it marks the end of the last one.
    const balm::vector<std::int64_t> first = balm::exclusive_scan(balm::bincount(cell, cells * cells + 1));

    const balm::vector<int> neighbours = neighbours_of(balm::element_index(0, n), points, first);
    const auto [total, most] = balm::reduce(balm::sum_of(neighbours), balm::max_of(neighbours));
    std::printf("%d pairs of %d particles\n", total / 2, n);
    std::printf("neighbours: %.2f on average, at most %d\n", static_cast<double>(total) / n, most);

    const auto points_on_host = points.to_host();
    const auto found = neighbours.to_host();
    bool agrees = true;
    for (std::size_t i = 0; i < n; i += 100)
        agrees = agrees && found[i] == neighbours_on_host(points_on_host, i);
    std::puts(agrees ? "agrees with the host" : "DIFFERS FROM THE HOST");
    return agrees ? 0 : 1;
}
