#pragma once
#include "vexcl/random.hpp"  // all generators
