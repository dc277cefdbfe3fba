// Fits in several threads, without Python, to detect data races (make sanitize).
//
// Every fit is computed by one thread and by four, and two callers fit simultaneously on one design. All results must
// be equal to the bit.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../mars/forward.hpp"
#include "../mars/many.hpp"
#include "../mars/regress.hpp"
#include "../mars/weighted.hpp"

namespace {

using namespace earthdof;

constexpr std::size_t kCases = 1500, kPredictors = 6, kResponses = 8;
constexpr int kThreads = 4;

struct Data {
  std::vector<double> x, y, weights;

  Data() : x(kCases * kPredictors), y(kResponses * kCases), weights(kCases) {
    std::mt19937_64 bits(1);
    std::normal_distribution<double> normal;
    for (double& value : x) value = normal(bits);
    for (std::size_t i = 0; i < kCases; ++i) weights[i] = 0.5 + static_cast<double>(i % 7);
    for (std::size_t k = 0; k < kResponses; ++k)
      for (std::size_t i = 0; i < kCases; ++i) {
        const double* row = x.data() + i * kPredictors;
        y[k * kCases + i] = row[0] * row[1] + (row[2] > 0 ? row[2] : 0) + normal(bits);
      }
  }

  Rows<const double> responses(std::size_t count) const { return {y.data(), count, kCases}; }
  Design design(Team& team) const { return Design(x.data(), kCases, kPredictors, kPredictors, 1, team); }
};

Settings settings(int degree) {
  Settings chosen{};
  chosen.degree = degree;
  chosen.nk = 21;
  chosen.penalty = degree > 1 ? 3.0 : 2.0;
  chosen.thresh = 0.001;
  chosen.fast_k = 20;
  chosen.fast_beta = 1.0;
  chosen.adjust_endspan = 2.0;
  chosen.auto_linpreds = true;
  return chosen;
}

using Numbers = std::vector<double>;

Numbers numbers(const Table<double>& table) { return {table.data(), table.data() + table.rows() * table.width()}; }

Numbers one_fit(const Data& data, const Design& design, int degree, bool exact, Team& team) {
  ForwardPass pass(design, settings(degree), {}, 1, team);
  pass.start(data.responses(1), exact);
  pass.run(static_cast<std::size_t>(-1));
  const Table<double> columns = pass.independent_columns(team);
  const Rows<const double> kept{columns.data(), columns.rows(), columns.width()};
  const Regression fit = regress(kept, data.responses(1), kLmTolerance, team);
  Numbers found = numbers(fit.residuals);
  const Buffer<double> leverages = hat_values(fit.reflections, team);
  found.insert(found.end(), leverages.begin(), leverages.end());
  return found;
}

Numbers weighted_fit(const Data& data, const Design& design, bool exact, Team& team) {
  double null = 0.0, shared = 0.0, total = 0.0;
  for (std::size_t i = 0; i < kCases; ++i) {
    null += data.y[i] * data.y[i];
    shared += std::sqrt(data.weights[i]) * data.y[i];
    total += data.weights[i];
  }
  WeightedPass pass(design, settings(1), {}, 1, team);
  pass.start(data.responses(1), data.weights.data(), null - shared * shared / total, exact);
  pass.run(3);
  return numbers(pass.independent_columns(team));
}

Numbers many_fits(const Data& data, const Design& design, Team& team) {
  const ManyOptions options{settings(2), {}, true, true, 21};
  Table<double> fitted(kResponses, kCases);
  std::vector<std::int64_t> n_terms(kResponses);
  fit_many(design, options, data.responses(kResponses), {fitted.data(), kResponses, kCases}, n_terms.data(), team);
  return numbers(fitted);
}

std::vector<Numbers> all_fits(const Data& data, const Design& design, int n_threads) {
  Team team(n_threads, nullptr);
  return {one_fit(data, design, 1, false, team),  one_fit(data, design, 2, false, team),
          one_fit(data, design, 1, true, team),   weighted_fit(data, design, false, team),
          weighted_fit(data, design, true, team), many_fits(data, design, team)};
}

// Reports Ctrl-C after some checks.
class Impatience : public Patience {
 public:
  bool is_over() override { return ++asked_ > 5; }

 private:
  int asked_ = 0;
};

bool stops(const Data& data, const Design& design) {
  Impatience impatience;
  Team team(kThreads, &impatience);
  try {
    one_fit(data, design, 2, false, team);
  } catch (const Interrupted&) {
    return true;
  }
  return false;
}

int failures = 0;

void expect(bool holds, const char* what) {
  if (!holds) std::printf("wrong: %s\n", what);
  failures += !holds;
}

}  // namespace

int main() {
  Team::shares_all = true;
  const Data data;
  Team alone(1, nullptr), together(kThreads, nullptr);
  const Design one = data.design(alone), design = data.design(together);
  expect(numbers(one.sorted) == numbers(design.sorted), "columns sorted by one thread and by several");

  std::vector<Numbers> wanted, found, beside;
  std::thread other([&] { beside = all_fits(data, design, kThreads); });
  found = all_fits(data, design, kThreads);
  other.join();
  wanted = all_fits(data, one, 1);
  expect(found == wanted, "fits by one thread and by several");
  expect(beside == wanted, "fits of two callers at once");
  expect(stops(data, design), "an interrupt ends a fit");
  if (failures == 0)
    std::printf("fits by %d threads, by two callers at once, and interrupted: the same bits\n", kThreads);
  return failures;
}
