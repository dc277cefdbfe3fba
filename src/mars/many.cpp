#include "../core/numbers.hpp"
#include "many.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "../core/extended.hpp"
#include "../simd/loops.hpp"
#include "gram_schmidt.hpp"
#include "prune.hpp"
#include "regress.hpp"
#include "weighted.hpp"

namespace earthdof {

namespace {

// Fits of one thread: forward pass, and least squares on its terms.
class Fitter {
 public:
  Fitter(const Design& design, const ManyOptions& options, std::size_t n_mates)
      : design_(design),
        options_(options),
        alone_(1, nullptr),
        scaled_(design.n),
        centred_(design.n),
        intercept_(design.n, 1.0) {
    const auto make = [&](auto& pass) {
      using Made = typename std::remove_reference_t<decltype(pass)>::element_type;
      pass = std::make_unique<Made>(design, options.settings, options.linpreds, 1, alone_, n_mates, true);
    };
    if (options.weights == nullptr) {
      make(plain_);
    } else {
      make(weighted_);
      for (std::size_t i = 0; i < design.n; ++i) intercept_[i] = std::sqrt(options.weights[i]);
    }
  }

  void start(const double* y) {
    y_ = y;
    double spread = 0.0;
    if (options_.scaled) spread = scale_response(y, design_.n, scaled_.data());
    if (plain_) return plain_->start({options_.scaled ? scaled_.data() : y, 1, design_.n}, false);
    const double null = weighted_null_rss({options_.scaled ? scaled_.data() : y, 1, design_.n}, options_.weights);
    if (spread == 0) spread = 1.0;
    for (std::size_t i = 0; i < design_.n; ++i) scaled_[i] = intercept_[i] * y[i] / spread;
    weighted_->start({scaled_.data(), 1, design_.n}, options_.weights, null, false);
  }

  Pass& pass() { return plain_ ? static_cast<Pass&>(*plain_) : *weighted_; }
  const Pass& pass() const { return plain_ ? static_cast<const Pass&>(*plain_) : *weighted_; }

  // Finish the pass: the updating search then contains a basis of its independent columns.
  void finish() {
    find_basis();
    double total = 0.0;
    mean_ = 0.0;
    for (std::size_t i = 0; i < design_.n; ++i) {
      const double weight = plain_ ? 1.0 : options_.weights[i];
      mean_ += weight * y_[i];
      total += weight;
    }
    mean_ /= total;
    for (std::size_t i = 0; i < design_.n; ++i) centred_[i] = intercept_[i] * (y_[i] - mean_);
  }

  std::size_t fit_unpruned(double* fitted) const {
    const std::size_t m = std::min(steps_.size(), options_.nprune);
    start_fit(fitted);
    for (std::size_t k = 1; k < m; ++k) add_projection(k, fitted);
    unweight(fitted);
    return m;
  }

  std::size_t fit_pruned(double* fitted) const;

  // RSS of the best subset of each size and, with a direction, its products with the fit; returns the number of sizes.
  std::size_t fit_sizes(const double* direction, double* rss, double* products) const;

  // Fits after each number of steps, in ascending order.
  void fit_path(const std::vector<std::size_t>& steps, Rows<double> fitted, std::int64_t* n_terms) const {
    Buffer<double> fit(design_.n);
    start_fit(fit.data());
    std::size_t k = 1;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      for (; k < steps_.size() && steps_[k] <= steps[s]; ++k) add_projection(k, fit.data());
      std::copy(fit.begin(), fit.end(), fitted[s]);
      unweight(fitted[s]);
      n_terms[s] = static_cast<std::int64_t>(k);
    }
  }

 private:
  // Columns and intermediate fits are multiplied by the roots of the weights.
  void start_fit(double* fitted) const {
    for (std::size_t i = 0; i < design_.n; ++i) fitted[i] = mean_ * intercept_[i];
  }
  void unweight(double* fitted) const {
    if (plain_) return;
    for (std::size_t i = 0; i < design_.n; ++i) fitted[i] /= intercept_[i];
  }
  Reduction prune(std::vector<double>& z) const;
  std::vector<double> project(const std::size_t* columns, std::size_t size, const std::vector<double>& z) const;

  void add_projection(std::size_t k, double* out) const {
    const Loops& l = loops();
    const double* q = pass().updating().q(k);
    l.add_scaled(out, l.dot(q, centred_.data(), design_.n), q, design_.n);
  }

  // Find the independent columns of the pass and the step that added each. Their basis is that of the updating search,
  // unless it may be too inaccurate.
  void find_basis() {
    const std::vector<std::size_t> slots = pass().terms().used_slots();
    steps_.clear();
    for (std::size_t slot : slots) steps_.push_back((slot + 1) / 2);
    Updating& updating = pass().updating();
    if (pass().has_full_rank() && updating.size() == slots.size()) return;
    const Table<double> columns = pass().independent_columns(alone_);
    steps_.clear();
    for (std::size_t slot : pass().independent_slots()) steps_.push_back((slot + 1) / 2);
    orthonormalise({columns.data(), columns.rows(), design_.n}, updating.basis(), updating.triangle());
  }

