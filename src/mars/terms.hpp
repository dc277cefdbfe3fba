// What the searches share: options, the table of terms, the queue of parents, spans, GCV.
//
// A *slot* is a place in earth's table of terms: each step of the forward pass takes two, and leaves the second
// empty when it adds one column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/buffer.hpp"
#include "design.hpp"

namespace earthdof {

constexpr double kMinSumOfSquares = 0.01;  // a linear candidate must leave more than this, in the raw units of X
constexpr double kAlmostZero = 1e-10;
constexpr double kMinGrsq = -10.0;
constexpr int kNoParent = 101;  // degree of an empty slot: above every maximum degree

constexpr std::size_t kMostKnots = 4'000'000;   // 144 MB at the most, 192 with lists of cases
constexpr std::size_t kKnotsPerCase = 27;       // above 148,000 cases, 972 bytes for each of them
constexpr std::size_t kMostCases = 16'000'000;  // 192 MB

// Predictors that R's earth does not have, and pairs that no term may have.
struct Roles {
  std::vector<std::size_t> indicators = {};  // of missing values: linear, and not counted in the degree of a term
  // Predictors with missing values, which are their smallest value in X: a term has hinges that are zero there.
  std::vector<std::size_t> incomplete = {};
  std::vector<std::pair<std::size_t, std::size_t>> apart = {};
};

// Options of the forward pass, all resolved to numbers.
struct Settings {
  int degree;
  std::size_t nk;
  double penalty, thresh;
  int minspan, endspan;
  double newvar_penalty;
  std::size_t fast_k;
  double fast_beta, adjust_endspan;
  bool auto_linpreds;
  std::size_t most_knots = kMostKnots, most_cases = kMostCases;  // that a thread keeps; what is beyond is made anew
  Roles roles = {};
  // With case weights: whether near-ties are decided as earth does, by regressions. Updated sums decide them otherwise,
  // which is far faster where many candidates are nearly equal.
  bool as_earth = true;
};

// Where the knots of a parent are: cases before the first, between two, and after the last.
struct Spans {
  int start, minimum, end;
};

// The constants are earth's truncations of Friedman's equations 43 and 45; they matter.
Spans span_limits(std::size_t n, std::size_t p, std::size_t n_positive, int new_degree, const Settings& settings);

// Upper bound of the candidate knots of a pair.
std::size_t most_knots(std::size_t n, std::size_t p, const Settings& settings);

// Generalised cross-validation; infinite once the parameters are as many as the cases.
double gcv_of(double rss, double n_terms, double n, double penalty);

inline double almost_zero(double value) { return -kAlmostZero < value && value < kAlmostZero ? 0.0 : value; }

// Least share of its variance that a knot's hinge must have left; columns are counted by slot.
inline double knot_tolerance(std::size_t new_column) { return new_column < 15 ? 0.01 : 1e-5; }

// What a search found: a knot's place in the descending order, or the last place for a linear term.
struct Candidate {
  std::ptrdiff_t place = -1;  // -1 if nothing lowers the RSS
  std::size_t pred = 0, parent = 0;
  double gain = 0.0;
  bool new_form = false, linear = false;

  bool found() const { return place >= 0; }
};

// The table of terms that a forward pass fills, one row a slot.
struct Terms {
  Table<double> bx;                 // columns of the terms that may be parents; those of the others follow from them
  int kept;                         // terms of a lower degree have their columns in bx
  std::vector<std::size_t> parent;  // slot of each term's
  std::vector<std::size_t> pred;    // predictor that it has more
  Table<std::int8_t> dirs;
  Table<double> cuts;
  std::vector<int> degree;
  std::vector<char> used;
  std::vector<std::size_t> n_uses;  // how many terms use each predictor
  Table<char> allowed;              // may this predictor extend this term
  std::vector<char> linear_only;
  std::vector<char> indicator, incomplete;
  std::vector<std::vector<std::size_t>> apart;  // of each predictor: those that no term has beside it

  Terms(std::size_t nk, std::size_t n, std::size_t p, int kept);
  void start(std::size_t n);

  void set_roles(const Roles& roles);

  bool may_extend(std::size_t slot, std::size_t pred) const {
    const auto is_used = [this, slot](std::size_t j) { return dirs[slot][j] != 0; };
    return !is_used(pred) && allowed[slot][pred] && std::none_of(apart[pred].begin(), apart[pred].end(), is_used);
  }
  // Whether parent * predictor is taken as a new form, by earth's own (odd) rule: some used term lacks the
  // predictor, or differs from the parent in another variable.
  bool is_new_form(std::size_t n_slots, std::size_t parent, std::size_t pred) const;
  std::size_t count_positive(std::size_t slot) const;
  // Write the terms of one step into `slot` and the slot after it.
  void add(const Design& design, std::size_t slot, const Candidate& found);
  // Write the columns of a step, the second one only where that slot is used.
  void write_columns(const Design& design, std::size_t slot, double* first, double* second) const;
  // Compute them from the parent's; `second` may be nullptr.
  void make_columns(const Design& design, std::size_t slot, double* first, double* second) const;
  std::vector<std::size_t> used_slots() const;
};

// Fast MARS: the gain of each parent when it was last looked at, and how long ago that was.
struct Queue {
  std::vector<double> delta;
  std::vector<std::size_t> when, ranked;
  std::size_t size = 0;

  explicit Queue(std::size_t nk) : delta(nk), when(nk), ranked(nk), age_(nk) {}
  void start(double rss_null);
  void add(std::size_t count, std::size_t now);
  // Rank by gain, then (beta > 0) by gain rank plus age; ties by gain, then index.
  void rank(std::size_t now, double beta);
  std::size_t considered(const Settings& settings) const { return std::min(size, settings.fast_k); }

 private:
  std::vector<double> age_;
};

}  // namespace earthdof
