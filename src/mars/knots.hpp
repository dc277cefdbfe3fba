// Candidate knots, and their sums against a model.
//
// For every (parent, predictor) pair and candidate knot k, with h_k the parent times the hinge at that knot and the
// sums taken after orthogonalising to the model, we keep A_k = <h_k, y> of each response, B_k = |h_k|^2 and C_k = <h_k,
// h_min>, where h_min, the hinge at the smallest x, is the linear candidate. A new basis column q changes them by
// products of <h_k, q>, and one walk over the sorted cases gives all <h_k, q> of a pair.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../simd/loops.hpp"
#include "design.hpp"
#include "terms.hpp"

namespace earthdof {

// Of all pairs, end to end; the last of a pair stands for h_min.
struct Knots {
  Buffer<std::int32_t> place;  // in the descending order
  // How many of the parent's cases lie above, and the knot itself, where lists of cases are kept. Without them a knot's
  // place says both.
  Buffer<std::int32_t> stop;
  Buffer<double> x;
  Buffer<double> v, b, c;  // v: |h|^2 against the intercept-only model
  Table<double> a;         // a row a response

  Knots(std::size_t room, std::size_t n_resp, bool with_lists)
      : place(room),
        stop(with_lists ? room : 0),
        x(with_lists ? room : 0),
        v(room),
        b(room),
        c(room),
        a(n_resp, room) {}
  std::size_t room() const { return place.size(); }
  Sums sums(std::size_t start) {
    return {v.data() + start, a.data() + start, b.data() + start, c.data() + start, a.rows(), a.width()};
  }
};

// The cases of pairs by descending x, end to end: their x, and their rows in a table of products.
struct Cases {
  Buffer<double> x;
  Buffer<std::uint32_t> row;

  explicit Cases(std::size_t room) : x(room), row(room) {}
  std::size_t room() const { return x.size(); }
};

// A parent's column. Most are zero in many cases: those are left out of every sum.
struct ParentColumn {
  static constexpr std::uint32_t kZero = 0xffffffff;

  const double* base = nullptr;
  bool weighted = false;
  double intercept = 0.0;  // square of the intercept's column
  double square = 0.0, largest = 0.0;
  std::vector<std::uint32_t> support;   // cases in which it is not zero
  std::vector<std::uint32_t> position;  // of each case in `support`, kZero where there is none
  std::vector<double> values;           // of the cases in `support`
  std::vector<double> products;         // with the intercept's column, where there are weights

  ParentColumn(const double* base, std::size_t n);
  // With case weights, whose roots are the intercept's column.
  ParentColumn(const double* base, const double* roots, std::size_t n);
};

// What one thread writes to while it makes a pair.
struct PairWork {
  std::vector<std::uint32_t> place;  // of each case in the descending order
  std::vector<double> x;             // used where the cases are not kept
  std::vector<std::uint32_t> row;

  // Nothing is written to where no pair is made.
  void make(std::size_t n) {
    place.resize(n);
    x.resize(n);
    row.resize(n);
  }
};

struct NewPair {
  std::size_t n_knots, n_cases;
  double noise;  // square of the `variance_noise` of its hinges; with weights, of what centring loses
};

// Find the candidate knots of a pair and their sums of squares against the intercept-only model. They are written
// from `start` on, and the cases from `first` on where lists of them are kept, which takes one entry more than there
// are cases. The case of the smallest x is left out: no hinge is positive there.
NewPair create_pair(const Design& design, std::size_t pred, const ParentColumn& parent, const Spans& spans,
                    Knots& knots, std::size_t start, Cases* cases, std::size_t first, PairWork& work);

}  // namespace earthdof
