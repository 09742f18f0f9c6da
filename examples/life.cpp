// Conway's game of life on a torus: a stencil whose neighbours beyond a border are the cells at the other
// end. A glider flies round the torus, and five cells grow for 1103 generations.

#include <balm/balm.hpp>
#include <initializer_list>
#include <iostream>
#include <string_view>

namespace {

/// A cell is born with three neighbours, and lives on with two or three.
auto next_generation(const balm::view<const bool>& field) {
    return balm::stencil(
        balm::border::wrap,
        [](const auto& cell) {
            const auto neighbours = cell(-1, -1) + cell(-1, 0) + cell(-1, 1) +  //
                                    cell(0, -1) + cell(0, 1) +                  //
                                    cell(1, -1) + cell(1, 0) + cell(1, 1);
            return neighbours == 3 || (neighbours == 2 && cell(0, 0));
        },
        field);
}

/// The cells of a square field with a pattern, whose upper left corner is at `row` and `column`.
balm::vector<bool> cells_of(const balm::context& ctx, std::size_t size, std::size_t row, std::size_t column,
                            std::initializer_list<std::string_view> pattern) {
    balm::vector<bool> cells(ctx, size * size, false);
    for (const std::string_view line : pattern) {
        for (std::size_t k = 0; k < line.size(); ++k) cells.set(row * size + column + k, line[k] == '#');
        ++row;
    }
    return cells;
}

void show(const balm::host_array<bool>& field) {
    const std::size_t columns = field.shape()[1];
    for (std::size_t k = 0; k < field.size(); ++k)
        std::cout << (field[k] ? '#' : '.') << ((k + 1) % columns == 0 ? '\n' : ' ');
}

/// In four generations a glider moves by a row and a column.
void glider(const balm::context& ctx) {
    constexpr std::size_t size = 8, round_trip = 4 * size;
    const balm::vector<bool> start = cells_of(ctx, size, 0, 0, {".#.", "..#", "###"});
    balm::vector<bool> cells = start;
    const auto field = balm::view(cells, {size, size});
    for (std::size_t generation = 0; generation < round_trip; ++generation) {
        if (generation <= 4) {
            std::cout << "glider, generation " << generation << '\n';
            show(field.to_host());
        }
        cells = next_generation(field);
    }
    std::cout << "after " << round_trip
              << " generations: " << (balm::all(cells == start) ? "where it was" : "ELSEWHERE") << '\n';
}

/// After 1103 generations the R-pentomino is stable, except for six gliders that fly away.
void pentomino(const balm::context& ctx) {
    constexpr std::size_t size = 512;
    balm::vector<bool> cells = cells_of(ctx, size, size / 2, size / 2, {".##", "##.", ".#."});
    const auto field = balm::view(cells, {size, size});
    for (int generation = 0; generation <= 1103; ++generation) {
        if (generation % 200 == 0 || generation == 1103)
            std::cout << "pentomino, generation " << generation << ": " << balm::count(cells) << " cells\n";
        cells = next_generation(field);
    }
}

}  // namespace

int main() {
    const balm::context ctx;
    glider(ctx);
    pentomino(ctx);
}
