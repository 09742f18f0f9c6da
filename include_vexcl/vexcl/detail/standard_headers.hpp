#pragma once
// The standard headers that any header of VexCL brings: programs count on them.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
