// The native engine of MARS for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "../mars/design.hpp"
#include "../mars/elementary.hpp"
#include "../mars/eliminate.hpp"
#include "../mars/evaluate.hpp"
#include "../mars/forward.hpp"
#include "../mars/many.hpp"
#include "../mars/noise.hpp"
#include "../mars/prune.hpp"
#include "../mars/regress.hpp"
#include "../mars/weighted.hpp"
#include "arrays.hpp"
#include "calls.hpp"

namespace earthdof {

namespace {

using Columns = std::vector<std::size_t>;

std::unique_ptr<Design> make_design(const Strided2& X, int n_threads) {
  return in_threads(n_threads, [&](Team& team) {
    return std::make_unique<Design>(X.data(), X.shape(0), X.shape(1), static_cast<std::size_t>(X.stride(0)),
                                    static_cast<std::size_t>(X.stride(1)), team);
  });
}

void require_rows(const Design& design, const In2<double>& y) {
  require(y.shape(1) == design.n, "the responses should have as many cases as the design");
}

void require_fit(const Design& design, const Settings& settings, const Columns& linpreds, const In2<double>& y) {
  require_rows(design, y);
  for (std::size_t j : linpreds) require(j < design.p, "linpreds should be columns of the design");
  const Roles& roles = settings.roles;
  for (const Columns* columns : {&roles.indicators, &roles.incomplete})
    for (std::size_t j : *columns) require(j < design.p, "roles should be of columns of the design");
  for (const auto& [j, k] : roles.apart)
    require(j < design.p && k < design.p, "roles should be of columns of the design");
}

void require_fit(const Design& design, const Settings& settings, const Columns& linpreds, const In2<double>& y,
                 const In1<double>& weights) {
  require_fit(design, settings, linpreds, y);
  require(weights.shape(0) == design.n, "there should be a weight for each case");
}

void require_cases(const In2<double>& columns, const In2<double>& y) {
  require(columns.shape(1) == y.shape(1), "the columns and the responses should have the same cases");
}

Out<double> reach(const Design& design) {
  Out<double> found = make_array<double>({design.p});
  for (std::size_t j = 0; j < design.p; ++j) found.data()[j] = design.reach(j);
  return found;
}

// Turn a table into an array without a copy.
Out<double> handed_over(Table<double>&& table) {
  auto* owned = new Table<double>(std::move(table));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Table<double>*>(p); });
  const std::size_t shape[2] = {owned->rows(), owned->width()};
  return Out<double>(owned->data(), 2, shape, owner);
}

// Result of a finished pass, without dependent columns.
struct Collected {
  Table<double> columns;
  const Pass& pass;

  nb::dict to_dict() {
    const Terms& terms = pass.terms();
    const std::size_t p = pass.design().p, m = columns.rows();
    Out<std::int64_t> dirs = make_array<std::int64_t>({m, p}), steps = make_array<std::int64_t>({m});
    Out<double> cuts = make_array<double>({m, p});
    for (std::size_t k = 0; k < m; ++k) {
      const std::size_t slot = pass.independent_slots()[k];
      std::copy_n(terms.dirs[slot], p, dirs.data() + k * p);
      std::copy_n(terms.cuts[slot], p, cuts.data() + k * p);
      steps.data()[k] = static_cast<std::int64_t>((slot + 1) / 2);
    }
    nb::dict found;
    found["dirs"] = dirs;
    found["cuts"] = cuts;
    found["columns"] = handed_over(std::move(columns));
    found["steps"] = steps;
    found["termcond"] = static_cast<int>(pass.condition());
    found["rss_null"] = pass.rss_null();
    found["rss_after"] = copied<double>(pass.rss_after().data(), {pass.rss_after().size()});
    found["terms_after"] = pass.terms_after();
    found["n_ties"] = pass.n_ties();
    return found;
  }
};

