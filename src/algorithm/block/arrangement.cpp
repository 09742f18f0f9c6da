#include "algorithm/block/arrangement.hpp"

namespace balm::block {

positions::positions(const group& g, arrangement how, int each) {
    switch (how) {
        case arrangement::blocked:
            first = g.item() * each;
            stride = 1;
            break;
        case arrangement::striped:
            first = g.item();
            stride = g.items();
            break;
        case arrangement::sub_group_striped:
            first = g.first() * each + g.lane();
            stride = g.last() + 1;
            break;
    }
}

}  // namespace balm::block
