// Candidate knots and their sums relative to a model.
//
// Let h_k be the parent times the hinge at candidate knot k of a (parent, predictor) pair, orthogonalised to the model.
// We store A_k = <h_k, y> for each response, B_k = |h_k|^2 and C_k = <h_k, h_min>, where h_min, the hinge at the
// smallest x, is the linear candidate. A new basis column q changes them by products of <h_k, q>, and one walk over the
// sorted cases yields all <h_k, q> of a pair.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../simd/loops.hpp"
#include "design.hpp"
#include "terms.hpp"

namespace earthdof {

// Knots of all pairs, contiguous; the last knot of a pair is h_min.
struct Knots {
  Buffer<std::int32_t> place;  // in the descending order
  // Number of cases of the parent above the knot, and the knot itself, if lists of cases are stored; otherwise both
  // follow from the place.
  Buffer<std::int32_t> stop;
  Buffer<double> x;
  Buffer<double> v, b, c;  // v: |h|^2 against the intercept-only model
  Table<double> a;         // one row per response

  Knots(std::size_t room, std::size_t n_resp, bool with_lists)
      : place(room),
        stop(with_lists ? room : 0),
        x(with_lists ? room : 0),
        v(room + kLine),  // a vector may begin at the last knot
        b(room + kLine),
        c(room + kLine),
        a(n_resp, room + kLine) {}
  std::size_t room() const { return place.size(); }
  Sums sums(std::size_t start) {
    return {v.data() + start, a.data() + start, b.data() + start, c.data() + start, a.rows(), a.width()};
  }
};

// Cases of pairs by descending x, contiguous: their x, and their rows in a table of products.
struct Cases {
  Buffer<double> x;
  Buffer<std::uint32_t> row;

  explicit Cases(std::size_t room) : x(room), row(room) {}
  std::size_t room() const { return x.size(); }
};

// Column of a parent. Cases in which it is zero, usually many, are omitted from all sums.
struct ParentColumn {
  static constexpr std::uint32_t kZero = 0xffffffff;

  const double* base = nullptr;
  bool weighted = false;
  bool is_positive = true;  // where it is not zero
  double intercept = 0.0;   // squared norm of the intercept's column
  double square = 0.0, largest = 0.0;
  std::vector<std::uint32_t> support;   // cases with non-zero values
  std::vector<std::uint32_t> position;  // of each case in `support`, or kZero
  std::vector<double> values;           // of the cases in `support`
  std::vector<double> products;         // with the intercept's column, if weighted

  ParentColumn(const double* base, std::size_t n);
  // With case weights, `roots` is the intercept's column.
  ParentColumn(const double* base, const double* roots, std::size_t n);
};

// Work space of one thread for creating a pair.
struct PairWork {
  std::vector<std::uint32_t> place;  // of each case in the descending order
  std::vector<double> x;             // used if the cases are not stored
  std::vector<std::uint32_t> row;

  // Allocated when the first pair is created.
  void make(std::size_t n) {
    place.resize(n);
    x.resize(n);
    row.resize(n);
  }
};

struct NewPair {
  std::size_t n_knots, n_cases;
  double noise;  // square of the `variance_noise` of its hinges; with weights, of the loss by centring
};

// Find the candidate knots of a pair and their sums of squares relative to the intercept-only model. They are written
// from `start` on and, if lists of cases are stored, the cases from `first` on, which needs one entry more than the
// number of cases. The case of the smallest x is omitted: no hinge is positive there.
NewPair create_pair(const Design& design, std::size_t pred, const ParentColumn& parent, const Spans& spans,
                    Knots& knots, std::size_t start, Cases* cases, std::size_t first, PairWork& work);

}  // namespace earthdof