nb::dict forward_pass(const Design& design, const Settings& settings, const Columns& linpreds, const In2<double>& y,
                      bool exact, int n_threads) {
  require_fit(design, settings, linpreds, y);
  std::unique_ptr<ForwardPass> pass;
  Table<double> columns = in_threads(n_threads, [&](Team& team) {
    pass = std::make_unique<ForwardPass>(design, settings, linpreds, y.shape(0), team);
    pass->start(rows(y), exact);
    pass->run(static_cast<std::size_t>(-1));
    pass->release();
    return pass->independent_columns(team);
  });
  return Collected{std::move(columns), *pass}.to_dict();
}

nb::dict weighted_pass(const Design& design, const Settings& settings, const Columns& linpreds, const In2<double>& y,
                       const In1<double>& weights, double rss_null, bool exact, int n_threads) {
  require_fit(design, settings, linpreds, y, weights);
  std::unique_ptr<WeightedPass> pass;
  Table<double> columns = in_threads(n_threads, [&](Team& team) {
    pass = std::make_unique<WeightedPass>(design, settings, linpreds, y.shape(0), team);
    pass->start(rows(y), weights.data(), rss_null, exact);
    pass->run(static_cast<std::size_t>(-1));
    pass->release();
    return pass->independent_columns(team);
  });
  return Collected{std::move(columns), *pass}.to_dict();
}

// A pass that runs step by step in the calling thread: for `allowed` functions, and for tests.
class Steps {
 public:
  Steps(const Design& design, const Settings& settings, const Columns& linpreds, const In2<double>& y, bool exact)
      : team_(1, &signals_), y_(y.shape(0), y.shape(1)) {
    require_fit(design, settings, linpreds, y);
    keep(y);
    auto pass = std::make_unique<ForwardPass>(design, settings, linpreds, y.shape(0), team_);
    pass->start({y_.data(), y_.rows(), y_.width()}, exact);
    pass_ = std::move(pass);
  }
  Steps(const Design& design, const Settings& settings, const Columns& linpreds, const In2<double>& y,
        const In1<double>& weights, double rss_null, bool exact)
      : team_(1, &signals_), y_(y.shape(0), y.shape(1)), weights_(weights.data(), weights.data() + weights.size()) {
    require_fit(design, settings, linpreds, y, weights);
    keep(y);
    auto pass = std::make_unique<WeightedPass>(design, settings, linpreds, y.shape(0), team_);
    pass->start({y_.data(), y_.rows(), y_.width()}, weights_.data(), rss_null, exact);
    pass_ = std::move(pass);
  }

  bool is_running() const { return pass_->is_running(); }
  bool is_exact() const { return pass_->is_exact(); }
  std::size_t n_slots() const { return pass_->n_slots(); }
  double rss_null() const { return pass_->rss_null(); }

  void run(std::size_t most) {
    try {
      nb::gil_scoped_release release;
      pass_->run(most);
    } catch (const Interrupted&) {
      throw nb::python_error();
    }
  }

  // Parents of the next step in the order of the search, and the predictors that they use.
  std::vector<std::tuple<std::size_t, Out<std::int8_t>>> parents() const {
    std::vector<std::tuple<std::size_t, Out<std::int8_t>>> found;
    const Terms& terms = pass_->terms();
    for (std::size_t entry = 0; entry < pass_->queue().considered(pass_->settings()); ++entry) {
      const std::size_t slot = pass_->queue().ranked[entry];
      if (terms.degree[slot] < pass_->settings().degree)
        found.emplace_back(slot, copied<std::int8_t>(terms.dirs[slot], {terms.dirs.width()}));
    }
    return found;
  }
  // Set whether a predictor may extend a parent.
  void allow(std::size_t slot, std::size_t pred, bool answer) {
    require_pair(slot, pred);
    char& allowed = pass_->terms().allowed[slot][pred];
    if (allowed == static_cast<char>(answer)) return;
    allowed = static_cast<char>(answer);
    pass_->updating().forget_knots();
  }

