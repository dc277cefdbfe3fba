#include "../core/extended.hpp"
#include "../core/numbers.hpp"
#include "regress.hpp"

#include <cmath>

#include "../simd/loops.hpp"
#include "gram_schmidt.hpp"

namespace earthdof {

namespace {

constexpr double kInaccurate = 1e-6;  // share of a squared norm below which it is recomputed

// Apply a reflection that leaves the first k cases unchanged to `count` columns from c on.
void reflect_lanes(Table<double>& values, const double* reflection, std::size_t k, std::size_t c, std::size_t count) {
  const Loops& l = loops();
  double sums[kChunk] = {};
  const std::size_t n = values.rows() - k;
  l.lane_sums(reflection + k, values[k] + c, n, values.width(), count, sums);
  for (std::size_t i = 0; i < count; ++i) sums[i] = -sums[i] / reflection[k];
  l.lane_add(reflection + k, values[k] + c, n, values.width(), count, sums);
}

// QR of columns as in R. They are stored side by side in chunks, one row per case: their sums are computed
// simultaneously, each in the order of the cases. Dependent columns are omitted. Responses follow the columns.
//
// The time is dominated by memory access. A reflection is therefore applied to a chunk only once the next one is
// available or a column of the chunk is requested: a single loop then does both. Only its own case is updated at once.
class Qr {
 public:
  Qr(Rows<const double> columns, Rows<const double> y, double tolerance, Team& team)
      : n_(columns.width), m_(columns.rows), tolerance_(tolerance), team_(team), norm_(m_), left_(m_) {
    for (std::size_t c = 0; c < m_ + y.rows; c += kChunk) chunks_.emplace_back(n_);
    team_.run(chunks_.size(), [&](std::size_t chunk, int) {
      double* values = chunks_[chunk].values.data();
      for (std::size_t c = 0; c < kChunk; ++c) {
        const std::size_t column = chunk * kChunk + c;
        const double* source = column < m_ ? columns[column] : column < m_ + y.rows ? y[column - m_] : nullptr;
        for (std::size_t i = 0; i < n_; ++i) values[i * kChunk + c] = source != nullptr ? source[i] : 0.0;
        if (column < m_) norm_[column] = left_[column] = std::sqrt(square(column, 0));
      }
    });
  }

  // Add column c as number k: write its reflection, which leaves the first k cases unchanged and must remain valid
  // until the next is written, and apply it to later columns. False if the column depends on those already added.
  bool take(std::size_t c, std::size_t k, double* reflection) {
    if (k == n_ || !(left_[c] >= (norm_[c] != 0 ? norm_[c] : 1.0) * tolerance_)) return false;
    const std::size_t first = c / kChunk, lane = c % kChunk;
    Chunk& own = chunks_[first];
    double length = std::sqrt(own.pending ? add_last(own, lane) : square(c, k));
    pivot_ = own.values[k][lane];
    if (k == n_ - 1) return true;  // the last dimension needs no reflection
    if (pivot_ < 0) length = -length;
    pivot_ = -length;
    const double scale = length != 0 ? 1 / length : 0.0;
    reflection[k] = 1 + own.values[k][lane] * scale;
    reflect_own(own, reflection, k, scale, lane);
    team_.run(chunks_.size() - first - 1, [&](std::size_t i, int) { reflect(chunks_[first + 1 + i], reflection, k); });
    last_ = reflection;
    last_k_ = k;
    for (std::size_t other = c + 1; other < m_; ++other) {
      double& left = left_[other];
      if (left == 0) continue;
      const double share = std::fabs(at(k, other)) / left, rest = larger(1 - share * share, 0.0);
      left = rest < kInaccurate ? std::sqrt(rest_square(other)) : left * std::sqrt(rest);
    }
    team_.check();
    return true;
  }
  // Apply the last reflection.
  void finish() {
    for (Chunk& chunk : chunks_)
      if (chunk.pending) add_last(chunk, 0);
  }
  double pivot() const { return pivot_; }  // diagonal element of the last column
  double at(std::size_t i, std::size_t c) const { return chunks_[c / kChunk].values[i][c % kChunk]; }

 private:
  struct Chunk {
    Table<double> values;  // (n, kChunk)
    double sums[kChunk];   // of the last reflection
    bool pending = false;  // it has not been applied yet, except to its own case

    explicit Chunk(std::size_t n) : values(n, kChunk) {}
  };

  double square(std::size_t c, std::size_t from) const {
    const double* values = chunks_[c / kChunk].values.data() + c % kChunk;
    double total = 0.0;
    for (std::size_t i = from; i < n_; ++i) total += values[i * kChunk] * values[i * kChunk];
    return total;
  }
  // The same for the cases after that of the last reflection.
  double rest_square(std::size_t c) {
    Chunk& chunk = chunks_[c / kChunk];
    return chunk.pending ? add_last(chunk, c % kChunk) : square(c, last_k_ + 1);
  }
  double add_last(Chunk& chunk, std::size_t lane) {
    chunk.pending = false;
    const std::size_t next = last_k_ + 1;
    return loops().chunk_add_square(last_ + next, chunk.values[next], n_ - next, chunk.sums, lane);
  }
  void reflect_own(Chunk& chunk, double* reflection, std::size_t k, double scale, std::size_t lane) {
    double sums[kChunk];
    for (std::size_t c = 0; c < kChunk; ++c) sums[c] = reflection[k] * chunk.values[k][c];
    loops().chunk_scale_sums(reflection + k + 1, scale, lane, chunk.values[k + 1], n_ - k - 1, sums);
    close(chunk, reflection[k], k, sums);
  }
  void reflect(Chunk& chunk, const double* reflection, std::size_t k) {
    double sums[kChunk] = {};
    if (!chunk.pending) {
      loops().lane_sums(reflection + k, chunk.values[k], n_ - k, kChunk, kChunk, sums);
    } else {
      const std::size_t next = last_k_ + 1;  // which is k
      loops().chunk_add_sums(last_ + next, reflection + next, chunk.values[next], n_ - next, chunk.sums, sums);
    }
    close(chunk, reflection[k], k, sums);
  }
  static void close(Chunk& chunk, double element, std::size_t k, const double* sums) {
    for (std::size_t c = 0; c < kChunk; ++c) {
      chunk.sums[c] = -sums[c] / element;
      chunk.values[k][c] += chunk.sums[c] * element;
    }
    chunk.pending = true;
  }

