// Backward elimination for several responses.
#pragma once

#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

struct Elimination {
  bool is_independent = false;
  std::vector<double> rss;  // of each size
  Table<std::size_t> best;  // columns of each size, one row per size
};

// Successively drop the column that increases the RSS least, until only the first is left.
Elimination eliminate_backward(Rows<const double> columns, Rows<const double> y, Team& team);

}  // namespace earthdof