  nb::dict collect() {
    Table<double> columns = pass_->independent_columns(team_);
    return Collected{std::move(columns), *pass_}.to_dict();
  }

  // (slot, predictor, gain, upper bound of the gain) of the pairs of the last step.
  std::vector<std::tuple<std::size_t, std::size_t, double, double>> gains() const {
    std::vector<std::tuple<std::size_t, std::size_t, double, double>> found;
    for (std::size_t slot = 0; slot < pass_->n_slots(); ++slot)
      for (std::size_t j = 0; j < pass_->design().p; ++j) {
        const Pair& pair = pass_->updating().pair(slot, j);
        if (pair.open) found.emplace_back(slot, j, pair.gain, pair.upper);
      }
    return found;
  }
  // Best gain of a pair in the next step, in earth's arithmetic.
  double exact_gain(std::size_t slot, std::size_t pred) {
    require_pair(slot, pred);
    return pass_->exact_gain(slot, pred);
  }

 private:
  void require_pair(std::size_t slot, std::size_t pred) const {
    require(slot < pass_->n_slots() && pred < pass_->design().p, "there is no such parent or predictor");
  }
  void keep(const In2<double>& y) { std::copy_n(y.data(), y.size(), y_.data()); }
  Signals signals_;
  Team team_;
  Table<double> y_;
  std::vector<double> weights_;
  std::unique_ptr<Pass> pass_;
};

const double* weights_of(const Design& design, const std::optional<In1<double>>& weights) {
  if (!weights) return nullptr;
  require(weights->shape(0) == design.n, "there should be a weight for each case");
  return weights->data();
}

double null_rss(const In2<double>& Y, const In1<double>& weights) {
  require(weights.shape(0) == Y.shape(1), "there should be a weight for each case");
  return weighted_null_rss(rows(Y), weights.data());
}

std::tuple<Out<double>, Out<std::int64_t>> many(const Design& design, const Settings& settings, const Columns& linpreds,
                                                const In2<double>& Y, bool scaled, bool pruned, std::size_t nprune,
                                                const std::optional<In1<double>>& weights, int n_threads) {
  require_fit(design, settings, linpreds, Y);
  const ManyOptions options{settings, linpreds, scaled, pruned, nprune, weights_of(design, weights)};
  Out<double> fitted = make_array<double>({Y.shape(0), Y.shape(1)});
  Out<std::int64_t> n_terms = make_array<std::int64_t>({Y.shape(0)});
  const Rows<double> out{fitted.data(), Y.shape(0), Y.shape(1)};
  in_threads(n_threads, [&](Team& team) {
    fit_many(design, options, rows(Y), out, n_terms.data(), team);
    return 0;
  });
  return {fitted, n_terms};
}

std::tuple<Out<double>, Out<std::int64_t>> paths(const Design& design, const Settings& settings,
                                                 const Columns& linpreds, const In2<double>& Y, bool scaled,
                                                 const Columns& steps, const std::optional<In1<double>>& weights,
                                                 int n_threads) {
  require_fit(design, settings, linpreds, Y);
  const ManyOptions options{
      settings, linpreds, scaled, false, static_cast<std::size_t>(-1), weights_of(design, weights)};
  Out<double> fitted = make_array<double>({Y.shape(0), steps.size(), Y.shape(1)});
  Out<std::int64_t> n_terms = make_array<std::int64_t>({Y.shape(0), steps.size()});
  const Rows<double> out{fitted.data(), Y.shape(0) * steps.size(), Y.shape(1)};
  in_threads(n_threads, [&](Team& team) {
    fit_paths(design, options, rows(Y), steps, out, n_terms.data(), team);
    return 0;
  });
  return {fitted, n_terms};
}

