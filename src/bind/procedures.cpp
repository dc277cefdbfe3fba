// The procedures for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "../procedures/banded.hpp"
#include "../procedures/lasso.hpp"
#include "../procedures/ordered.hpp"
#include "../procedures/smoothing.hpp"
#include "../procedures/subset.hpp"
#include "../procedures/tree.hpp"
#include "arrays.hpp"
#include "calls.hpp"

namespace earthdof {

namespace {

template <class T>
Rows<T> rows_of(Out<T>& array, std::size_t n_rows) {
  return {array.data(), n_rows, n_rows == 0 ? 0 : array.size() / n_rows};
}

void require_order(const In2<double>& columns, const In2<std::int64_t>& order) {
  require(columns.shape(0) == order.shape(0) && columns.shape(1) == order.shape(1), "each column should have an order");
  for (std::size_t i = 0; i < order.size(); ++i)
    require(order.data()[i] >= 0 && static_cast<std::size_t>(order.data()[i]) < columns.shape(1),
            "an order should hold numbers of cases");
}

void require_cases(bool hold) { require(hold, "the columns and the responses should have the same cases"); }

auto grow_tree(const In2<double>& columns, const In2<std::int64_t>& order, const In1<double>& y, std::size_t depth) {
  require_order(columns, order);
  require_cases(y.shape(0) == columns.shape(1));
  TreeNodes nodes;
  Out<std::int64_t> leaf = make_array<std::int64_t>({columns.shape(1)});
  TreeGrower(rows(columns), rows(order)).grow(y.data(), depth, nodes, leaf.data());
  const std::size_t size = nodes.size();
  return std::make_tuple(
      copied<std::int64_t>(nodes.feature.data(), {size}), copied<double>(nodes.threshold.data(), {size}),
      copied<std::int64_t>(nodes.left.data(), {size}), copied<std::int64_t>(nodes.right.data(), {size}), leaf);
}

auto means_of_leaves(const In1<double>& y, const In1<std::int64_t>& leaf, std::size_t n_nodes) {
  require_cases(y.shape(0) == leaf.shape(0));
  for (std::size_t i = 0; i < leaf.shape(0); ++i)
    require(leaf.data()[i] >= 0 && static_cast<std::size_t>(leaf.data()[i]) < n_nodes,
            "leaf should hold numbers of nodes");
  std::vector<double> mean(n_nodes);
  leaf_means(y.data(), leaf.data(), y.shape(0), mean);
  return copied<double>(mean.data(), {n_nodes});
}

auto trees(const In2<double>& columns, const In2<std::int64_t>& order, const In2<double>& responses,
           const In2<double>& unit_free, std::size_t depth, int n_threads) {
  const std::size_t m = responses.shape(0);
  require_order(columns, order);
  require_cases(responses.shape(1) == columns.shape(1) && unit_free.shape(0) == m &&
                unit_free.shape(1) == columns.shape(1));
  Out<double> fitted = make_array<double>({m, responses.shape(1)});
  Out<std::int64_t> leaves = make_array<std::int64_t>({m});
  in_threads(n_threads, [&](Team& team) {
    fit_trees(rows(columns), rows(order), rows(responses), rows(unit_free), depth, rows_of(fitted, m), leaves.data(),
              team);
    return 0;
  });
  return std::make_tuple(fitted, leaves);
}

auto lassos(const In2<double>& columns, const In2<double>& responses, const In2<double>& half, int n_threads) {
  const std::size_t m = responses.shape(0);
  require_cases(responses.shape(1) == columns.shape(1));
  require(half.shape(0) == m && half.shape(1) == columns.shape(0), "each coefficient should have a penalty");
  Out<double> solutions = make_array<double>({m, columns.shape(0)});
  const bool converged = in_threads(n_threads, [&](Team& team) {
    return solve_lassos(rows(columns), rows(responses), rows(half), rows_of(solutions, m), team);
  });
  return std::make_tuple(solutions, converged);
}

auto lasso_path(const In2<double>& columns, const In1<double>& z, const In2<double>& half) {
  const std::size_t steps = half.shape(0);
  require_cases(z.shape(0) == columns.shape(1));
  require(half.shape(1) == columns.shape(0), "each coefficient should have a penalty");
  Out<double> solutions = make_array<double>({steps, columns.shape(0)});
  const bool converged = in_threads(1, [&](Team& team) {
    return solve_lasso_path(rows(columns), z.data(), rows(half), rows_of(solutions, steps), team);
  });
  return std::make_tuple(solutions, converged);
}

// `best` is filled in place.
auto best_subsets(const In2<double>& R, const In2<double>& responses, const In1<double>& leftover, std::size_t smallest,
                  nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> best, int n_threads) {
  const std::size_t m = responses.shape(0), sizes = best.shape(1), p = R.shape(1);
  require(responses.shape(1) == R.shape(0) && leftover.shape(0) == m && best.shape(0) == m,
          "R, the responses, leftover and best should belong together");
  Out<bool> members = make_array<bool>({m, sizes, p});
  std::fill_n(members.data(), members.size(), false);
  in_threads(n_threads, [&](Team& team) {
    search_best_subsets(rows(R), rows(responses), leftover.data(), smallest, {best.data(), m, sizes}, members.data(),
                        team);
    return 0;
  });
  return members;
}

void require_band(const In2<double>& band, std::size_t n_rows) {
  require(band.shape(1) == 4 && band.shape(0) == n_rows,
          "a band should have four entries a row, and as many rows as what belongs to it");
}

void require_bands(const In2<double>& R0, const In2<double>& Z0, const In2<double>& penalty) {
  require(R0.shape(1) == 4 && penalty.shape(1) == 4 && R0.shape(0) == Z0.shape(0),
          "the triangle and the penalty should have four entries a row, the triangle as many rows as Z0");
}

auto ordered(const In2<double>& H, const In2<double>& gram, const In2<double>& B, int n_threads) {
  require_band(H, B.shape(1));
  require_band(gram, B.shape(1));
  require(B.shape(1) > 0, "there should be a coefficient");
  const std::size_t m = B.shape(0);
  Out<double> coef = make_array<double>({m, B.shape(1)}), trace = make_array<double>({m});
  Out<std::int64_t> n_unique = make_array<std::int64_t>({m});
  Out<bool> solved = make_array<bool>({m});
  std::vector<OrderedSolution> solutions;
  in_threads(n_threads, [&](Team& team) {
    solve_ordered(rows(H), rows(gram), rows(B), rows_of(coef, m), solutions, team);
    return 0;
  });
  for (std::size_t j = 0; j < m; ++j) {
    n_unique.data()[j] = solutions[j].n_unique;
    trace.data()[j] = solutions[j].trace;
    solved.data()[j] = solutions[j].solved;
  }
  return std::make_tuple(coef, n_unique, trace, solved);
}

auto reduced_data(const In1<std::int64_t>& start, const In2<double>& values, std::size_t n_columns,
                  const In2<double>& Y) {
  require_band(values, start.shape(0));
  require_cases(Y.shape(0) == start.shape(0));
  for (std::size_t i = 0; i < start.shape(0); ++i)
    require(start.data()[i] >= 0 && static_cast<std::size_t>(start.data()[i]) < n_columns,
            "each row should start at a column");
  Out<double> outside = make_array<double>({Y.shape(1)});
  const Triangle found = reduce_data(start.data(), rows(values), n_columns, rows(Y), outside.data());
  return std::make_tuple(copied(found.R), copied(found.Z), outside);
}

auto reduced_penalised(const In2<double>& R0, const In2<double>& Z0, const In2<double>& penalty, double lam) {
  require_bands(R0, Z0, penalty);
  const Triangle found = reduce_penalised(rows(R0), rows(Z0), rows(penalty), lam);
  return std::make_tuple(copied(found.R), copied(found.Z));
}

auto solved_triangle(const In2<double>& R, const In2<double>& Z) {
  require_band(R, Z.shape(0));
  return copied(back_substitute(rows(R), rows(Z)));
}

auto inverse_band(const In2<double>& R) {
  require_band(R, R.shape(0));
  return copied(band_inverse(rows(R)));
}

auto trace_of(const In2<double>& R0, const In2<double>& R) {
  require_band(R0, R.shape(0));
  require_band(R, R.shape(0));
  const Trace trace = trace_of_smoother(rows(R0), rows(R));
  return std::make_tuple(trace.value, trace.size);
}

auto smoothers(const In2<double>& R0, const In2<double>& Z0, const In2<double>& penalty, const In1<double>& lams,
               int n_threads) {
  require_bands(R0, Z0, penalty);
  require(lams.shape(0) == Z0.shape(1), "each response should have a lambda");
  Out<double> coef = make_array<double>({Z0.shape(0), Z0.shape(1)}), trace = make_array<double>({Z0.shape(1)});
  in_threads(n_threads, [&](Team& team) {
    solve_each({rows(R0), rows(Z0), rows(penalty)}, lams.data(), {coef.data(), Z0.shape(0), Z0.shape(1)}, trace.data(),
               team);
    return 0;
  });
  return std::make_tuple(coef, trace);
}

auto best_smoothing(const In2<double>& R0, const In2<double>& Z0, const In1<double>& outside,
                    const In2<double>& penalty, double n, const In1<double>& grid, int n_threads) {
  require_bands(R0, Z0, penalty);
  require(outside.shape(0) == Z0.shape(1), "outside should have an entry for each response");
  require(grid.shape(0) > 0, "the grid should not be empty");
  Out<double> best = make_array<double>({Z0.shape(1)});
  in_threads(n_threads, [&](Team& team) {
    minimise_gcv({rows(R0), rows(Z0), rows(penalty)}, outside.data(), n, grid.data(), grid.shape(0), best.data(), team);
    return 0;
  });
  return best;
}

auto spline_basis(const In1<double>& x, const In1<std::int64_t>& interval, const In1<double>& knots) {
  require(interval.shape(0) == x.shape(0), "each x should have an interval");
  for (std::size_t i = 0; i < interval.shape(0); ++i)
    require(interval.data()[i] >= 2 && interval.data()[i] < static_cast<std::int64_t>(knots.shape(0)) - 3,
            "an interval should have three knots on each side");
  Out<double> out = make_array<double>({x.shape(0), 4});
  nonzero_basis(x.data(), interval.data(), x.shape(0), knots.data(), {out.data(), x.shape(0), 4});
  return out;
}

}  // namespace

void bind_procedures(nb::module_& m) {
  using namespace nb::literals;
  m.def("grow_tree", &grow_tree, "columns"_a, "order"_a, "y"_a, "depth"_a);
  m.def("leaf_means", &means_of_leaves, "y"_a, "leaf"_a, "n_nodes"_a);
  m.def("fit_trees", &trees, "columns"_a, "order"_a, "responses"_a, "unit_free"_a, "depth"_a, "n_threads"_a = 1);
  m.def("solve_lassos", &lassos, "columns"_a, "responses"_a, "half"_a, "n_threads"_a = 1);
  m.def("solve_lasso_path", &lasso_path, "columns"_a, "z"_a, "half"_a);
  m.def("search_best_subsets", &best_subsets, "R"_a, "responses"_a, "leftover"_a, "smallest"_a, "best"_a,
        "n_threads"_a = 1);
  m.def("rank_of", [](const In2<double>& R) { return rank_of(rows(R)); }, "R"_a);
  m.def("solve_ordered", &ordered, "H"_a, "gram"_a, "B"_a, "n_threads"_a = 1);
  m.def("reduce_data", &reduced_data, "start"_a, "values"_a, "n_columns"_a, "Y"_a);
  m.def("reduce_penalised", &reduced_penalised, "R0"_a, "Z0"_a, "penalty"_a, "lam"_a);
  m.def("back_substitute", &solved_triangle, "R"_a, "Z"_a);
  m.def("band_inverse", &inverse_band, "R"_a);
  m.def("trace_of_smoother", &trace_of, "R0"_a, "R"_a);
  m.def("solve_smoothers", &smoothers, "R0"_a, "Z0"_a, "penalty"_a, "lams"_a, "n_threads"_a = 1);
  m.def("minimise_gcv", &best_smoothing, "R0"_a, "Z0"_a, "outside"_a, "penalty"_a, "n"_a, "grid"_a, "n_threads"_a = 1);
  m.def("nonzero_basis", &spline_basis, "x"_a, "interval"_a, "knots"_a);
}

}  // namespace earthdof
