// Loops with vector instructions, compiled once for each instruction set.
//
// Sums whose order does not matter are split into kParts partial sums, which are added in a fixed order, and products
// are never fused with sums. All versions of a loop therefore give the same bits, whatever the width of their vectors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace earthdof {

// Cases of a (parent, predictor) pair by descending x, and the knots between them.
struct Walk {
  const double* x;           // of each case
  const std::uint32_t* row;  // of each case: row in the products
  const std::int32_t* stop;  // of each knot: number of cases above it
  const double* knot;        // of each knot: x; nullptr if it is the x of the next case
  std::size_t count;         // number of knots
};

// Numbers in a cache line. Rows of numbers of knots have room for whole lines, so that the loops need no remainder.
constexpr std::size_t kLine = 8;

inline std::size_t whole_lines(std::size_t count) { return (count + kLine - 1) / kLine * kLine; }

// Sums of the knots of a pair relative to a model, see mars/knots.hpp.
struct Sums {
  double *v, *a, *b, *c;
  std::size_t responses, stride;  // A of response r begins at a + r * stride
};

// Quantities by which the best knot of a pair is found.
struct Query {
  const double* slope;  // A/B of the linear candidate for each response, 0 without one
  double inverse;       // 1/B of the linear candidate, 0 without one
  double low, high;     // shares of |h|^2 below which a knot is rejected, and above which it is accepted
  double ceiling;       // larger gains are ignored
  double slack;         // error bound of the ceiling
  double noise, rss_null;
};

constexpr std::size_t kExactColumns = 8;
constexpr std::size_t kChunk = 8;  // columns processed simultaneously in a QR

struct Bounds {
  double sure, most;
};

struct Loops {
  const char* name;

  // <u, v>
  double (*dot)(const double* u, const double* v, std::size_t n);
  // column -= factor q; returns <next, column> with the new column
  double (*take_out)(double* column, double factor, const double* q, const double* next, std::size_t n);
  // column -= factor q; returns |column|^2
  double (*take_out_last)(double* column, double factor, const double* q, std::size_t n);
  // out += factor v
  void (*add_scaled)(double* out, double factor, const double* v, std::size_t n);

  // <h_k, column> of every knot k, for 1, 2, 4 or 8 columns simultaneously. `products` has a row per case, `hinge` a
  // row of whole lines per column.
  void (*walk1)(const Walk&, const double* products, double* hinge);
  void (*walk2)(const Walk&, const double* products, double* hinge);
  void (*walk4)(const Walk&, const double* products, double* hinge);
  void (*walk8)(const Walk&, const double* products, double* hinge);

  // Update the sums of all knots by columns with known <h_k, q> (a row of whole lines per column), <y, q> (`stride`
  // apart for the responses), and |q|^2, 0 or 1.
  void (*update)(const Sums&, const double* hinge, std::size_t count, std::size_t columns, const double* z,
                 std::size_t stride, const double* weight);
  // Largest gain below the ceiling that a knot adds to the gain of the linear candidate.
  double (*best_gain)(const Sums&, std::size_t count, const Query&);
  // Largest gain that a knot certainly adds, and the largest that one may add.
  Bounds (*bound_gain)(const Sums&, std::size_t count, const Query&);
  // The same if no knot is rejected: a knot whose share is not above `high` has only an upper bound, at a share of at
  // least `low`.
  Bounds (*bound_any_gain)(const Sums&, std::size_t count, const Query&);

  // out = base max(sign (x - cut), 0); it may be x
  void (*hinge)(const double* base, const double* x, double cut, double sign, double* out, std::size_t n);

  // Cases of earth's own walk, for kExactColumns columns simultaneously: slope += b row; covariance += step slope.
  // `row` is the row of each case; rows are `stride` numbers apart.
  void (*exact_cases)(double* slope, double* covariance, const double* rows, const std::uint32_t* row,
                      std::size_t stride, const double* b, const double* step, std::size_t count);
  // upper' = cosine upper + sine lower; lower' = lower - x upper: one rotation of a row.
  void (*rotate)(double* upper, double* lower, double x, double cosine, double sine, std::size_t n);
  // sums += element row, for each of n rows of `width` numbers, `stride` apart
  void (*lane_sums)(const double* element, const double* rows, std::size_t n, std::size_t stride, std::size_t width,
                    double* sums);
  // The same for n contiguous rows of kChunk numbers, combined with the step before or after.
  // rows += last sums; next sums += element rows
  void (*chunk_add_sums)(const double* last, const double* element, double* rows, std::size_t n, const double* sums,
                         double* next_sums);
  // rows += last sums; returns the sum of squares of one column
  double (*chunk_add_square)(const double* last, double* rows, std::size_t n, const double* sums, std::size_t column);
  // element = scale column; sums += element rows
  void (*chunk_scale_sums)(double* element, double scale, std::size_t column, const double* rows, std::size_t n,
                           double* sums);
  // ratio = q numerator(r) / denominator(r), of polynomials of degree 7, from the highest power down
  void (*ratios)(const double* q, const double* r, double* ratio, std::size_t n, const double* numerator,
                 const double* denominator);
  // rows += element sums
  void (*lane_add)(const double* element, double* rows, std::size_t n, std::size_t stride, std::size_t width,
                   const double* sums);
};

// The version for this processor, unless another one was chosen.
const Loops& loops();

// Choose a version by name ("sse2", "avx2", "avx512", "neon", "plain"); false if this processor or build lacks it.
bool choose_loops(const char* name);

// Choose the version named by PYEARTHDOF_INSTRUCTIONS, if set; throws std::invalid_argument for an unknown one.
void choose_wanted_loops();

}  // namespace earthdof