  const Design& design_;
  const ManyOptions& options_;
  Team alone_;
  std::unique_ptr<ForwardPass> plain_;  // exactly one of the two is set
  std::unique_ptr<WeightedPass> weighted_;
  const double* y_ = nullptr;
  Buffer<double> scaled_, centred_;
  Buffer<double> intercept_;  // roots of the weights
  double mean_ = 0.0;
  std::vector<std::size_t> steps_;
};

// Backward pruning in the coordinates of the basis; sets z to Q'y.
Reduction Fitter::prune(std::vector<double>& z) const {
  const Loops& l = loops();
  const std::size_t m = steps_.size(), n = design_.n;
  const Updating& basis = pass().updating();
  z.resize(m);
  Buffer<double> residual(n);
  std::copy(centred_.begin(), centred_.end(), residual.data());
  for (std::size_t k = 0; k < m; ++k) {
    z[k] = l.dot(basis.q(k), centred_.data(), n);
    if (k > 0) l.add_scaled(residual.data(), -z[k], basis.q(k), n);
  }
  z[0] += mean_ * basis.r(0)[0];
  Reduction reduction(m, m);
  reduction.reduce_factor(basis.triangle(), z, l.dot(residual.data(), residual.data(), n));
  reduction.backward();
  return reduction;
}

// Projection of z on some columns, in the coordinates of the basis.
std::vector<double> Fitter::project(const std::size_t* columns, std::size_t size, const std::vector<double>& z) const {
  const Loops& l = loops();
  const std::size_t m = z.size();
  const Updating& basis = pass().updating();
  std::vector<std::size_t> chosen(columns, columns + size);
  std::sort(chosen.begin(), chosen.end());
  Table<double> part(size, m, 0.0), q(size, m), r(size, size);
  for (std::size_t k = 0; k < size; ++k) std::copy_n(basis.r(chosen[k]), chosen[k] + 1, part[k]);
  orthonormalise({part.data(), size, m}, q, r);
  std::vector<double> weight(m, 0.0);
  for (std::size_t k = 0; k < size; ++k) l.add_scaled(weight.data(), l.dot(q[k], z.data(), m), q[k], m);
  return weight;
}

// Backward pruning and least squares; returns the number of terms.
std::size_t Fitter::fit_pruned(double* fitted) const {
  const std::size_t m = steps_.size(), n = design_.n;
  std::vector<double> z;
  const Reduction reduction = prune(z);
  double best = std::numeric_limits<double>::infinity();
  std::size_t size = 1;
  for (std::size_t k = 0; k < std::min(m, options_.nprune); ++k) {
    const double score =
        gcv_of(reduction.best_rss()[k], static_cast<double>(k + 1), static_cast<double>(n), options_.settings.penalty);
    if (score < best) {
      best = score;
      size = k + 1;
    }
  }
  const std::vector<double> weight = project(reduction.best(size - 1), size, z);
  std::fill(fitted, fitted + n, 0.0);
  for (std::size_t k = 0; k < m; ++k) loops().add_scaled(fitted, weight[k], pass().updating().q(k), n);
  unweight(fitted);
  return size;
}

std::size_t Fitter::fit_sizes(const double* direction, double* rss, double* products) const {
  const Loops& l = loops();
  const std::size_t m = steps_.size();
  std::vector<double> z, along(m);
  const Reduction reduction = prune(z);
  std::copy(reduction.best_rss().begin(), reduction.best_rss().end(), rss);
  if (direction == nullptr) return m;
  for (std::size_t k = 0; k < m; ++k) along[k] = l.dot(pass().updating().q(k), direction, design_.n);
  for (std::size_t k = 0; k < m; ++k) {
    const std::vector<double> weight = project(reduction.best(k), k + 1, z);
    products[k] = l.dot(weight.data(), along.data(), m);
  }
  return m;
}

// Responses that one thread fits simultaneously. In additive models, the intercept is the only parent, with the same
// cases and knots for all responses, so a single walk serves the whole group. With interactions, grouping is slower
// (measured: by a seventh), because it evicts the knots of all other parents from the cache.
class Group {
 public:
  // The two columns of a step of four responses fill the lanes of a walk. With few responses, groups are smaller, so
  // that all threads have the same number of groups.
  static std::size_t size_for(const Settings& settings, std::size_t count, std::size_t n_threads) {
    if (settings.degree > 1) return 1;
    const std::size_t rounds = (count + 4 * n_threads - 1) / (4 * n_threads);
    return (count + rounds * n_threads - 1) / (rounds * n_threads);
  }

  Group(const Design& design, const ManyOptions& options, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) fitters_.push_back(std::make_unique<Fitter>(design, options, size));
  }

