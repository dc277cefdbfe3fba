#include "subset.hpp"

#include <cmath>
#include <numeric>

namespace earthdof {

namespace {

constexpr double kDependent = 1e-10;

// Depth-first search for one response: its position on each level.
class Walker {
 public:
  Walker(Rows<const double> R, std::size_t largest, std::size_t smallest)
      : R_(R), p_(R.width), largest_(largest), smallest_(smallest), bound_(p_, p_), whole_(p_), rank_(p_), child_(p_) {
    for (std::size_t level = 0; level < p_; ++level) nodes_.emplace_back(R.rows, p_);
  }

  void run(const double* z, double leftover, double* best, bool* members, Team& team) {
    nodes_[0].set(R_, z);
    rank_[0] = nodes_[0].triangularise(0, p_);
    child_[0] = 0;
    std::size_t level = 0, j = 0;
    for (std::size_t visited = 1;; ++visited) {
      visit(level, leftover, best, members);
      if (visited % 4096 == 0) team.check();
      if (!next_child(best, level, j)) return;
      descend(level, j);
    }
  }

 private:
  void visit(std::size_t level, double leftover, double* best, bool* members) {
    // Ordering the columns of a node pays off if it is large (measured: two thirds of p).
    const std::size_t columns = p_ - level, kept = child_[level];
    double* bound = bound_[level];
    std::fill(bound, bound + p_, 0.0);
    if (rank_[level] == columns && (level == 0 || 3 * (columns - kept) > 2 * p_))
      nodes_[level].put_strong_first(kept, columns, bound);
    whole_[level] = nodes_[level].record(kept, rank_[level], leftover, smallest_, largest_, best, members);
    for (std::size_t j = 0; j < p_; ++j) bound[j] += whole_[level];
  }

  // Next branch that may contain a better subset, on this level or above.
  bool next_child(const double* best, std::size_t& level, std::size_t& j) {
    while (true) {
      j = child_[level]++;
      const std::size_t size = std::max(j + 1, smallest_);
      // `best` decreases with the size: if the whole set is no better, later children are not either.
      if (j >= rank_[level] || size > std::min(largest_, p_ - level - 1) || whole_[level] >= best[size]) {
        if (level-- == 0) return false;
      } else if (bound_[level][j] < best[size]) {
        return true;
      }
    }
  }

  void descend(std::size_t& level, std::size_t j) {
    rank_[level + 1] = nodes_[level + 1].drop(nodes_[level], p_ - level, rank_[level], j);
    ++level;
    child_[level] = j;
  }

