#pragma once
#include "vexcl/backend.hpp"  // one backend for all devices