  // Call done(i, fitter) for each of `count` responses from `first` on.
  template <class Done>
  void fit(Rows<const double> Y, std::size_t first, std::size_t count, Done&& done) {
    for (std::size_t i = 0; i < count; ++i) fitters_[i]->start(Y[first + i]);
    for (bool any = true; any;) {
      if (count > 1) prepare(count);
      any = false;
      for (std::size_t i = 0; i < count; ++i) {
        Pass& pass = fitters_[i]->pass();
        pass.run(count > 1 ? 1 : std::numeric_limits<std::size_t>::max());
        any |= pass.is_running();
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      fitters_[i]->finish();
      done(first + i, *fitters_[i]);
    }
  }

 private:
  void prepare(std::size_t count) {
    searches_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      Pass& pass = fitters_[i]->pass();
      if (pass.is_running() && !pass.is_exact() && pass.updating().wants_intercept(pass.queue()))
        searches_.push_back(&pass.updating());
    }
    if (searches_.size() > 1) Updating::prepare_intercepts(searches_, fitters_[0]->pass().terms());
  }

  std::vector<std::unique_ptr<Fitter>> fitters_;
  std::vector<Updating*> searches_;
};

// Lower bound of the time of a fit: a step visits all cases of all predictors, with some overhead for each predictor.
double least_seconds(const Design& design, const Settings& settings) {
  constexpr double kCase = 1e-10, kPredictor = 4e-8;
  const double steps = static_cast<double>(settings.nk / 2);
  return (kPredictor + kCase * static_cast<double>(design.n)) * static_cast<double>(design.p) * steps;
}

// Call done(i, fitter) for each row of Y, in any order and from any thread.
template <class Done>
void fit_each(const Design& design, const ManyOptions& options, Rows<const double> Y, Team& team, Done&& done) {
  std::vector<std::unique_ptr<Group>> groups(team.size());
  const std::size_t size = Group::size_for(options.settings, Y.rows, static_cast<std::size_t>(team.size()));
  const auto fit = [&](std::size_t i, int thread) {
    if (!groups[thread]) groups[thread] = std::make_unique<Group>(design, options, size);
    groups[thread]->fit(Y, i * size, std::min(size, Y.rows - i * size), done);
  };
  team.run((Y.rows + size - 1) / size, fit, least_seconds(design, options.settings) * static_cast<double>(Y.rows));
}

}  // namespace

double weighted_null_rss(Rows<const double> Y, const double* weights) {
  const double n = static_cast<double>(Y.width);
  double null = 0.0;
  for (std::size_t r = 0; r < Y.rows; ++r) {
    double total = 0.0, sum = 0.0;
    for (std::size_t i = 0; i < Y.width; ++i) {
      sum += weights[i] * Y[r][i];
      total += weights[i];
    }
    const double mean = sum / total;
    for (std::size_t i = 0; i < Y.width; ++i) null += weights[i] * ((Y[r][i] - mean) * (Y[r][i] - mean));
    null = larger(null, 1e-8 * n);  // a constant response
  }
  return null;
}

double scale_response(const double* y, std::size_t n, double* scaled) {
  Extended total = 0.0;
  for (std::size_t i = 0; i < n; ++i) total += y[i];
  const double mean = static_cast<double>(total / Extended(static_cast<double>(n)));
  total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    scaled[i] = y[i] - mean;
    total += scaled[i] * scaled[i];
  }
  const double spread = std::sqrt(static_cast<double>(total) / static_cast<double>(std::max<std::size_t>(1, n - 1)));
  if (spread == 0) {
    std::copy(y, y + n, scaled);
    return 0.0;
  }
  for (std::size_t i = 0; i < n; ++i) scaled[i] /= spread;
  return spread;
}

void fit_many(const Design& design, const ManyOptions& options, Rows<const double> Y, Rows<double> fitted,
              std::int64_t* n_terms, Team& team) {
  fit_each(design, options, Y, team, [&](std::size_t i, Fitter& fitter) {
    n_terms[i] =
        static_cast<std::int64_t>(options.pruned ? fitter.fit_pruned(fitted[i]) : fitter.fit_unpruned(fitted[i]));
  });
}

void fit_paths(const Design& design, const ManyOptions& options, Rows<const double> Y,
               const std::vector<std::size_t>& steps, Rows<double> fitted, std::int64_t* n_terms, Team& team) {
  const std::size_t count = steps.size();
  fit_each(design, options, Y, team, [&](std::size_t i, Fitter& fitter) {
    fitter.fit_path(steps, {fitted[i * count], count, fitted.width}, n_terms + i * count);
  });
}

void fit_sizes(const Design& design, const ManyOptions& options, Rows<const double> Y, Rows<const double> Z,
               Rows<double> rss, Rows<double> products, std::int64_t* n_terms, Team& team) {
  fit_each(design, options, Y, team, [&](std::size_t i, Fitter& fitter) {
    const bool directed = Z.rows > 0;
    const std::size_t size = fitter.fit_sizes(directed ? Z[i] : nullptr, rss[i], directed ? products[i] : nullptr);
    std::fill(rss[i] + size, rss[i] + rss.width, rss[i][size - 1]);
    if (directed) std::fill(products[i] + size, products[i] + products.width, products[i][size - 1]);
    n_terms[i] = static_cast<std::int64_t>(size);
  });
}

}  // namespace earthdof
