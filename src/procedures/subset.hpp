// Best subsets: for every size, the columns with the smallest residual sum of squares, by depth-first search.
//
// A node contains a triangle of its columns, and each child omits one of them. The residual sum of squares of a set is
// a lower bound for all its subsets.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// [R z] of the columns of one node and their names; the last column is z.
class SubsetNode {
 public:
  SubsetNode(std::size_t r, std::size_t p) : w_(r, p + 1, 0.0), names_(p) {}

  // Fill with R and z, whose rows are `r` long each.
  void set(Rows<const double> R, const double* z);
  // Householder reflections on rows and columns k to c; dependent columns go last. Returns the rank.
  std::size_t triangularise(std::size_t k, std::size_t c);
  // Order the columns k to c by the cost of dropping them, so that the largest subtrees have the best bounds.
  void put_strong_first(std::size_t k, std::size_t c, double* loss);
  // Become the child of a node with c columns that leaves out column j; returns its rank.
  std::size_t drop(const SubsetNode& parent, std::size_t c, std::size_t rank, std::size_t j);
  // Record each leading subset that is the best of its size so far; returns the RSS of the whole set.
  double record(std::size_t k, std::size_t rank, double leftover, std::size_t smallest, std::size_t largest,
                double* best, bool* members) const;

 private:
  void swap(std::size_t top, std::size_t a, std::size_t b);
  void losses(std::size_t k, std::size_t c, double* loss) const;

  Table<double> w_;
  std::vector<std::size_t> names_;
};

// Fill best[m][size] and members[m][size][p] for every row m of `responses`. Sizes between 0 and `smallest` are
// unchanged.
void search_best_subsets(Rows<const double> R, Rows<const double> responses, const double* leftover,
                         std::size_t smallest, Rows<double> best, bool* members, Team& team);

// Rank of the columns of R.
std::size_t rank_of(Rows<const double> R);

}  // namespace earthdof
