#include "prune.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "../simd/loops.hpp"

namespace earthdof {

namespace {

constexpr double kSmall = 5e-10;    // fraction of the absolute sum of a column below which an entry is zero
constexpr std::size_t kInStep = 4;  // cases rotated simultaneously
constexpr double kLarge = 1e35;     // drops with a larger increase, possible for |y| above 1e17, are never taken

}  // namespace

Reduction::Reduction(std::size_t m, std::size_t largest)
    : d_(m, 0.0),
      u_(m, m, 0.0),
      t_(m, 0.0),
      rss_(m),
      order_(m),
      small_(m),
      best_rss_(largest),
      best_(largest, largest, 0),
      work_(m),
      product_(m) {}

std::vector<std::size_t> Reduction::reduce_cases(Rows<const double> columns, const double* y, Team& team) {
  const std::size_t m = size(), n = columns.width;
  Table<double> rows(kInStep, m);
  Case cases[kInStep];
  double error = 0.0;
  for (std::size_t i = 0; i < n; i += kInStep) {
    const std::size_t count = std::min(kInStep, n - i);
    for (std::size_t c = 0; c < count; ++c) {
      cases[c] = {1.0, rows[c], y[i + c]};
      for (std::size_t k = 0; k < m; ++k) rows[c][k] = columns[k][i + c];
    }
    // each case is one rotation behind the previous one, so the rotations are independent
    for (std::size_t step = 0; step + 1 < m + count; ++step)
      for (std::size_t c = step < m ? 0 : step - m + 1; c < std::min(count, step + 1); ++c) rotate(step - c, cases[c]);
    for (std::size_t c = 0; c < count; ++c) error += cases[c].weight * cases[c].value * cases[c].value;
    if (i % 16384 == 0) team.check();
  }
  return start(error);
}

double Reduction::include(std::size_t first, double weight, double* row, double value) {
  Case rest{weight, row, value};
  for (std::size_t k = first; k < size(); ++k) rotate(k, rest);
  return rest.weight * rest.value * rest.value;
}

// Rotate a case into row k.
void Reduction::rotate(std::size_t k, Case& rest) {
  const double x = rest.row[k], weight = rest.weight;
  if (x == 0.0 || weight == 0.0) return;
  const double wx = weight * x, total = d_[k] + wx * x;
  // the square underflows; its remaining bits equal earth's only where earth rotates, that is, for three or more
  // columns
  if (total < (size() > 2 ? std::numeric_limits<double>::denorm_min() : std::numeric_limits<double>::min())) return;
  const double cosine = d_[k] / total, sine = wx / total;
  rest.weight = cosine * weight;
  d_[k] = total;
  loops().rotate(u_[k] + k + 1, rest.row + k + 1, x, cosine, sine, size() - k - 1);
  const double old = rest.value;
  rest.value = old - x * t_[k];
  t_[k] = cosine * t_[k] + sine * old;
}

// RSS of the first 1, 2, ... columns.
void Reduction::sum_squares(double error) {
  rss_[size() - 1] = error;
  for (std::size_t k = size() - 1; k > 0; --k) {
    error += d_[k] * (t_[k] * t_[k]);
    rss_[k - 1] = error;
  }
}

void Reduction::reduce_factor(const Table<double>& r, const std::vector<double>& z, double error) {
  const std::size_t m = size();
  for (std::size_t k = 0; k < m; ++k) {
    d_[k] = r[k][k] * r[k][k];
    t_[k] = z[k] / r[k][k];
    for (std::size_t col = k + 1; col < m; ++col) u_[k][col] = r[col][k] / r[k][k];
  }
  start(error);
}

// Initialise tolerances, RSS, and the subsets of the current order.
std::vector<std::size_t> Reduction::start(double error) {
  const std::size_t m = size();
  std::vector<std::size_t> dependent;
  std::vector<double> scale(m);
  for (std::size_t k = 0; k < m; ++k) scale[k] = std::sqrt(d_[k]);
  for (std::size_t col = 0; col < m; ++col) {
    double total = scale[col];
    for (std::size_t row = 0; row < col; ++row) total += std::fabs(u_[row][col]) * scale[row];
    small_[col] = kSmall * total;
  }
  sum_squares(error);
  for (std::size_t col = 0; col < m; ++col) {
    for (std::size_t row = 0; row < col; ++row)
      if (std::fabs(u_[row][col]) * scale[row] < small_[col]) u_[row][col] = 0.0;
    if (scale[col] > small_[col]) continue;
    // the rest of the column is included in those below as an additional case
    dependent.push_back(col);
    std::vector<double> row(u_[col], u_[col] + m);
    const double weight = d_[col];
    d_[col] = scale[col] = 0.0;
    error += include(col + 1, weight, row.data(), t_[col]);
    std::fill(u_[col] + col + 1, u_[col] + m, 0.0);
    t_[col] = 0.0;
  }
  if (!dependent.empty()) sum_squares(error);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t k = 0; k < best_rss_.size(); ++k) {
    best_rss_[k] = rss_[k];
    std::iota(best_[k], best_[k] + k + 1, std::size_t{0});
  }
  return dependent;
}

