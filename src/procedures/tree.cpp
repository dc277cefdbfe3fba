#include "tree.hpp"

#include <limits>

#include "../core/numbers.hpp"

namespace earthdof {

void TreeNodes::clear() {
  feature.clear();
  left.clear();
  right.clear();
  threshold.clear();
}

void TreeNodes::add_leaf() {
  feature.push_back(-1);
  left.push_back(-1);
  right.push_back(-1);
  threshold.push_back(0.0);
}

void TreeGrower::grow(const double* y, std::size_t depth, TreeNodes& nodes, std::int64_t* node) {
  const std::size_t n = columns_.width;
  nodes.clear();
  nodes.add_leaf();
  std::fill(node, node + n, 0);
  std::size_t start = 0, end = 1;
  for (; depth > 0; --depth) {
    summarise(y, node, static_cast<std::int64_t>(start), end - start);
    // one pass over a sorted column scores the cuts of all nodes of the level
    for (std::size_t f = 0; f < columns_.rows; ++f) score(f, y, node, static_cast<std::int64_t>(start), nodes);
    for (std::size_t parent = start; parent < end; ++parent) {
      if (nodes.feature[parent] < 0) continue;
      nodes.left[parent] = static_cast<std::int64_t>(nodes.size());
      nodes.right[parent] = nodes.left[parent] + 1;
      nodes.add_leaf();
      nodes.add_leaf();
    }
    if (nodes.size() == end) return;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t at = node[i], f = nodes.feature[at];
      if (f >= 0) node[i] = columns_[f][i] <= nodes.threshold[at] ? nodes.left[at] : nodes.right[at];
    }
    start = end;
    end = nodes.size();
  }
}

// Size, mean, minimum and maximum of y in every node of the level.
void TreeGrower::summarise(const double* y, const std::int64_t* node, std::int64_t start, std::size_t width) {
  level_.assign(width, Split{});
  for (Split& split : level_) {
    split.low = std::numeric_limits<double>::infinity();
    split.high = -split.low;
  }
  for (std::size_t i = 0; i < columns_.width; ++i) {
    if (node[i] < start) continue;
    Split& split = level_[node[i] - start];
    ++split.size;
    split.mean += (y[i] - split.mean) / static_cast<double>(split.size);
    split.low = smaller(split.low, y[i]);
    split.high = larger(split.high, y[i]);
  }
}

// Score all cuts of one variable in all nodes of the level, and keep the best in place.
void TreeGrower::score(std::size_t feature, const double* y, const std::int64_t* node, std::int64_t start,
                       TreeNodes& nodes) {
  const double* x = columns_[feature];
  for (Split& split : level_) {
    split.seen = 0;
    split.total = 0.0;
  }
  for (std::size_t place = 0; place < columns_.width; ++place) {
    const std::int64_t i = order_[feature][place], at = node[i] - start;
    if (at < 0) continue;
    Split& split = level_[at];
    if (split.low == split.high) continue;
    if (split.seen > 0 && x[i] > split.last) {
      // With y centred in its node, a cut reduces the sum of squares by total^2 (1/n_left + 1/n_right); the size of the
      // node is a common factor.
      const double gain = split.total * split.total / static_cast<double>(split.seen * (split.size - split.seen));
      if (gain > split.best) {
        split.best = gain;
        nodes.feature[start + at] = static_cast<std::int64_t>(feature);
        const double middle = split.last / 2 + x[i] / 2;
        nodes.threshold[start + at] = middle < x[i] ? middle : split.last;
      }
    }
    ++split.seen;
    split.total += y[i] - split.mean;
    split.last = x[i];
  }
}

void leaf_means(const double* y, const std::int64_t* leaf, std::size_t n, std::vector<double>& mean) {
  std::vector<std::int64_t> count(mean.size(), 0);
  std::fill(mean.begin(), mean.end(), 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    ++count[leaf[i]];
    mean[leaf[i]] += (y[i] - mean[leaf[i]]) / static_cast<double>(count[leaf[i]]);
  }
}

void fit_trees(Rows<const double> columns, Rows<const std::int64_t> order, Rows<const double> responses,
               Rows<const double> unit_free, std::size_t depth, Rows<double> fitted, std::int64_t* leaves, Team& team) {
  team.run(responses.rows, [&](std::size_t j, int) {
    TreeGrower grower(columns, order);
    TreeNodes nodes;
    std::vector<std::int64_t> leaf(columns.width);
    grower.grow(unit_free[j], depth, nodes, leaf.data());
    std::vector<double> mean(nodes.size());
    leaf_means(responses[j], leaf.data(), leaf.size(), mean);
    for (std::size_t i = 0; i < leaf.size(); ++i) fitted[j][i] = mean[leaf[i]];
    leaves[j] = static_cast<std::int64_t>((nodes.size() + 1) / 2);
  });
}

}  // namespace earthdof
