#pragma once
#include "vexcl/fft.hpp"  // transforms and their planner