bool Reduction::is_nearly_dependent() const {
  for (std::size_t k = 1; k < best_rss_.size(); ++k)
    if (d_[k] <= small_[k]) return true;
  return false;
}

// Exchange columns i and i + 1.
void Reduction::swap_neighbours(std::size_t i) {
  const std::size_t m = size(), j = i + 1;
  double x = u_[i][j];
  if (std::fabs(x) * std::sqrt(d_[i]) < small_[j]) x = 0.0;
  if (x == 0.0) {
    std::swap(d_[i], d_[j]);
    u_[i][j] = 0.0;
    std::swap_ranges(u_[i] + j + 1, u_[i] + m, u_[j] + j + 1);
    std::swap(t_[i], t_[j]);
  } else {
    const double total = d_[j] + d_[i] * (x * x), cosine = d_[j] / total, sine = x * d_[i] / total;
    d_[j] = d_[i] * cosine;
    d_[i] = total;
    u_[i][j] = sine;
    for (std::size_t col = j + 1; col < m; ++col) {
      const double upper = u_[i][col], lower = u_[j][col];
      u_[i][col] = cosine * lower + sine * upper;
      u_[j][col] = upper - x * lower;
    }
    const double upper = t_[i], lower = t_[j];
    t_[i] = cosine * lower + sine * upper;
    t_[j] = upper - x * lower;
  }
  for (std::size_t row = 0; row < i; ++row) std::swap(u_[row][i], u_[row][j]);
  std::swap(order_[i], order_[j]);
  std::swap(small_[i], small_[j]);
  rss_[i] = rss_[j] + d_[j] * (t_[j] * t_[j]);
}

void Reduction::move(std::size_t source, std::size_t target) {
  for (std::size_t i = source; i < target; ++i) swap_neighbours(i);
  for (std::size_t i = source; i > target; --i) swap_neighbours(i - 1);
}

// Record the first `size` columns if they improve on the best subset of that size. A recorded subset found again with a
// slightly different RSS is ignored.
void Reduction::record(std::size_t size, double rss) {
  if (size > best_rss_.size() || rss >= best_rss_[size - 1]) return;
  std::size_t* best = best_[size - 1];
  if (rss > 0.9999 * best_rss_[size - 1]) {
    const auto is_known = [&](std::size_t column) { return std::find(best, best + size, column) != best + size; };
    if (std::all_of(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(size), is_known)) return;
  }
  best_rss_[size - 1] = rss;
  std::copy_n(order_.begin(), size, best);
}

// Place in 1..last of the column whose removal from the first last + 1 columns increases the RSS least.
std::ptrdiff_t Reduction::cheapest_drop(std::size_t last) {
  double least = kLarge;
  std::ptrdiff_t where = -1;
  for (std::size_t j = 1; j <= last; ++j) {
    double left = d_[j], share = t_[j];
    if (std::sqrt(left) < small_[j]) {
      least = 0.0;
      where = static_cast<std::ptrdiff_t>(j);
      continue;
    }
    std::copy(u_[j] + j + 1, u_[j] + last + 1, work_.begin() + static_cast<std::ptrdiff_t>(j) + 1);
    // move column j behind the others, together with its remaining entries
    for (std::size_t row = j + 1; row <= last; ++row) {
      const double x = work_[row];
      if (std::fabs(x) * std::sqrt(left) < small_[row] || d_[row] == 0.0) continue;
      left = left * d_[row] / (d_[row] + left * (x * x));
      const double* below = u_[row];
      for (std::size_t col = row + 1; col <= last; ++col) work_[col] -= x * below[col];
      share -= x * t_[row];
    }
    const double cost = share * left * share;
    if (cost < least) {
      least = cost;
      where = static_cast<std::ptrdiff_t>(j);
    }
  }
  return where;
}

// Column in first..last that reduces the RSS of the first `first` ones most, and the reduction.
Reduction::Addition Reduction::best_addition(std::size_t first, std::size_t last) {
  std::vector<double>& square = work_;
  std::fill(square.begin(), square.end(), 0.0);
  std::fill(product_.begin(), product_.end(), 0.0);
  for (std::size_t row = first; row <= last; ++row) {
    const double weighted = d_[row] * t_[row];
    square[row] += d_[row];
    product_[row] += weighted;
    for (std::size_t col = row + 1; col <= last; ++col) {
      square[col] += d_[row] * (u_[row][col] * u_[row][col]);
      product_[col] += weighted * u_[row][col];
    }
  }
  Addition best{-1, 0.0};
  for (std::size_t j = first; j <= last; ++j)
    if (std::sqrt(square[j]) > small_[j]) {
      const double drop = product_[j] * product_[j] / square[j];
      if (drop > best.drop) best = {static_cast<std::ptrdiff_t>(j), drop};
    }
  return best;
}

