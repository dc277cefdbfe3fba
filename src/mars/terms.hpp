// Common parts of the searches: options, table of terms, queue of parents, spans, GCV.
//
// A *slot* is a row of earth's table of terms: each step of the forward pass takes two slots, and leaves the second one
// empty if it adds a single column.
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

constexpr std::size_t kMostKnots = 4'000'000;   // at most 144 MB, 192 MB with lists of cases
constexpr std::size_t kKnotsPerCase = 27;       // above 148,000 cases, 972 bytes per case
constexpr std::size_t kMostCases = 16'000'000;  // 192 MB

// Kinds of predictors that R's earth lacks, and pairs that no term may combine.
struct Roles {
  std::vector<std::size_t> indicators = {};  // of missing values: linear, not counted in the degree of a term
  // Predictors with missing values, encoded as their minimum in X: hinges in terms are zero there.
  std::vector<std::size_t> incomplete = {};
  std::vector<std::pair<std::size_t, std::size_t>> apart = {};
};

// Options of the forward pass, resolved to numbers.
struct Settings {
  int degree;
  std::size_t nk;
  double penalty, thresh;
  int minspan, endspan;
  double newvar_penalty;
  std::size_t fast_k;
  double fast_beta, adjust_endspan;
  bool auto_linpreds;
  std::size_t most_knots = kMostKnots, most_cases = kMostCases;  // stored per thread; the rest is recomputed
  Roles roles = {};
  // With case weights: decide near-ties by regressions, as earth does. Otherwise they are decided by updated sums,
  // which is far faster if many candidates are nearly equal.
  bool as_earth = true;
};

// Spacing of the knots of a parent: cases before the first, between two, and after the last.
struct Spans {
  int start, minimum, end;
};

// The constants are earth's truncations of Friedman's equations 43 and 45; the results depend on them.
Spans span_limits(std::size_t n, std::size_t p, std::size_t n_positive, int new_degree, const Settings& settings);

// Upper bound of the number of candidate knots of a pair.
std::size_t most_knots(std::size_t n, std::size_t p, const Settings& settings);

// Generalised cross-validation; infinite if there are at least as many parameters as cases.
double gcv_of(double rss, double n_terms, double n, double penalty);

inline double almost_zero(double value) { return -kAlmostZero < value && value < kAlmostZero ? 0.0 : value; }

// Minimum share of the variance of a hinge left by the model; columns are numbered by slot.
inline double knot_tolerance(std::size_t new_column) { return new_column < 15 ? 0.01 : 1e-5; }

// Result of a search: the place of a knot in descending order, or the last place for a linear term.
struct Candidate {
  std::ptrdiff_t place = -1;  // -1 if no candidate reduces the RSS
  std::size_t pred = 0, parent = 0;
  double gain = 0.0;
  bool new_form = false, linear = false;

  bool found() const { return place >= 0; }
};

// Table of terms filled by a forward pass, one row per slot.
struct Terms {
  Table<double> bx;                 // columns of possible parents; those of other terms are derived from them
  int kept;                         // terms of lower degree have their columns in bx
  std::vector<std::size_t> parent;  // slot of the parent of each term
  std::vector<std::size_t> pred;    // predictor added to the parent
  Table<std::int8_t> dirs;
  Table<double> cuts;
  std::vector<int> degree;
  std::vector<char> used;
  std::vector<std::size_t> n_uses;  // number of terms that use each predictor
  Table<char> allowed;              // true if the predictor may extend the term
  std::vector<char> linear_only;
  std::vector<char> indicator, incomplete;
  std::vector<std::vector<std::size_t>> apart;  // for each predictor, those that no term may combine with it

  Terms(std::size_t nk, std::size_t n, std::size_t p, int kept);
  void start(std::size_t n);

  void set_roles(const Roles& roles);

  bool may_extend(std::size_t slot, std::size_t pred) const {
    const auto is_used = [this, slot](std::size_t j) { return dirs[slot][j] != 0; };
    return !is_used(pred) && allowed[slot][pred] && std::none_of(apart[pred].begin(), apart[pred].end(), is_used);
  }
  // True if parent * predictor is a new form by earth's own (odd) rule: some used term lacks the predictor, or differs
  // from the parent in another variable.
  bool is_new_form(std::size_t n_slots, std::size_t parent, std::size_t pred) const;
  std::size_t count_positive(std::size_t slot) const;
  // Write the terms of one step into `slot` and the slot after it.
  void add(const Design& design, std::size_t slot, const Candidate& found);
  // Write the columns of a step, the second one only if its slot is used.
  void write_columns(const Design& design, std::size_t slot, double* first, double* second) const;
  // Compute the columns from that of the parent; `second` may be nullptr.
  void make_columns(const Design& design, std::size_t slot, double* first, double* second) const;
  std::vector<std::size_t> used_slots() const;
};

// Fast MARS: gain of each parent when last evaluated, and the age of this value.
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