nb::dict sizes(const Design& design, const Settings& settings, const Columns& linpreds, const In2<double>& Y,
               const In2<double>& Z, bool scaled, const std::optional<In1<double>>& weights, int n_threads) {
  require_fit(design, settings, linpreds, Y);
  require(Z.shape(0) == 0 || (Z.shape(0) == Y.shape(0) && Z.shape(1) == design.n),
          "there should be a direction for each response");
  const ManyOptions options{
      settings, linpreds, scaled, true, static_cast<std::size_t>(-1), weights_of(design, weights)};
  const std::size_t width = std::max<std::size_t>(settings.nk, 1);
  Out<double> rss = make_array<double>({Y.shape(0), width}), products = make_array<double>({Z.shape(0), width});
  Out<std::int64_t> n_terms = make_array<std::int64_t>({Y.shape(0)});
  in_threads(n_threads, [&](Team& team) {
    fit_sizes(design, options, rows(Y), rows(Z), {rss.data(), Y.shape(0), width}, {products.data(), Z.shape(0), width},
              n_terms.data(), team);
    return 0;
  });
  nb::dict found;
  found["rss"] = rss;
  found["products"] = products;
  found["n_terms"] = n_terms;
  return found;
}

nb::dict subsets(const In2<double>& columns, const In1<double>& y, const std::string& method, std::size_t largest) {
  require(columns.shape(0) > 0 && columns.shape(1) == y.shape(0), "the columns and y should have the same cases");
  require(largest > 0 && largest <= columns.shape(0), "largest should be a number of columns");
  const PruneMethod how = method == "forward"      ? PruneMethod::kForward
                          : method == "seqrep"     ? PruneMethod::kReplace
                          : method == "exhaustive" ? PruneMethod::kExhaustive
                                                   : PruneMethod::kBackward;
  SubsetSearch search =
      in_threads(1, [&](Team& team) { return search_subsets(rows(columns), y.data(), how, largest, team); });
  nb::dict found;
  const std::size_t size = search.rss.size();
  found["rss"] = copied<double>(search.rss.data(), {size});
  found["best"] = copied<std::int64_t>(search.best.data(), {size, size});
  found["dependent"] = search.dependent;
  found["nearly_dependent"] = search.nearly_dependent;
  return found;
}

nb::dict regression(const In2<double>& columns, const In2<double>& y, double tolerance, bool leverages, int n_threads) {
  require_cases(columns, y);
  Regression fit;
  Buffer<double> hat;
  in_threads(n_threads, [&](Team& team) {
    fit = regress(rows(columns), rows(y), tolerance, team);
    if (leverages && fit.is_independent) hat = hat_values(fit.reflections, team);
    return 0;
  });
  nb::dict found;
  found["is_independent"] = fit.is_independent;
  found["coef"] = copied(fit.coef);
  found["residuals"] = copied(fit.residuals);
  found["rss"] = fit.rss;
  found["leverages"] =
      leverages && fit.is_independent ? nb::cast(copied<double>(hat.data(), {hat.size()})) : nb::none();
  return found;
}

nb::dict backward_elimination(const In2<double>& columns, const In2<double>& y, int n_threads) {
  require_cases(columns, y);
  Elimination found =
      in_threads(n_threads, [&](Team& team) { return eliminate_backward(rows(columns), rows(y), team); });
  nb::dict result;
  result["is_independent"] = found.is_independent;
  result["rss"] = copied<double>(found.rss.data(), {found.rss.size()});
  result["best"] = copied<std::int64_t>(found.best.data(), {found.best.rows(), found.best.width()});
  return result;
}