  std::size_t n_, m_;
  double tolerance_, pivot_ = 0.0;
  Team& team_;
  std::vector<Chunk> chunks_;
  std::vector<double> norm_, left_;  // initial and remaining norms of each column
  const double* last_ = nullptr;     // last reflection, and the number of cases it leaves unchanged
  std::size_t last_k_ = 0;
};

// Apply the first `count` reflections to a row in reverse order. A single loop applies a reflection and multiplies by
// the next.
void reflect_back(const Table<double>& reflections, std::size_t count, double* row, std::size_t n) {
  if (count == 0) return;
  double sum = 0.0;
  for (std::size_t i = count - 1; i < n; ++i) sum += reflections[count - 1][i] * row[i];
  for (std::size_t t = count - 1; t > 0; --t) {
    const double *reflection = reflections[t], *next = reflections[t - 1], factor = -sum / reflection[t];
    sum = next[t - 1] * row[t - 1];
    for (std::size_t i = t; i < n; ++i) {
      row[i] += factor * reflection[i];
      sum += next[i] * row[i];
    }
  }
  const double factor = -sum / reflections[0][0];
  for (std::size_t i = 0; i < n; ++i) row[i] += factor * reflections[0][i];
}

}  // namespace

void solve_triangle(const Table<double>& triangle, std::size_t m, double* values, std::size_t stride) {
  for (std::size_t j = m; j-- > 0;) {
    values[j * stride] /= triangle[j][j];
    for (std::size_t t = 0; t < j; ++t) values[t * stride] += -values[j * stride] * triangle[j][t];
  }
}

std::vector<std::size_t> find_independent(Rows<const double> columns, double tolerance, Team& team) {
  Qr qr(columns, {nullptr, 0, columns.width}, tolerance, team);
  Table<double> reflections(2, columns.width);
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < columns.rows; ++c)
    if (qr.take(c, kept.size(), reflections[kept.size() % 2])) kept.push_back(c);
  return kept;
}

Regression regress(Rows<const double> columns, Rows<const double> y, double tolerance, Team& team) {
  const std::size_t m = columns.rows, n = columns.width, n_resp = y.rows;
  Regression fit;
  fit.coef = Table<double>(m, n_resp, 0.0);
  fit.residuals = Table<double>(n_resp, n, 0.0);
  fit.triangle = Table<double>(m, m, 0.0);
  fit.reflections = Table<double>(m, n);
  Qr qr(columns, y, tolerance, team);
  for (std::size_t k = 0; k < m; ++k) {
    std::fill(fit.reflections[k], fit.reflections[k] + std::min(k + 1, n), 0.0);
    if (!qr.take(k, k, fit.reflections[k])) return fit;
    for (std::size_t t = 0; t < k; ++t) fit.triangle[k][t] = qr.at(t, k);
    fit.triangle[k][k] = qr.pivot();
  }
  qr.finish();
  fit.is_independent = true;
  fit.rotated = Table<double>(n_resp, m);
  for (std::size_t r = 0; r < n_resp; ++r) {
    for (std::size_t j = 0; j < m; ++j) fit.coef[j][r] = fit.rotated[r][j] = qr.at(j, m + r);
    solve_triangle(fit.triangle, m, fit.coef[0] + r, n_resp);
    double* residuals = fit.residuals[r];
    std::fill(residuals, residuals + m, 0.0);
    for (std::size_t i = m; i < n; ++i) residuals[i] = qr.at(i, m + r);
    reflect_back(fit.reflections, std::min(m, n - 1), residuals, n);
    for (std::size_t i = 0; i < n; ++i) fit.rss += residuals[i] * residuals[i];
    team.check();
  }
  return fit;
}

Buffer<double> hat_values(const Table<double>& reflections, Team& team) {
  const std::size_t m = reflections.rows(), n = reflections.width();
  Table<double> basis(n, m, 0.0);
  for (std::size_t c = 0; c < m; ++c) basis[c][c] = 1.0;
  team.run((m + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t first = chunk * kChunk, count = std::min(kChunk, m - first);
    // later reflections leave these unit vectors unchanged
    for (std::size_t t = std::min(first + count, n - 1); t > 0; --t)
      reflect_lanes(basis, reflections[t - 1], t - 1, first, count);
  });
  Buffer<double> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    Extended sum = 0.0;  // as R's rowSums
    for (std::size_t c = 0; c < m; ++c) {
      const double square = basis[i][c] * basis[i][c];
      sum += square;
    }
    values[i] = static_cast<double>(sum);
  }
  return values;
}

void orthonormalise(Rows<const double> columns, Table<double>& q, Table<double>& r) {
  Buffer<double> column(columns.width);
  for (std::size_t k = 0; k < columns.rows; ++k) {
    std::copy(columns[k], columns[k] + columns.width, column.data());
    const double length = std::sqrt(orthogonalise(q, k, column.data(), r[k])), inverse = 1 / length;
    r[k][k] = length;
    for (std::size_t i = 0; i < columns.width; ++i) q[k][i] = column[i] * inverse;
  }
}

}  // namespace earthdof
