// expect nothing: operators of members are found without `using namespace balm::dsl`.
#include <balm/balm.hpp>

struct point {
    float x, y;
};
BALM_STRUCT(point, x, y)

void f(balm::vector<point>& points);
void f(balm::vector<point>& points) {
    const auto same = balm::function("same", [](balm::dsl::Var<point> p, balm::dsl::Var<point> q) {
        return balm::dsl::Bool(p.x == q.x && p.y - 1.f == q.y - 1.f);
    });
    points = balm::unique(points, same);
}
