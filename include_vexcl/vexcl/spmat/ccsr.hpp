#pragma once
#include "vexcl/spmat.hpp"  // all matrices
