#include "smoothing.hpp"

#include <cmath>
#include <vector>

#include "banded.hpp"

namespace earthdof {

namespace {

constexpr double kPrecision = 1e-7;  // of log lambda
constexpr std::size_t kOrder = 4;

Table<double> one_column(Rows<const double> Z, std::size_t j) {
  Table<double> column(Z.rows, 1);
  for (std::size_t i = 0; i < Z.rows; ++i) column[i][0] = Z[i][j];
  return column;
}

// GCV of each response at one lambda.
void gcv_at(Rows<const double> R0, Rows<const double> Z0, Rows<const double> penalty, const double* outside, double n,
            double log_lam, double* out) {
  const Triangle found = reduce_penalised(R0, Z0, penalty, std::exp(log_lam));
  const Table<double> C = back_substitute(view(found.R), view(found.Z));
  const std::size_t k = Z0.rows, m = Z0.width;
  const double left = 1.0 - trace_of_smoother(R0, view(found.R)).value / n, scale = 1.0 / (n * (left * left) + 1e-300);
  for (std::size_t j = 0; j < m; ++j) out[j] = outside[j] * scale;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < m; ++j) {
      double residual = Z0[i][j];
      for (std::size_t d = 0; d < std::min<std::size_t>(4, k - i); ++d) residual -= R0[i][d] * C[i + d][j];
      out[j] += residual * residual * scale;
    }
}

}  // namespace

void solve_each(const SmoothingProblem& problem, const double* lams, Rows<double> coef, double* trace, Team& team) {
  team.run(problem.rotated.width, [&](std::size_t j, int) {
    const Table<double> z = one_column(problem.rotated, j);
    const Triangle found = reduce_penalised(problem.triangle, view(z), problem.penalty, lams[j]);
    const Table<double> solution = back_substitute(view(found.R), view(found.Z));
    for (std::size_t i = 0; i < coef.rows; ++i) coef[i][j] = solution[i][0];
    trace[j] = trace_of_smoother(problem.triangle, view(found.R)).value;
  });
}

void minimise_gcv(const SmoothingProblem& problem, const double* outside, double n, const double* grid,
                  std::size_t grid_size, double* best, Team& team) {
  const std::size_t m = problem.rotated.width;
  Table<double> values(grid_size, m);
  team.run(grid_size, [&](std::size_t g, int) {
    gcv_at(problem.triangle, problem.rotated, problem.penalty, outside, n, grid[g], values[g]);
  });
  const double golden = (std::sqrt(5.0) - 1) / 2;
  team.run(m, [&](std::size_t j, int) {
    std::size_t place = 0;
    for (std::size_t g = 1; g < grid_size; ++g)
      if (values[g][j] < values[place][j]) place = g;
    const Table<double> z = one_column(problem.rotated, j);
    const auto gcv = [&](double log_lam) {
      double value;
      gcv_at(problem.triangle, view(z), problem.penalty, outside + j, n, log_lam, &value);
      return value;
    };
    double lowest = values[place][j];
    double low = grid[place > 0 ? place - 1 : 0], high = grid[std::min(place + 1, grid_size - 1)];
    double inner[2] = {high - golden * (high - low), low + golden * (high - low)};
    double at[2] = {gcv(inner[0]), gcv(inner[1])};
    best[j] = grid[place];
    while (high - low > kPrecision) {
      const int side = at[0] < at[1] ? 0 : 1;
      if (at[side] < lowest) {
        lowest = at[side];
        best[j] = inner[side];
      }
      (side == 0 ? high : low) = inner[1 - side];
      inner[1 - side] = inner[side];
      at[1 - side] = at[side];
      inner[side] = side == 0 ? high - golden * (high - low) : low + golden * (high - low);
      at[side] = gcv(inner[side]);
    }
  });
}

void nonzero_basis(const double* x, const std::int64_t* interval, std::size_t n, const double* knots,
                   Rows<double> out) {
  double left[kOrder], right[kOrder];
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t k = interval[i];
    double* row = out[i];
    row[0] = 1.0;
    for (std::size_t j = 1; j < kOrder; ++j) {
      left[j] = x[i] - knots[k + 1 - static_cast<std::int64_t>(j)];
      right[j] = knots[k + static_cast<std::int64_t>(j)] - x[i];
      double carried = 0.0;
      for (std::size_t r = 0; r < j; ++r) {
        const double term = row[r] / (right[r + 1] + left[j - r]);
        row[r] = carried + right[r + 1] * term;
        carried = left[j - r] * term;
      }
      row[j] = carried;
    }
  }
}

}  // namespace earthdof
