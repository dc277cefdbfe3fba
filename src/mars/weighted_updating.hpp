// Knot search by updating, with case weights.
//
// The intercept's column and all columns of terms are multiplied by the roots of the weights. The sums are those of the
// unweighted search, but earth's rules for selecting a candidate differ. Every column in the table of terms is in the
// model, even the second hinge of a step that added only one term, and there is no minimum share: a candidate is valid
// unless R's regression drops it as dependent.
#pragma once

#include <limits>

#include "updating.hpp"

namespace earthdof {

class WeightedUpdating final : public Updating {
 public:
  using Updating::Updating;

  // Start with weighted responses, as rows; the intercept's column is not copied.
  void start(Rows<const double> y, const double* roots);
  // Append the columns of a step, both of which may be new forms, to the basis. False if rounding decides whether a
  // column depends on earlier ones.
  bool append(const Terms& terms, std::size_t slot, bool new_form);
  // True if no column of a term depends on earlier columns of the model.
  bool is_regular() const { return is_regular_; }
  // RSS of the basis.
  double rss() const { return rss_; }
  // Reduction from the RSS of the terms, due to the second hinge of a last step that added one term.
  double gap() const { return gap_; }
  // Bounds of the square of the last second hinge that is left by the terms and a column of ones.
  struct Left {
    double least = 0.0, most = std::numeric_limits<double>::infinity();
  };
  const Left& left_of_second() const { return left_of_second_; }
  // Set if that hinge is a term, and the share of its square that is left.
  void take_second(bool adds, double share);

 private:
  void score_pair(const Terms& terms, std::size_t slot, std::size_t pred, const Step& step, int thread) override;
  Winner clear_winner(const Terms& terms, const Top& top, const Step& step, double bar) override;
  bool is_strict() const override { return settings_.as_earth; }
  double least_lead() const override { return 2 * kAlmostZero; }
  // The gains of parents without improvement are rounding in earth.
  bool is_unsure_order(double best, double spread) const override {
    return is_strict() && settings_.fast_k < settings_.nk && best >= 0 && spread + least_lead() >= kUnsure * best;
  }
  ParentColumn parent_column(const Terms& terms, std::size_t slot) const override {
    return {terms.bx[slot], roots_, design_.n};
  }
  Linear linear_state(const Terms& terms, std::size_t slot, std::size_t pred, bool new_form, int thread);
  bool is_known() const;
  bool has_sure_norm(const double* coefficients, std::size_t size, double left) const;
  bool has_sure_line(const Terms& terms, std::size_t slot, std::size_t pred, int thread);
  double pair_noise(std::size_t slot, std::size_t pred, bool linear) const;
  Query query_of(const Line& line, double noise, const double* slope, double rss_null) const;

  static constexpr double kUnsure = 1e-3;  // share of a gain that is in doubt

  const double* roots_ = nullptr;
  double rss_ = 0.0, gap_ = 0.0;
  Left left_of_second_;
  double offset_share_ = 1.0;  // ratio of the squares of the responses before and after removing the intercept
  bool is_even_ = false;       // all weights are equal
  bool is_regular_ = true;     // no column of a term depends on those before it
  bool is_spanned_ = true;     // the span of terms and ones is known accurately: no column was near zero
  bool second_depends_ = false;
  std::size_t n_spanned_ = 1;  // independent columns of terms and ones
  Buffer<double> ones_;        // residual of a column of ones
  double ones_square_ = 0.0;
};

}  // namespace earthdof
