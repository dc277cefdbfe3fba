// Pruning pass: search for subsets of the basis columns on a triangular reduction.
//
// The columns are reduced once to bx = Q D^(1/2) U with a unit upper triangle U (Gentleman's rotations without square
// roots, as in Miller's algorithm AS 274). The RSS of the first k columns is the error sum of squares plus d t^2 of the
// rows beyond k. Moving a column to another place is a sequence of rotations of neighbours and costs O(terms^2) for any
// number of cases. The best subset found for each size is stored in the order of its columns at that time: earth
// reports its terms in this order.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

class Reduction {
 public:
  // `largest` is the maximum size of the subsets.
  Reduction(std::size_t m, std::size_t largest);

  // Reduce all cases in order, as earth does. `columns` has one row per column. Returns the columns that depend on
  // earlier ones, by the rule of AS 274.
  std::vector<std::size_t> reduce_cases(Rows<const double> columns, const double* y, Team& team);
  // The same reduction from an orthonormal factor: row k of r contains the coefficients of column k, and z is Q'y.
  void reduce_factor(const Table<double>& r, const std::vector<double>& z, double error);

  void backward();    // successively drop the column that increases the RSS least
  void forward();     // successively add the column that reduces the RSS most
  void replace();     // sequential replacement: for each size, exchange columns while this reduces the RSS
  void exhaustive();  // leaps and bounds over all subsets

  std::size_t size() const { return d_.size(); }
  const std::vector<double>& best_rss() const { return best_rss_; }
  // Columns of the best subset of size k + 1.
  const std::size_t* best(std::size_t k) const { return best_[k]; }
  // True if a column is so nearly dependent that earth rejects the exhaustive search. earth compares a square with a
  // length, so the units of X matter.
  bool is_nearly_dependent() const;

 private:
  struct Addition {
    std::ptrdiff_t where;
    double drop;
  };

  // A case during its reduction.
  struct Case {
    double weight;
    double* row;
    double value;
  };

  void rotate(std::size_t k, Case& rest);
  // Rotate one case into the rows from `first` on; returns its contribution to the error sum of squares.
  double include(std::size_t first, double weight, double* row, double value);
  void sum_squares(double error);
  std::vector<std::size_t> start(double error);
  void swap_neighbours(std::size_t i);
  void move(std::size_t source, std::size_t target);
  void record(std::size_t size, double rss);
  void record_addition(std::size_t place, const Addition& addition);
  std::ptrdiff_t cheapest_drop(std::size_t last);
  Addition best_addition(std::size_t first, std::size_t last);

  std::vector<double> d_;    // squared row scales
  Table<double> u_;          // unit upper triangle
  std::vector<double> t_;    // projected response divided by the row scale
  std::vector<double> rss_;  // of the first k + 1 columns
  std::vector<std::size_t> order_;
  std::vector<double> small_;  // size below which an entry of a column is zero
  std::vector<double> best_rss_;
  Table<std::size_t> best_;
  std::vector<double> work_, product_;
};

enum class PruneMethod { kBackward, kForward, kReplace, kExhaustive };

struct SubsetSearch {
  std::vector<double> rss;             // of the best subset of each size
  Table<std::size_t> best;             // its columns, one row per size
  std::vector<std::size_t> dependent;  // dependent columns, which are in no subset
  bool nearly_dependent = false;       // the exhaustive search was rejected
};

// Search the subsets of the rows of `columns` up to a maximum size. Dependent columns are moved last; earth's leaps
// then numbers the columns by their new places.
SubsetSearch search_subsets(Rows<const double> columns, const double* y, PruneMethod method, std::size_t largest,
                            Team& team);

}  // namespace earthdof