Out<double> terms_at(const Strided2& X, const In2<double>& dirs, const In2<double>& cuts) {
  require(dirs.shape(1) == X.shape(1) && cuts.shape(0) == dirs.shape(0) && cuts.shape(1) == dirs.shape(1),
          "dirs and cuts should have a row for each term and a column for each predictor");
  Out<double> found = make_array<double>({X.shape(0), dirs.shape(0)});
  const CaseTable cases{X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
  const Rows<double> out{found.data(), X.shape(0), dirs.shape(0)};
  nb::gil_scoped_release release;
  evaluate_terms(cases, rows(dirs), rows(cuts), out);
  return found;
}

Columns independent(const In2<double>& columns, double tolerance, int n_threads) {
  return in_threads(n_threads, [&](Team& team) { return find_independent(rows(columns), tolerance, team); });
}

std::tuple<Out<double>, Out<double>> scale_rows(const In2<double>& Y) {
  const std::size_t m = Y.shape(0), n = Y.shape(1);
  Out<double> scaled = make_array<double>({m, n}), divisor = make_array<double>({m});
  for (std::size_t i = 0; i < m; ++i) divisor.data()[i] = scale_response(Y.data() + i * n, n, scaled.data() + i * n);
  return {scaled, divisor};
}

Out<double> elementary(const std::string& name, const In1<double>& values) {
  const Elementary function = find_elementary(name);
  if (!function) throw nb::value_error("no elementary function of this name");
  Out<double> found = make_array<double>({values.shape(0)});
  for (std::size_t i = 0; i < values.shape(0); ++i) found.data()[i] = function(values.data()[i]);
  return found;
}

Out<double> powers(const In1<double>& values, const In1<double>& exponents) {
  require(values.shape(0) == exponents.shape(0), "there should be an exponent for each value");
  Out<double> found = make_array<double>({values.shape(0)});
  for (std::size_t i = 0; i < values.shape(0); ++i) found.data()[i] = power(values.data()[i], exponents.data()[i]);
  return found;
}

// Candidate knots of a pair and their sums, for tests.
nb::dict candidate_knots(const Design& design, const Settings& settings, const In1<double>& base, std::size_t pred) {
  require(base.shape(0) == design.n && pred < design.p, "base should have the cases of the design, pred be a column");
  const std::size_t n_positive = static_cast<std::size_t>(
      std::count_if(base.data(), base.data() + design.n, [](double value) { return value > 0; }));
  const Spans spans = span_limits(design.n, design.p, n_positive, 1, settings);
  Knots knots(design.n + 1, 1, true);
  Cases cases(design.n + 1);
  PairWork work;
  work.make(design.n);
  const NewPair pair = create_pair(design, pred, {base.data(), design.n}, spans, knots, 0, &cases, 0, work);
  const std::size_t size = pair.n_knots + 1;
  nb::dict found;
  found["spans"] = nb::make_tuple(spans.start, spans.minimum, spans.end);
  found["order"] = copied<std::uint32_t>(design.order[pred], {design.n});
  found["place"] = copied<std::int32_t>(knots.place.data(), {size});
  found["stop"] = copied<std::int32_t>(knots.stop.data(), {size});
  found["x"] = copied<double>(knots.x.data(), {size});
  found["v"] = copied<double>(knots.v.data(), {size});
  found["b"] = copied<double>(knots.b.data(), {size});
  found["c"] = copied<double>(knots.c.data(), {size});
  found["cases"] = copied<double>(cases.x.data(), {pair.n_cases});
  return found;
}

}  // namespace