  Rows<const double> R_;
  std::size_t p_, largest_, smallest_;
  std::vector<SubsetNode> nodes_;
  Table<double> bound_;
  std::vector<double> whole_;
  std::vector<std::size_t> rank_, child_;
};

}  // namespace

void SubsetNode::set(Rows<const double> R, const double* z) {
  for (std::size_t i = 0; i < R.rows; ++i) {
    std::copy(R[i], R[i] + R.width, w_[i]);
    w_[i][R.width] = z[i];
  }
  std::iota(names_.begin(), names_.end(), std::size_t{0});
}

void SubsetNode::swap(std::size_t top, std::size_t a, std::size_t b) {
  for (std::size_t i = top; i < w_.rows(); ++i) std::swap(w_[i][a], w_[i][b]);
  std::swap(names_[a], names_[b]);
}

std::size_t SubsetNode::triangularise(std::size_t k, std::size_t c) {
  const std::size_t r = w_.rows(), z = w_.width() - 1;
  std::size_t row = k, last = c;
  while (row < last) {
    double squared = 0.0;
    for (std::size_t i = row; i < r; ++i) squared += w_[i][row] * w_[i][row];
    if (squared <= kDependent * kDependent) {
      swap(0, row, --last);
      continue;
    }
    const double norm = w_[row][row] > 0 ? -std::sqrt(squared) : std::sqrt(squared), head = w_[row][row] - norm;
    for (std::size_t j = row + 1; j <= z; ++j) {
      if (c <= j && j < z) continue;
      double dot = head * w_[row][j];
      for (std::size_t i = row + 1; i < r; ++i) dot += w_[i][row] * w_[i][j];
      dot /= norm * head;
      w_[row][j] += dot * head;
      for (std::size_t i = row + 1; i < r; ++i) w_[i][j] += dot * w_[i][row];
    }
    w_[row][row] = norm;
    for (std::size_t i = row + 1; i < r; ++i) w_[i][row] = 0.0;
    ++row;
  }
  return row;
}

// Increase of the residual sum of squares if one of the columns k to c is dropped.
void SubsetNode::losses(std::size_t k, std::size_t c, double* loss) const {
  const std::size_t z = w_.width() - 1, d = c - k;
  Table<double> inverse(d, d, 0.0);
  for (std::size_t col = 0; col < d; ++col) {
    inverse[col][col] = 1.0 / w_[k + col][k + col];
    for (std::size_t i = col; i-- > 0;) {
      double total = 0.0;
      for (std::size_t j = i + 1; j <= col; ++j) total += w_[k + i][k + j] * inverse[j][col];
      inverse[i][col] = -total / w_[k + i][k + i];
    }
  }
  for (std::size_t i = 0; i < d; ++i) {
    double coef = 0.0, variance = 0.0;
    for (std::size_t j = i; j < d; ++j) {
      coef += inverse[i][j] * w_[k + j][z];
      variance += inverse[i][j] * inverse[i][j];
    }
    loss[k + i] = coef * coef / variance;
  }
}

void SubsetNode::put_strong_first(std::size_t k, std::size_t c, double* loss) {
  losses(k, c, loss);
  for (std::size_t j = k; j < c; ++j) {
    std::size_t strongest = j;
    for (std::size_t col = j + 1; col < c; ++col)
      if (loss[col] > loss[strongest]) strongest = col;
    swap(0, j, strongest);
    std::swap(loss[j], loss[strongest]);
  }
  triangularise(k, c);
}

// Givens rotations restore the triangle.
std::size_t SubsetNode::drop(const SubsetNode& parent, std::size_t c, std::size_t rank, std::size_t j) {
  const std::size_t r = w_.rows(), z = w_.width() - 1;
  for (std::size_t col = 0; col < c - 1; ++col) names_[col] = parent.names_[col < j ? col : col + 1];
  for (std::size_t i = j; i < r; ++i) {
    for (std::size_t col = j; col < c - 1; ++col) w_[i][col] = parent.w_[i][col + 1];
    w_[i][z] = parent.w_[i][z];
  }
  for (std::size_t row = j; row + 1 < rank; ++row) {
    const double length = std::hypot(w_[row][row], w_[row + 1][row]);
    const double cosine = w_[row][row] / length, sine = w_[row + 1][row] / length;
    for (std::size_t col = row; col <= z; ++col) {
      if (c - 1 <= col && col < z) continue;
      const double a = w_[row][col], b = w_[row + 1][col];
      w_[row][col] = cosine * a + sine * b;
      w_[row + 1][col] = cosine * b - sine * a;
    }
  }
  // One row is free: a dependent column may replace the one that was removed.
  const std::size_t free = rank - 1;
  if (free + 1 >= c) return rank - 1;
  std::size_t stand_in = free;
  for (std::size_t col = free + 1; col < c - 1; ++col)
    if (std::fabs(w_[free][col]) > std::fabs(w_[free][stand_in])) stand_in = col;
  if (std::fabs(w_[free][stand_in]) <= kDependent) return rank - 1;
  swap(j, free, stand_in);
  return rank;
}

double SubsetNode::record(std::size_t k, std::size_t rank, double leftover, std::size_t smallest, std::size_t largest,
                          double* best, bool* members) const {
  const std::size_t z = w_.width() - 1, p = names_.size();
  double rss = leftover;
  for (std::size_t i = w_.rows(); i-- > rank;) rss += w_[i][z] * w_[i][z];
  const double whole = rss;
  for (std::size_t size = rank; size > k; --size) {
    if (smallest <= size && size <= largest && rss < best[size]) {
      best[size] = rss;
      bool* chosen = members + size * p;
      std::fill(chosen, chosen + p, false);
      for (std::size_t i = 0; i < size; ++i) chosen[names_[i]] = true;
    }
    rss += w_[size - 1][z] * w_[size - 1][z];
  }
  return whole;
}

void search_best_subsets(Rows<const double> R, Rows<const double> responses, const double* leftover,
                         std::size_t smallest, Rows<double> best, bool* members, Team& team) {
  const std::size_t largest = best.width - 1, p = R.width;
  Team alone(1, nullptr);
  team.run(responses.rows, [&](std::size_t m, int thread) {
    Walker walker(R, largest, smallest);
    walker.run(responses[m], leftover[m], best[m], members + m * best.width * p, thread == 0 ? team : alone);
  });
}

std::size_t rank_of(Rows<const double> R) {
  SubsetNode node(R.rows, R.width);
  const std::vector<double> nothing(R.rows, 0.0);
  node.set(R, nothing.data());
  return node.triangularise(0, R.width);
}

}  // namespace earthdof
