#include "../core/numbers.hpp"
#include "design.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace earthdof {

namespace {

constexpr std::size_t kFew = 512;  // cases up to which comparing is faster than counting digits
constexpr int kDigitBits = 11, kDigits = 6;
constexpr std::size_t kValues = std::size_t{1} << kDigitBits;

// A number as an integer of the same order; zeros of both signs are equal.
std::uint64_t key_of(double value) {
  value += 0.0;
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint64_t sign = std::uint64_t{1} << 63;
  return bits & sign ? ~bits : bits | sign;
}

struct Keyed {
  std::uint64_t key;
  std::uint32_t row;
};

// Sort by digits from the lowest up, which keeps the order of equal keys.
void sort_digits(std::vector<Keyed>& items) {
  std::vector<Keyed> other(items.size());
  std::vector<std::size_t> counts(kDigits * kValues, 0);
  for (const Keyed& item : items)
    for (int d = 0; d < kDigits; ++d) ++counts[d * kValues + (item.key >> (d * kDigitBits)) % kValues];
  for (int d = 0; d < kDigits; ++d) {
    std::size_t* count = counts.data() + d * kValues;
    if (*std::max_element(count, count + kValues) == items.size()) continue;  // the digit is always the same
    std::exclusive_scan(count, count + kValues, count, std::size_t{0});
    for (const Keyed& item : items) other[count[(item.key >> (d * kDigitBits)) % kValues]++] = item;
    items.swap(other);
  }
}

// Rows by ascending values, equal ones in their order.
void sort_rows(const double* values, std::size_t n, std::vector<Keyed>& items) {
  items.resize(n);
  for (std::size_t i = 0; i < n; ++i) items[i] = {key_of(values[i]), static_cast<std::uint32_t>(i)};
  if (n > kFew)
    sort_digits(items);
  else
    std::sort(items.begin(), items.end(),
              [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.row < b.row; });
}

}  // namespace

Design::Design(const double* X, std::size_t rows, std::size_t columns, std::size_t row_stride,
               std::size_t column_stride, Team& team)
    : n(rows), p(columns), x(p, n), order(p, n), sorted(p, n), mean_square(p) {
  team.run(p, [&](std::size_t j, int) {
    double* column = x[j];
    double square = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      column[i] = X[i * row_stride + j * column_stride];
      square += column[i] * column[i];
    }
    mean_square[j] = square / static_cast<double>(n);
    std::vector<Keyed> items;
    sort_rows(column, n, items);
    for (std::size_t place = 0; place < n; ++place) {
      const std::uint32_t row = items[n - 1 - place].row;
      order[j][place] = row;
      sorted[j][place] = column[row];
    }
  });
}

double Design::reach(std::size_t j) const { return larger(std::fabs(top(j)), std::fabs(low(j))); }

}  // namespace earthdof
