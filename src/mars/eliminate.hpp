// Backward elimination for several responses.
#pragma once

#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

struct Elimination {
  bool is_independent = false;
  std::vector<double> rss;  // of each size
  Table<std::size_t> best;  // columns of each size, a row a size
};

// Drop the column that raises the RSS least, until the first is alone.
Elimination eliminate_backward(Rows<const double> columns, Rows<const double> y, Team& team);

}  // namespace earthdof
