// bayes_rollup(bayes_model [, options]): merges models of parts of the rows, for every family that
// supports it.
#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/bind/sums.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The transition state: the models so far, merged.
///
/// Merging takes time proportional to the sizes of both models, as either may have labels and words
/// that the other lacks. So models are merged like the digits of a binary counter, each with one
/// that holds about as many models: a model takes part in logarithmically many merges.
class Merged final : public SumsWithParameters {
 public:
  explicit Merged(MemoryContext) : SumsWithParameters(1) {}
  Merged(MemoryContext context, FunctionCallInfo fcinfo) : Merged(context) {
    read_rollup_options(fcinfo);
  }

  void add(FunctionCallInfo fcinfo) {
    if (!PG_ARGISNULL(1)) add(load_model(PG_GETARG_DATUM(1)));
  }

  void clear() override { parts_.clear(); }
  const SumsKind &kind() const override;
  void serialize(std::string &out) override {
    parameters_.write(out);
    if (!empty()) out += all().to_bytes();
  }
  void combine(const char *at, const char *end) override {
    combine_parameters(at, end);
    if (at != end) add(Model::from_bytes({at, std::size_t(end - at)}));
  }
  std::string model_bytes() override { return empty() ? std::string() : bytes_of(all()); }

 private:
  bool empty() const { return family_.empty(); }
  void add(std::unique_ptr<Model> other) {
    const std::string &family = other->info.family;
    if (empty()) family_ = family;
    if (family != family_)
      throw Error(Errc::wrong_family,
                  message("models of different families cannot be merged: {} and {}",
                          describe(family_), describe(family)));
    std::size_t digit = 0;
    for (; digit < parts_.size() && parts_[digit]; ++digit) {
      parts_[digit]->merge(*other);
      other = std::move(parts_[digit]);
    }
    if (digit == parts_.size()) parts_.emplace_back();
    parts_[digit] = std::move(other);
  }
  /// Merges all parts into one, which replaces them. There must be at least one. If two cannot be
  /// merged, both stay: the models are merged again for the next frame of a window.
  Model &all() {
    std::unique_ptr<Model> sum;
    for (std::unique_ptr<Model> &part : parts_) {
      if (!part) continue;
      try {
        if (sum) part->merge(*sum);
      } catch (const Error &) {
        parts_.push_back(std::move(sum));
        throw;
      }
      sum = std::move(part);
    }
    parts_.back() = std::move(sum);
    return *parts_.back();
  }

  std::string family_;
  /// [i]: 2^i models merged (more if they were themselves merged before), or null
  std::vector<std::unique_ptr<Model>> parts_;
};

const SumsKind merged_models('m', "models", "roll up fewer models at a time.", make_sums<Merged>);
const SumsKind &Merged::kind() const { return merged_models; }

}  // namespace

/// (internal, bayes_model [, options jsonb]) -> internal
BAYES_FUNCTION(bayes_rollup_transition) { return add_row<Merged>(fcinfo); }
