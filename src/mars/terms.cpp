#include "terms.hpp"

#include <cmath>
#include <limits>

#include "../simd/loops.hpp"

namespace earthdof {

Spans span_limits(std::size_t n, std::size_t p, std::size_t n_positive, int new_degree, const Settings& settings) {
  const int rows = static_cast<int>(n);
  int end = settings.endspan;
  if (end == 0) end = static_cast<int>(7.32193 + std::log(static_cast<double>(p)) / 0.69315);
  if (new_degree >= 2) end += static_cast<int>(settings.adjust_endspan * end + 0.5);
  end = std::max(1, std::min(end, rows / 2 - 1));
  if (settings.minspan < 0) {
    const int minimum = static_cast<int>(std::ceil(rows / (1.0 - settings.minspan)));
    int start = minimum;
    while (start < end) start += minimum;
    return {std::max(1, start - 1), minimum, end};
  }
  int minimum = settings.minspan;
  if (minimum == 0) {
    // a parent without a positive case has log(0): the cast gives a huge negative span, then 1
    const double product = static_cast<double>(p) * static_cast<double>(n_positive);
    minimum = product > 0 ? static_cast<int>((2.9702 + std::log(product)) / 1.7329) : 1;
  }
  minimum = std::max(1, minimum);
  const int available = std::max(0, rows - 2 * end);
  int start = available / 2;
  if (available > minimum) {
    const int left = available % minimum;
    start = left == 0 ? minimum / 2 : left / 2;
  }
  return {std::max(1, end + start), minimum, end};
}

std::size_t most_knots(std::size_t n, std::size_t p, const Settings& settings) {
  if (settings.minspan < 0) return std::min(n, static_cast<std::size_t>(2 - static_cast<long>(settings.minspan)));
  if (settings.minspan > 0) return std::min(n, n / settings.minspan + 1);
  // the span is a step function of the number of cases: test just before each step, and at the end
  std::size_t most = 0;
  for (std::size_t cases = 1; cases <= n;) {
    const auto span = [&](std::size_t m) {
      return std::max(1, static_cast<int>((2.9702 + std::log(static_cast<double>(p) * m)) / 1.7329));
    };
    const int width = span(cases);
    std::size_t last = cases, step = 1;
    while (last + step <= n && span(last + step) == width) last += step, step *= 2;
    for (; step > 0; step /= 2)
      if (last + step <= n && span(last + step) == width) last += step;
    most = std::max(most, last / width);
    cases = last + 1;
  }
  return std::min(n, most + 1);
}

double gcv_of(double rss, double n_terms, double n, double penalty) {
  const double cost = penalty < 0 ? 0.0 : (n_terms + penalty * ((n_terms - 1.0) / 2)) / n;
  return cost >= 1 ? std::numeric_limits<double>::infinity() : rss / (n * ((1 - cost) * (1 - cost)));
}

Terms::Terms(std::size_t nk, std::size_t n, std::size_t p, int kept)
    : bx(nk, n),
      kept(kept),
      parent(nk, 0),
      pred(nk, 0),
      dirs(nk, p, 0),
      cuts(nk, p, 0.0),
      degree(nk, 0),
      used(nk, 0),
      n_uses(p, 0),
      allowed(nk, p, 1),
      linear_only(p, 0),
      indicator(p, 0),
      incomplete(p, 0),
      apart(p) {}

void Terms::set_roles(const Roles& roles) {
  for (std::size_t j : roles.indicators) indicator[j] = linear_only[j] = 1;
  for (std::size_t j : roles.incomplete) incomplete[j] = 1;
  for (const auto& [j, k] : roles.apart) {
    apart[j].push_back(k);
    apart[k].push_back(j);
  }
}

void Terms::start(std::size_t n) {
  std::fill(bx[0], bx[0] + n, 1.0);
  dirs.fill(0);
  cuts.fill(0.0);
  std::fill(degree.begin(), degree.end(), 0);
  std::fill(used.begin(), used.end(), 0);
  std::fill(n_uses.begin(), n_uses.end(), 0);
  used[0] = 1;
}

bool Terms::is_new_form(std::size_t n_slots, std::size_t parent, std::size_t pred) const {
  bool is_new = true;
  const std::int8_t* own = dirs[parent];
  for (std::size_t t = 1; t < n_slots; ++t) {
    if (!used[t]) continue;
    is_new = false;
    const std::int8_t* other = dirs[t];
    if (other[pred] == 0) return true;
    for (std::size_t j = 0; j < dirs.width(); ++j)
      if (j != pred && (other[j] != 0) != (own[j] != 0)) return true;
  }
  return is_new;
}

std::size_t Terms::count_positive(std::size_t slot) const {
  return static_cast<std::size_t>(
      std::count_if(bx[slot], bx[slot] + bx.width(), [](double value) { return value > 0; }));
}

void Terms::add(const Design& design, std::size_t slot, const Candidate& found) {
  const std::size_t mate = slot + 1, own = found.pred;
  for (std::size_t j = 0; j < design.p; ++j) {
    dirs[slot][j] = dirs[mate][j] = dirs[found.parent][j];
    cuts[slot][j] = cuts[mate][j] = cuts[found.parent][j];
  }
  // Zero if an incomplete predictor is missing: the line starts there and is the other term of a pair.
  const std::int8_t line = incomplete[own] && design.low(own) != 0 ? 1 : 2;
  dirs[slot][own] = found.linear ? line : 1;
  dirs[mate][own] = incomplete[own] ? line : -1;
  cuts[slot][own] = design.sorted[own][found.place];
  cuts[mate][own] = incomplete[own] ? design.low(own) : cuts[slot][own];
  parent[slot] = parent[mate] = found.parent;
  pred[slot] = pred[mate] = own;
  ++n_uses[own];
  used[slot] = 1;
  used[mate] = !found.linear && found.new_form;
  degree[slot] = degree[found.parent] + (indicator[own] ? 0 : 1);
  degree[mate] = used[mate] ? degree[slot] : kNoParent;
  if (degree[slot] < kept) make_columns(design, slot, bx[slot], used[mate] ? bx[mate] : nullptr);
}

void Terms::write_columns(const Design& design, std::size_t slot, double* first, double* second) const {
  const bool paired = used[slot + 1];
  if (degree[slot] >= kept) return make_columns(design, slot, first, paired ? second : nullptr);
  std::copy_n(bx[slot], design.n, first);
  if (paired) std::copy_n(bx[slot + 1], design.n, second);
}

void Terms::make_columns(const Design& design, std::size_t slot, double* first, double* second) const {
  const std::size_t own = pred[slot], n = design.n;
  const double* base = bx[parent[slot]];
  double* x = second != nullptr ? second : first;
  design.column(own, x);
  const auto write = [&](std::size_t term, double* out) {
    if (dirs[term][own] == 2)
      for (std::size_t i = 0; i < n; ++i) out[i] = base[i] * x[i];
    else
      loops().hinge(base, x, cuts[term][own], dirs[term][own], out, n);
  };
  write(slot, first);
  if (second != nullptr) write(slot + 1, second);
}

std::vector<std::size_t> Terms::used_slots() const {
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < used.size(); ++slot)
    if (used[slot]) slots.push_back(slot);
  return slots;
}