void bind_mars(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Roles>(m, "Roles", "Predictors with missing values and their indicators; pairs that no term has.")
      .def(nb::init<Columns, Columns, std::vector<std::pair<std::size_t, std::size_t>>>(), nb::kw_only(),
           "indicators"_a, "incomplete"_a, "apart"_a);
  nb::class_<Settings>(m, "Settings", "Options of the forward pass, all resolved to numbers.")
      .def(nb::init<int, std::size_t, double, double, int, int, double, std::size_t, double, double, bool, std::size_t,
                    std::size_t, Roles, bool>(),
           nb::kw_only(), "degree"_a, "nk"_a, "penalty"_a, "thresh"_a, "minspan"_a, "endspan"_a, "newvar_penalty"_a,
           "fast_k"_a, "fast_beta"_a, "adjust_endspan"_a, "auto_linpreds"_a, "most_knots"_a = kMostKnots,
           "most_cases"_a = kMostCases, "roles"_a = Roles(), "as_earth"_a = true)
      .def_ro("degree", &Settings::degree)
      .def_ro("nk", &Settings::nk)
      .def_ro("penalty", &Settings::penalty)
      .def_ro("thresh", &Settings::thresh)
      .def_ro("newvar_penalty", &Settings::newvar_penalty);
  nb::class_<Design>(m, "Design", "What depends on X alone: its columns, sorted.")
      .def(nb::new_(&make_design), "X"_a, "n_threads"_a = 1)
      .def("reach", &reach, "The largest absolute value of each column.");
  nb::class_<Steps>(m, "Steps", "A forward pass that is taken step by step.")
      .def(nb::init<const Design&, const Settings&, const Columns&, const In2<double>&, bool>(), "design"_a,
           "settings"_a, "linpreds"_a, "y"_a, "exact"_a, nb::keep_alive<1, 2>())
      .def(nb::init<const Design&, const Settings&, const Columns&, const In2<double>&, const In1<double>&, double,
                    bool>(),
           "design"_a, "settings"_a, "linpreds"_a, "y"_a, "weights"_a, "rss_null"_a, "exact"_a, nb::keep_alive<1, 2>())
      .def_prop_ro("is_running", &Steps::is_running)
      .def_prop_ro("is_exact", &Steps::is_exact)
      .def_prop_ro("n_slots", &Steps::n_slots)
      .def_prop_ro("rss_null", &Steps::rss_null)
      .def("run", &Steps::run, "most"_a)
      .def("parents", &Steps::parents)
      .def("allow", &Steps::allow, "slot"_a, "pred"_a, "answer"_a)
      .def("collect", &Steps::collect)
      .def("gains", &Steps::gains)
      .def("exact_gain", &Steps::exact_gain, "slot"_a, "pred"_a);
  m.def("forward_pass", &forward_pass, "design"_a, "settings"_a, "linpreds"_a, "y"_a, "exact"_a = false,
        "n_threads"_a = 1);
  m.def("weighted_pass", &weighted_pass, "design"_a, "settings"_a, "linpreds"_a, "y"_a, "weights"_a, "rss_null"_a,
        "exact"_a = false, "n_threads"_a = 1);
  m.def("fit_many", &many, "design"_a, "settings"_a, "linpreds"_a, "Y"_a, "scaled"_a, "pruned"_a, "nprune"_a,
        "weights"_a = nb::none(), "n_threads"_a = 1);
  m.def("fit_paths", &paths, "design"_a, "settings"_a, "linpreds"_a, "Y"_a, "scaled"_a, "steps"_a,
        "weights"_a = nb::none(), "n_threads"_a = 1);
  m.def("fit_sizes", &sizes, "design"_a, "settings"_a, "linpreds"_a, "Y"_a, "Z"_a, "scaled"_a, "weights"_a = nb::none(),
        "n_threads"_a = 1);
  m.def("weighted_null_rss", &null_rss, "Y"_a, "weights"_a);
  m.def("search_subsets", &subsets, "columns"_a, "y"_a, "method"_a, "largest"_a);
  m.def("regress", &regression, "columns"_a, "y"_a, "tolerance"_a = kLmTolerance, "leverages"_a = false,
        "n_threads"_a = 1);
  m.def("eliminate_backward", &backward_elimination, "columns"_a, "y"_a, "n_threads"_a = 1);
  m.def("evaluate_terms", &terms_at, "X"_a, "dirs"_a, "cuts"_a);
  m.def("find_independent", &independent, "columns"_a, "tolerance"_a = kRankTolerance, "n_threads"_a = 1);
  m.def("candidate_knots", &candidate_knots, "design"_a, "settings"_a, "base"_a, "pred"_a);
  m.def("tie_band", &tie_band, "gain"_a, "rss_null"_a);
  m.def("elementary", &elementary, "name"_a, "values"_a);
  m.def("power", &powers, "values"_a, "exponents"_a);
  m.def("scale_rows", &scale_rows, "Y"_a);
}

}  // namespace earthdof
