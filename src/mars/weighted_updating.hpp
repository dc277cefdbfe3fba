// The search for a knot by updating, with case weights.
//
// The intercept's column and all columns of terms carry the roots of the weights. The sums are those of the plain
// search; other rules say which candidate earth takes. Every column in the table of terms is in the model, also the
// second hinge of a step that added only one term, and no share is too small: a candidate counts unless R's regression
// drops it as dependent.
#pragma once

#include "updating.hpp"

namespace earthdof {

class WeightedUpdating final : public Updating {
 public:
  using Updating::Updating;

  // Begin with weighted responses, as rows; the intercept's column stays where it is.
  void start(Rows<const double> y, const double* roots);
  // Give the columns of a step, of which both may be new forms, their places in the basis. False if rounding decides
  // whether a column depends on those before it.
  bool append(const Terms& terms, std::size_t slot, bool new_form);
  // Whether no column of the model depends on those before it.
  bool is_regular() const { return is_regular_; }
  // RSS of the basis.
  double rss() const { return rss_; }
  // How much lower that is than the RSS of the terms: by the second hinge of a last step that added one term.
  double gap() const { return gap_; }
  // What the terms and a column of ones leave at the least of the square of the second hinge that came last.
  double least_second() const { return least_second_; }

 private:
  void score_pair(const Terms& terms, std::size_t slot, std::size_t pred, const Step& step, int thread) override;
  Winner clear_winner(const Terms& terms, const Top& top, const Step& step, double bar) override;
  bool is_strict() const override { return settings_.as_earth; }
  double least_lead() const override { return 2 * kAlmostZero; }
  ParentColumn parent_column(const Terms& terms, std::size_t slot) const override {
    return {terms.bx[slot], roots_, design_.n};
  }
  Linear linear_state(const Terms& terms, std::size_t slot, std::size_t pred, bool new_form, int thread);
  double pair_noise(std::size_t slot, std::size_t pred, bool linear) const;
  Query query_of(const Line& line, double noise, const double* slope, double rss_null) const;

  const double* roots_ = nullptr;
  double rss_ = 0.0, gap_ = 0.0, least_second_ = 0.0;
  double offset_share_ = 1.0;  // square of the responses as they came, over what the intercept leaves of it
  bool is_even_ = false;       // all weights are equal
  bool is_regular_ = true;     // no column depends on those before it
  Buffer<double> ones_;        // what the basis leaves of a column of ones
  double ones_square_ = 0.0;
};

}  // namespace earthdof
