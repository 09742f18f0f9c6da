// PageRank by power iteration: the rank of a page is the probability of finding a random surfer there, who
// follows random links and now and then restarts at a random page. Each iteration is a sparse product and two
// reductions, and is compared with the same on the host.
//
// Source: L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank Citation Ranking: Bringing Order to the
// Web", Stanford InfoLab, 1999.

#include <balm/balm.hpp>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t pages = 20'000;
constexpr double follows = 0.85;  // the probability of following a link rather than restarting

/// Links between pages. The number of links to a page follows a power law: half of all links lead to the
/// target of an earlier link, the others anywhere. Some pages have no links.
struct web {
    std::vector<std::size_t> from, to, links = std::vector<std::size_t>(pages);  // links: per page
    std::vector<double> chances;  // of following the link from its page

    explicit web(std::uint64_t seed) {
        const balm::uniform<double> number;  // on the host: number k is always the same
        std::uint64_t k = 0;
        const auto any_of = [&](std::size_t count) {
            return static_cast<std::size_t>(number(k++, seed) * static_cast<double>(count));
        };
        for (std::size_t page = 0; page < pages; ++page) {
            links[page] = any_of(16);
            for (std::size_t link = 0; link < links[page]; ++link) {
                const bool copies = !to.empty() && any_of(2) == 0;
                to.push_back(copies ? to[any_of(to.size())] : any_of(pages));
                from.push_back(page);
                chances.push_back(1.0 / static_cast<double>(links[page]));
            }
        }
    }
};

/// The ranks after `iterations` iterations, link by link.
std::vector<double> ranks_on_host(const web& graph, int iterations) {
    std::vector<double> rank(pages, 1.0 / pages);
    for (; iterations > 0; --iterations) {
        double stuck = 0;
        for (std::size_t page = 0; page < pages; ++page) stuck += graph.links[page] == 0 ? rank[page] : 0;
        std::vector<double> next(pages, (follows * stuck + 1 - follows) / pages);
        for (std::size_t link = 0; link < graph.to.size(); ++link)
            next[graph.to[link]] += follows * graph.chances[link] * rank[graph.from[link]];
        rank = next;
    }
    return rank;
}

}  // namespace

int main() {
    const web graph(2026);
    const balm::context ctx;
    const auto A =
        balm::sparse_matrix<double>::from_triplets(ctx, pages, pages, graph.to, graph.from, graph.chances);
    std::printf("%zu pages, %zu links\n", A.rows(), A.nonzeros());
    std::fprintf(stderr, "%s\n", balm::describe(A).c_str());

    const balm::vector<std::size_t> links(ctx, graph.links);
    balm::vector<double> rank(ctx, pages, 1.0 / pages), next(ctx, pages);
    double change = 1;
    int iterations = 0;
    for (; change > 1e-10 && iterations < 1000; ++iterations) {
        // A surfer on a page without links continues anywhere.
        const double stuck = balm::sum(select(links == 0, rank, 0.0));
        next = follows * (A * rank) + (follows * stuck + 1 - follows) / pages;
        change = balm::sum(abs(next - rank));
        swap(rank, next);
    }
    std::printf("%d iterations, sum of ranks %.6f\n", iterations, balm::sum(rank));

    const auto [ranks, places] = balm::top_k(rank, 5);
    for (std::size_t k = 0; k < 5; ++k)
        std::printf("page %5lld: %.6f\n", static_cast<long long>(places[k]), ranks[k]);

    const balm::vector<double> expected(ctx, ranks_on_host(graph, iterations));
    const bool agrees = balm::max(abs(rank / expected - 1)) < 1e-12;
    std::printf("%s with the host\n", agrees ? "agrees" : "DISAGREES");
    return agrees ? 0 : 1;
}