void Queue::start(double rss_null) {
  std::fill(delta.begin(), delta.end(), -1.0);
  delta[0] = rss_null;
  when[0] = 1;
  ranked[0] = 0;
  size = 1;
}

void Queue::add(std::size_t count, std::size_t now) {
  for (; count > 0; --count, ++size) {
    delta[size] = std::numeric_limits<double>::infinity();
    when[size] = now;
  }
}

void Queue::rank(std::size_t now, double beta) {
  for (std::size_t e = 0; e < size; ++e) {
    std::size_t i = e;
    for (; i > 0 && delta[ranked[i - 1]] < delta[e]; --i) ranked[i] = ranked[i - 1];
    ranked[i] = e;
  }
  if (beta <= 0) return;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::size_t entry = ranked[rank];
    age_[entry] = static_cast<double>(rank) + beta * (static_cast<double>(now) - static_cast<double>(when[entry]));
  }
  for (std::size_t e = 0; e < size; ++e) {
    std::size_t i = e;
    for (; i > 0; --i) {
      const std::size_t other = ranked[i - 1];
      if (age_[other] < age_[e] || (age_[other] == age_[e] && delta[other] >= delta[e])) break;
      ranked[i] = other;
    }
    ranked[i] = e;
  }
}

}  // namespace earthdof