// Record the first `place` columns followed by the added one.
void Reduction::record_addition(std::size_t place, const Addition& addition) {
  if (addition.where < 0 || place >= best_rss_.size()) return;
  const double rss = rss_[place - 1] - addition.drop;
  if (rss >= best_rss_[place]) return;
  const std::size_t kept = order_[place];
  order_[place] = order_[static_cast<std::size_t>(addition.where)];
  record(place + 1, rss);
  order_[place] = kept;
}

SubsetSearch search_subsets(Rows<const double> columns, const double* y, PruneMethod method, std::size_t largest,
                            Team& team) {
  const std::size_t m = columns.rows, n = columns.width;
  SubsetSearch found;
  Reduction reduction(m, largest);
  found.dependent = reduction.reduce_cases(columns, y, team);
  if (!found.dependent.empty()) {
    Table<double> reordered(m, n);
    std::size_t front = 0, back = m - found.dependent.size();
    for (std::size_t k = 0; k < m; ++k) {
      const bool last = std::binary_search(found.dependent.begin(), found.dependent.end(), k);
      std::copy_n(columns[k], n, reordered[last ? back++ : front++]);
    }
    const Rows<const double> again{reordered.data(), m, n};
    std::vector<std::size_t> dependent = Reduction(m, largest).reduce_cases(again, y, team);
    std::size_t last_safe = m;
    for (; !dependent.empty() && dependent.back() == last_safe - 1; dependent.pop_back()) --last_safe;
    largest = std::min(largest, last_safe);
    reduction = Reduction(m, largest);
    reduction.reduce_cases(again, y, team);
  }
  found.nearly_dependent = method == PruneMethod::kExhaustive && reduction.is_nearly_dependent();
  if (method == PruneMethod::kForward) reduction.forward();
  if (method == PruneMethod::kReplace) reduction.replace();
  if (method == PruneMethod::kBackward) reduction.backward();
  if (method == PruneMethod::kExhaustive && !found.nearly_dependent) reduction.exhaustive();
  found.rss = reduction.best_rss();
  found.best = Table<std::size_t>(largest, largest);
  std::copy_n(reduction.best(0), largest * largest, found.best[0]);
  return found;
}

void Reduction::backward() {
  for (std::size_t last = size() - 1; last > 1; --last) {
    const std::ptrdiff_t j = cheapest_drop(last);
    if (j <= 0 || static_cast<std::size_t>(j) >= last) continue;
    move(static_cast<std::size_t>(j), last);
    for (std::size_t i = static_cast<std::size_t>(j); i < last; ++i) record(i + 1, rss_[i]);
  }
}

void Reduction::forward() {
  for (std::size_t place = 1; place + 1 < size(); ++place) {
    const Addition found = best_addition(place, size() - 1);
    record_addition(place, found);
    if (found.where > static_cast<std::ptrdiff_t>(place)) move(static_cast<std::size_t>(found.where), place);
  }
}

void Reduction::replace() {
  for (std::size_t last = 1; last + 1 < size(); ++last) {
    std::size_t failures = 0, start = 1;
    while (true) {
      double most = 0.0;
      std::ptrdiff_t best = -1, source = -1;
      for (std::size_t turn = start; turn <= last; ++turn) {
        const Addition found = best_addition(last, size() - 1);
        if (found.where > static_cast<std::ptrdiff_t>(last)) {
          record_addition(last, found);
          if (found.drop > most) {
            most = found.drop;
            best = found.where;
            source = static_cast<std::ptrdiff_t>(turn < last ? last + start - turn - 1 : last);
          }
        }
        if (turn < last) move(last, start);
      }
      if (best > static_cast<std::ptrdiff_t>(last)) {
        if (source < static_cast<std::ptrdiff_t>(last)) move(static_cast<std::size_t>(source), last);
        move(static_cast<std::size_t>(best), 1);
        failures = 0;
        start = 2;
      } else {
        ++failures;
      }
      if (failures + start > last) break;
    }
  }
}

void Reduction::exhaustive() {
  const std::size_t m = size(), largest = best_rss_.size() - 1;
  std::vector<std::size_t> end(m, m - 1);
  for (std::size_t k = 1; k <= largest; ++k) record(k + 1, rss_[k]);
  bool search = true;
  std::size_t loop = 0;
  while (true) {
    if (search) {
      record_addition(largest, best_addition(largest, end[largest]));
      loop = largest - 1;
    }
    while (loop >= 1 && loop >= end[loop]) --loop;
    if (loop < 1) return;
    const std::size_t target = end[loop];
    move(loop, target);
    for (std::size_t k = loop; k <= std::min(largest, target - 1); ++k) record(k + 1, rss_[k]);
    for (std::size_t k = loop; k <= largest; ++k) end[k] = target - 1;
    // no subset in this loop can improve on a size whose best RSS is below that of all its columns
    const double bound = rss_[target - 1];
    std::size_t hopeless = loop;
    while (hopeless <= largest && bound <= best_rss_[hopeless]) ++hopeless;
    search = false;
    if (hopeless <= largest) {
      loop = hopeless - 1;
      if (loop < 1) return;
    } else if (end[largest] > largest) {
      search = true;
    } else {
      loop = largest - 1;
    }
  }
}

}  // namespace earthdof
