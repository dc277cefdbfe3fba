#include "ordered.hpp"

#include <cmath>

#include "banded.hpp"

namespace earthdof {

namespace {

// Solver for one right-hand side.
class Ordered {
 public:
  Ordered(Rows<const double> H, Rows<const double> gram, const double* b)
      : H_(H), gram_(gram), b_(b), J_(H.rows), is_start_(J_, 0), block_(J_) {}

  OrderedSolution solve(double* g) {
    const bool solved = minimise(g);
    const std::size_t k = label();
    return {static_cast<std::int64_t>(k), trace(k), solved};
  }

 private:
  bool minimise(double* g) {
    std::vector<double> next(J_);
    std::vector<char> refused(J_, 0);
    is_start_[0] = 1;
    solve_blocks(g);
    for (std::size_t turn = 0; turn < 20 * J_ + 100; ++turn) {
      const std::size_t split = best_split(g, refused);
      if (split == 0) return true;
      is_start_[split] = 1;
      if (!solve_blocks(next.data()) || next[split] <= next[split - 1]) {
        // The gain of this split is rounding: keep the block and try the next best split.
        is_start_[split] = 0;
        refused[split] = 1;
        continue;
      }
      std::fill(refused.begin(), refused.end(), 0);
      while (!step(g, next.data())) solve_blocks(next.data());
    }
    return false;
  }

  // Coefficient from which increasing all later ones decreases the criterion fastest; 0 at the solution.
  std::size_t best_split(const double* g, const std::vector<char>& refused) const {
    std::vector<double> gradient(J_);
    double size = 0.0;
    for (std::size_t i = 0; i < J_; ++i) {
      gradient[i] = -b_[i];
      size += std::fabs(b_[i]);
    }
    for (std::size_t i = 0; i < J_; ++i)
      for (std::size_t d = 0; d < std::min<std::size_t>(4, J_ - i); ++d) {
        gradient[i] += H_[i][d] * g[i + d];
        size += 2.0 * std::fabs(H_[i][d] * g[i + d]);
        if (d > 0) gradient[i + d] += H_[i][d] * g[i];
      }
    std::size_t best = 0;
    double lowest = -32 * 2.220446049250313e-16 * size, total = 0.0;
    for (std::size_t i = J_ - 1; i > 0; --i) {
      total += gradient[i];
      if (total < lowest && !is_start_[i] && !refused[i]) {
        lowest = total;
        best = i;
      }
    }
    return best;
  }

  // Move from g towards `next` as far as the order allows, joining blocks that meet; true if it is reached.
  bool step(double* g, const double* next) {
    double share = 1.0;
    std::size_t meeting = 0;
    for (std::size_t i = 1; i < J_; ++i) {
      if (!is_start_[i] || next[i] > next[i - 1]) continue;
      const double gap = g[i] - g[i - 1], part = gap > 0.0 ? gap / (gap - (next[i] - next[i - 1])) : 0.0;
      if (meeting == 0 || part < share) {
        share = part;
        meeting = i;
      }
    }
    if (meeting == 0) {
      std::copy(next, next + J_, g);
      return true;
    }
    for (std::size_t i = 0; i < J_; ++i) g[i] += share * (next[i] - g[i]);
    is_start_[meeting] = 0;
    return false;
  }

  // Number the blocks; returns their number.
  std::size_t label() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < J_; ++i) {
      count += is_start_[i] ? 1 : 0;
      block_[i] = count - 1;
    }
    return count;
  }

  // G H G' for the k blocks.
  Band reduce(Rows<const double> H, std::size_t k) const {
    Band reduced(k, 4, 0.0);
    for (std::size_t i = 0; i < J_; ++i)
      for (std::size_t d = 0; d < std::min<std::size_t>(4, J_ - i); ++d) {
        const std::size_t gap = block_[i + d] - block_[i];
        reduced[block_[i]][gap] += H[i][d] * (d > 0 && gap == 0 ? 2.0 : 1.0);
      }
    return reduced;
  }

  // Minimise over the values of the blocks; false if the blocks' system is singular.
  bool solve_blocks(double* g) {
    const std::size_t k = label();
    const Band reduced = reduce(H_, k);
    Band R(k, 4, 0.0);
    if (!band_cholesky(view(reduced), R)) return false;
    std::vector<double> v(k, 0.0);
    for (std::size_t i = 0; i < J_; ++i) v[block_[i]] += b_[i];
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t d = 1; d < std::min<std::size_t>(4, i + 1); ++d) v[i] -= R[i - d][d] * v[i - d];
      v[i] /= R[i][0];
    }
    for (std::size_t i = k; i-- > 0;) {
      for (std::size_t d = 1; d < std::min<std::size_t>(4, k - i); ++d) v[i] -= R[i][d] * v[i + d];
      v[i] /= R[i][0];
    }
    for (std::size_t i = 0; i < J_; ++i) g[i] = v[block_[i]];
    return true;
  }

  double trace(std::size_t k) const {
    const Band part = reduce(gram_, k), whole = reduce(H_, k);
    Band R(k, 4, 0.0);
    band_cholesky(view(whole), R);
    const Band A = band_inverse(view(R));
    double total = 0.0;
    for (std::size_t i = 0; i < k; ++i) {
      total += part[i][0] * A[i][0];
      for (std::size_t d = 1; d < 4; ++d) total += 2.0 * part[i][d] * A[i][d];
    }
    return total;
  }

  Rows<const double> H_, gram_;
  const double* b_;
  std::size_t J_;
  std::vector<char> is_start_;  // first coefficients of blocks
  std::vector<std::size_t> block_;
};

}  // namespace

void solve_ordered(Rows<const double> H, Rows<const double> gram, Rows<const double> B, Rows<double> coef,
                   std::vector<OrderedSolution>& solutions, Team& team) {
  solutions.resize(B.rows);
  team.run(B.rows, [&](std::size_t j, int) {
    std::fill(coef[j], coef[j] + coef.width, 0.0);
    solutions[j] = Ordered(H, gram, B[j]).solve(coef[j]);
  });
}

}  // namespace earthdof
