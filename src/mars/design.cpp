#include "../core/numbers.hpp"
#include "design.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "../simd/loops.hpp"

namespace earthdof {

namespace {

constexpr std::size_t kFew = 40;    // cases up to which comparison sort is faster than radix sort
constexpr std::size_t kRows = 256;  // rows of X read at a time
constexpr std::size_t kRun = 32;    // run of equal high words up to which comparison sort is faster
constexpr int kDigitBits = 8, kDigits = 4;
constexpr std::size_t kValues = std::size_t{1} << kDigitBits;

// Map a number to an integer of the same order; zeros of both signs are equal.
std::uint64_t key_of(double value) {
  value += 0.0;
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint64_t sign = std::uint64_t{1} << 63;
  return bits & sign ? ~bits : bits | sign;
}

// High half of a key in the high word, and the case in the low word.
using Item = std::uint64_t;
using Items = Buffer<Item>;

std::uint32_t row_of(Item item) { return static_cast<std::uint32_t>(item); }
Item high_item(const double* values, std::uint32_t row) { return (key_of(values[row]) >> 32 << 32) | row; }
Item low_item(const double* values, std::uint32_t row) { return (key_of(values[row]) << 32) | row; }

// Stable radix sort by the high word, from the lowest digit up.
void sort_words(Items& items, Items& other) {
  std::uint32_t counts[kDigits * kValues] = {};
  const auto digit = [](Item item, int d) { return (item >> (32 + d * kDigitBits)) % kValues; };
  for (const Item item : items)
    for (int d = 0; d < kDigits; ++d) ++counts[d * kValues + digit(item, d)];
  for (int d = 0; d < kDigits; ++d) {
    std::uint32_t* count = counts + d * kValues;
    if (count[digit(items[0], d)] == items.size()) continue;  // all digits are equal
    std::exclusive_scan(count, count + kValues, count, std::uint32_t{0});
    for (const Item item : items) other[count[digit(item, d)]++] = item;
    std::swap(items, other);
  }
}

// Sort runs of equal high words, up to length kRun. False if a longer run is not sorted.
bool settle(const double* values, Items& items) {
  const auto is_less = [values](Item a, Item b) {
    const Item low_a = low_item(values, row_of(a)), low_b = low_item(values, row_of(b));
    return low_a < low_b;
  };
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    for (end = begin + 1; end < items.size() && items[end] >> 32 == items[begin] >> 32;) ++end;
    Item *first = items.begin() + begin, *last = items.begin() + end;
    if (end - begin == 1 || std::is_sorted(first, last, is_less)) continue;
    if (end - begin > kRun) return false;
    std::sort(first, last, is_less);
  }
  return true;
}

// Stable order of the rows by ascending values. Most values differ in the high words of their keys.
void sort_rows(const double* values, std::size_t n, Items& items, Items& other) {
  for (std::size_t i = 0; i < n; ++i) items[i] = high_item(values, static_cast<std::uint32_t>(i));
  if (n <= kFew)
    std::sort(items.begin(), items.end());
  else
    sort_words(items, other);
  if (settle(values, items)) return;
  for (std::size_t i = 0; i < n; ++i) items[i] = low_item(values, static_cast<std::uint32_t>(i));
  sort_words(items, other);
  for (Item& item : items) item = high_item(values, row_of(item));
  sort_words(items, other);
}

struct SortWork {
  Buffer<double> column;
  Items items, other;

  explicit SortWork(std::size_t n) : column(n), items(n), other(n) {}
};

}  // namespace

Design::Design(const double* X, std::size_t rows, std::size_t columns, std::size_t row_stride,
               std::size_t column_stride, Team& team)
    : n(rows), p(columns), order(p, n), sorted(p, n), mean_square(p) {
  // blocks of rows: if rows of X are contiguous, reading a whole column would use one cache line per number
  team.run((n + kRows - 1) / kRows, [&](std::size_t block, int) {
    const std::size_t end = std::min(n, (block + 1) * kRows);
    for (std::size_t j = 0; j < p; ++j)
      for (std::size_t i = block * kRows; i < end; ++i) sorted[j][i] = X[i * row_stride + j * column_stride];
  });
  std::vector<SortWork> works;
  for (int thread = 0; thread < team.size(); ++thread) works.emplace_back(n);
  team.run(p, [&](std::size_t j, int thread) {
    SortWork& work = works[static_cast<std::size_t>(thread)];
    std::copy_n(sorted[j], n, work.column.data());
    mean_square[j] = loops().dot(sorted[j], sorted[j], n) / static_cast<double>(n);
    sort_rows(work.column.data(), n, work.items, work.other);
    for (std::size_t place = 0; place < n; ++place) {
      const std::uint32_t row = row_of(work.items[n - 1 - place]);
      order[j][place] = row;
      sorted[j][place] = work.column[row];
    }
  });
}

double Design::reach(std::size_t j) const { return larger(std::fabs(top(j)), std::fabs(low(j))); }

}  // namespace earthdof
