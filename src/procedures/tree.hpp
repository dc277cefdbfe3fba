// Regression trees of a given depth: each split is the best one.
#pragma once

#include <cstdint>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/team.hpp"

namespace earthdof {

// Nodes of a tree, level by level; feature, left and right of a leaf are -1.
struct TreeNodes {
  std::vector<std::int64_t> feature, left, right;
  std::vector<double> threshold;

  std::size_t size() const { return feature.size(); }
  void clear();
  void add_leaf();
};

// Grows trees on one X, whose columns are stored as rows and sorted once.
class TreeGrower {
 public:
  // `order` contains the rows of each column by ascending values; equal values keep their order.
  TreeGrower(Rows<const double> columns, Rows<const std::int64_t> order) : columns_(columns), order_(order) {}

  // Grow a tree for y, centred and scaled so that squares do not overflow. node[i] becomes the leaf of row i.
  void grow(const double* y, std::size_t depth, TreeNodes& nodes, std::int64_t* node);

 private:
  // A node of the level that is being split.
  struct Split {
    std::int64_t size = 0, seen = 0;
    double mean = 0.0, low, high, total = 0.0, last = 0.0, best = -1.0;
  };

  void summarise(const double* y, const std::int64_t* node, std::int64_t start, std::size_t width);
  void score(std::size_t feature, const double* y, const std::int64_t* node, std::int64_t start, TreeNodes& nodes);

  Rows<const double> columns_;
  Rows<const std::int64_t> order_;
  std::vector<Split> level_;
};

// Running means of y in the leaves; the mean of equal values is exact.
void leaf_means(const double* y, const std::int64_t* leaf, std::size_t n, std::vector<double>& mean);

// Fitted values and numbers of leaves of each row of `responses`; `unit_free` are the same, centred and scaled.
void fit_trees(Rows<const double> columns, Rows<const std::int64_t> order, Rows<const double> responses,
               Rows<const double> unit_free, std::size_t depth, Rows<double> fitted, std::int64_t* leaves, Team& team);

}  // namespace earthdof
