#include "../core/numbers.hpp"
#include "knots.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "exact.hpp"
#include "noise.hpp"

namespace earthdof {

ParentColumn::ParentColumn(const double* column, std::size_t n)
    : base(column), intercept(static_cast<double>(n)), support(n), position(n), values(n) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {  // without branches, which would be unpredictable
    const double value = std::fabs(base[i]);
    square += value * value;
    largest = larger(largest, value);
    support[count] = static_cast<std::uint32_t>(i);
    values[count] = base[i];
    position[i] = value != 0 ? static_cast<std::uint32_t>(count) : kZero;
    is_positive &= base[i] >= 0;
    count += value != 0;
  }
  support.resize(count);
  values.resize(count);
}

ParentColumn::ParentColumn(const double* column, const double* roots, std::size_t n) : ParentColumn(column, n) {
  weighted = true;
  intercept = loops().dot(roots, roots, n);
  products.reserve(support.size());
  for (std::size_t k = 0; k < support.size(); ++k) products.push_back(values[k] * roots[support[k]]);
}

namespace {

// Tests whether earth counts a case, which it does once its running variance is positive: the sign includes the
// effects of rounding.
class Counting {
 public:
  Counting(const Design& design, std::size_t pred, const ParentColumn& parent)
      : order_(design.order[pred]),
        sorted_(design.sorted[pred]),
        base_(parent.base),
        n_(static_cast<double>(design.n)),
        sure_(2e-10 * parent.square * design.reach(pred) * (design.reach(pred) + design.top(pred) - design.low(pred))),
        is_sure_(parent.weighted) {}  // with weights, earth counts every case of the parent

  // True if all cases from here on count.
  bool is_sure() const { return is_sure_; }
  // Must be called in the order of the places.
  bool counts(std::size_t place) {
    if (is_sure_) return true;
    for (; next_ <= place; ++next_) running_.add(base_[order_[next_]], sorted_[next_ + 1], sorted_[next_], n_);
    // from here on, it is positive for any cases below
    is_sure_ = running_.variance > sure_;
    return running_.variance > 0;
  }

 private:
  const std::uint32_t* order_;
  const double *sorted_, *base_;
  double n_, sure_;
  RunningVariance running_;
  std::size_t next_ = 0;
  bool is_sure_;
};

// Moments of p (times the intercept with weights) and p^2 about a knot, over the cases above it.
struct Moments {
  double n0 = 0.0, n1 = 0.0, m0 = 0.0, m1 = 0.0, m2 = 0.0;

  void move(double step) {
    n1 += step * n0;
    m2 += step * (2 * m1 + step * m0);
    m1 += step * m0;
  }
  void add(const Moments& other) {
    n0 += other.n0;
    n1 += other.n1;
    m0 += other.m0;
    m1 += other.m1;
    m2 += other.m2;
  }
};

// Moments of a group of cases, independent of the sums over earlier cases.
template <bool kWeighted>
Moments moments_of(const ParentColumn& parent, const double* x, const std::uint32_t* row, std::size_t begin,
                   std::size_t end, double knot) {
  Moments sums;
  for (std::size_t i = begin; i < end; ++i) {
    const double p = parent.values[row[i]], distance = x[i] - knot, square = p * p, slope = square * distance;
    const double product = kWeighted ? parent.products[row[i]] : p;
    sums.n0 += product;
    sums.n1 += product * distance;
    sums.m0 += square;
    sums.m1 += slope;
    sums.m2 += slope * distance;
  }
  return sums;
}

// List the cases with a non-zero parent, by descending x, without branches, which would be unpredictable.
std::size_t list_cases(const Design& design, std::size_t pred, const ParentColumn& parent, std::uint32_t* places,
                       double* x, std::uint32_t* rows) {
  const std::uint32_t *order = design.order[pred], *position = parent.position.data();
  const double* sorted = design.sorted[pred];
  std::size_t count = 0;
  for (std::size_t place = 0, last = design.n - 1; place < last; ++place) {
    const std::uint32_t row = position[order[place]];
    places[count] = static_cast<std::uint32_t>(place);
    x[count] = sorted[place];
    rows[count] = row;
    count += row != ParentColumn::kZero;
  }
  return count;
}

template <bool kWeighted>
NewPair create(const Design& design, std::size_t pred, const ParentColumn& parent, const Spans& spans, Knots& knots,
               std::size_t start, Cases* cases, std::size_t first, PairWork& work) {
  double* x = cases != nullptr ? cases->x.data() + first : work.x.data();
  std::uint32_t* row = cases != nullptr ? cases->row.data() + first : work.row.data();
  const std::size_t n_cases = list_cases(design, pred, parent, work.place.data(), x, row);
  const double *sorted = design.sorted[pred], low = design.low(pred);
  const auto last_place = static_cast<std::ptrdiff_t>(design.n) - spans.end - 1;  // last case that may be counted
  Counting counting(design, pred, parent);
  Moments sums;
  const double highest = n_cases > 0 ? x[0] : low;
  double worst = 0.0, above = highest;
  std::size_t entry = start, begin = 0;
  int wait = spans.start;
  const auto write = [&](double knot, std::size_t end) {
    sums.move(above - knot);
    sums.add(moments_of<kWeighted>(parent, x, row, begin, end, knot));
    above = knot;
    begin = end;
    if (cases != nullptr) {
      knots.x[entry] = knot;
      knots.stop[entry] = static_cast<std::int32_t>(end);
    }
    knots.v[entry] = sums.m2 - sums.n1 * sums.n1 / parent.intercept;
    knots.b[entry] = sums.n1;  // replaced once h_min is known
    knots.c[entry] = sums.m2 + (knot - low) * sums.m1;
    worst = larger(worst, kWeighted ? centring_loss(sums.m2, knots.v[entry])
                                    : hinge_noise(sums.m0, highest - knot, knots.v[entry]));
  };
  for (std::size_t i = 0; i < n_cases; ++i) {
    if (parent.is_positive && counting.is_sure()) {  // every case counts: go to the one at the next knot
      i += static_cast<std::size_t>(wait) - 1;
      wait = 1;
      if (i >= n_cases) break;
    }
    const std::size_t place = work.place[i];
    if (static_cast<std::ptrdiff_t>(place) >= last_place) break;
    if (!(parent.values[row[i]] > 0) || !counting.counts(place) || --wait != 0) continue;
    wait = spans.minimum;
    const double knot = sorted[place + 1];
    if (entry > start && knot == above) continue;  // tied with the previous knot: no new candidate
    knots.place[entry] = static_cast<std::int32_t>(place + 1);
    write(knot, i + 1);
    ++entry;
  }
  write(low, n_cases);
  knots.place[entry] = static_cast<std::int32_t>(design.n - 1);
  for (std::size_t e = start; e <= entry; ++e) {
    knots.c[e] -= knots.b[e] * sums.n1 / parent.intercept;
    knots.b[e] = knots.v[e];
  }
  knots.c[entry] = knots.v[entry];
  const double n = static_cast<double>(design.n);
  return {entry - start, n_cases, kWeighted ? weighted_noise(n, worst) : variance_noise(n, worst, design.reach(pred))};
}

}  // namespace

NewPair create_pair(const Design& design, std::size_t pred, const ParentColumn& parent, const Spans& spans,
                    Knots& knots, std::size_t start, Cases* cases, std::size_t first, PairWork& work) {
  return (parent.weighted ? create<true> : create<false>)(design, pred, parent, spans, knots, start, cases, first,
                                                          work);
}

}  // namespace earthdof
