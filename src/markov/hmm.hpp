// Hidden Markov models (002 L11): fitting, and the accessors of a fitted model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/aligned.hpp"
#include "base/control.hpp"
#include "base/error.hpp"
#include "data/sequences.hpp"
#include "document/document.hpp"
#include "document/model.hpp"

namespace bayes {

struct ColumnSpec;

inline constexpr Method hmm_methods[] = {Method::em, Method::map, Method::vi, Method::svi,
                                         Method::gibbs};
inline constexpr int hmm_max_states = 1000;
/// elements of an observation
inline constexpr int hmm_max_dimension = 1600;

/// The type of the sequences' elements, which determines the default emission family.
enum class SequenceElements : char {
  /// text and other non-numeric types: categorical, one element per observation
  symbols,
  /// categorical if sequences are one-dimensional, else normal
  integers,
  /// normal
  numbers,
  /// bernoulli
  booleans
};

/// How a fit needs its sequences to be read: known before the first of them is read.
struct HmmRowOptions {
  /// observations are names, stored as indices into a list that is passed to the fit
  bool symbols = false;
  /// missing = error
  bool refuse_missing = false;
};

/// A state at the model's point estimate (posterior means for vi, svi, gibbs).
struct HmmState {
  /// Initial probability and its posterior standard deviation (NaN: none). After vi and svi without
  /// linear response it is too small, here and below, because q treats paths and parameters as
  /// independent.
  double initial, initial_deviation;
  /// parameter of the posterior Dirichlet distribution; NaN: none
  double initial_alpha;
  /// stationary probability; NaN if the stationary distribution is not unique
  double stationary;
  /// expected occupancy: number of steps in this state, in the sequences of the fit
  double visits;
  /// expected sojourn time, 1 / (1 - a_kk); infinite for an absorbing state
  double dwell;
};
struct HmmTransition {
  /// from 0
  int from, to;
  /// probability and its posterior standard deviation (NaN: none)
  double probability, deviation;
  /// NaN: none
  double alpha;
  /// expected number of transitions in the sequences of the fit
  double count;
};
/// An emission parameter: for a multivariate normal one per state; else one per element, for a
/// categorical element one per symbol.
struct HmmEmission {
  /// from 0
  int state;
  /// from 0; -1: all elements together
  int element;
  /// of a categorical element, and "1" of a bernoulli one; else nullptr
  const std::string *symbol;
  /// of the symbol; else NaN
  double probability, deviation;
  /// d or 1 expected values; empty for symbols
  std::vector<double> mean;
  /// d x d or 1
  std::vector<double> covariance;
};
/// A hyperparameter of the conjugate posterior of the emissions.
struct HmmPosterior {
  /// as above
  int state, element;
  /// as above; nullptr for others
  const std::string *symbol;
  /// named like the prior's keys: m, c, a, B, b, shape, rate, category_alpha
  const char *parameter;
  /// 1, d, or (B) d x d numbers
  std::vector<double> value;
  /// value is d x d
  bool matrix;
};

/// A most probable path.
struct HmmPath {
  /// log p(path, observations); after gibbs its average over the draws
  double log_probability;
  /// from 0
  std::vector<int> states;
};

/// A sequence of which observations come one at a time, between two of them: numbers that can be
/// stored (HiddenMarkovModel::Filter::advance).
struct HmmProgress {
  /// observations so far; 0: the sequence has not begun, and nothing else counts
  std::int64_t steps = 0;
  /// of all observations so far, as log_likelihood() has it
  double log_likelihood = 0;
  /// -log p(last observation | earlier ones); NaN if it is missing
  double surprise = 0;
  /// K numbers each: p(state | observations so far), p(next state | observations so far)
  std::vector<double> states, next;
  /// The recursion, without its last rounding: 3 + K numbers for each draw of the parameters under
  /// which the observations are possible (without draws, one): the number of the draw, from 1, the
  /// logarithm of its share, the scale and the forward variables.
  std::vector<double> recursion;
  /// The same for the likelihood, in which unseen categories have probabilities; empty as long as
  /// both are equal.
  std::vector<double> counting;
};
/// Throws Error(invalid_argument): these are the numbers of no sequence.
[[noreturn]] BAYES_API void refuse_progress(const char *what);

struct ComponentDensities;
class HmmScorer;
class UnseenCategories;

class BAYES_API HiddenMarkovModel final : public Model {
 public:
  HiddenMarkovModel();
  ~HiddenMarkovModel() override;

  int dimension() const { return info.dimension; }
  int size() const { return info.components; }
  /// an observation is an array of numbers, a sequence an array of arrays
  bool vectors() const;
  /// an observation is a name
  bool symbols() const;
  /// emissions are multivariate normal
  bool multivariate() const;
  /// the likelihood of every element; a single one for multivariate normals
  std::vector<ColumnSpec> emission() const;
  /// of multivariate normal emissions: full, diagonal, spherical or tied; else empty
  std::string covariance() const;
  /// The index of a symbol, from 0 in the order of names, which need not be the order of the fit;
  /// -1 for an unknown symbol. Sequences store unknown symbols as unseen_category, which only
  /// log_likelihood() distinguishes from a missing value.
  int code(std::string_view symbol) const;
  /// fitted by vi or svi
  bool has_posterior() const;
  /// K - 1 initial probabilities, K (K - 1) transitions and the parameters of the emissions, less
  /// the structural zeros.
  double free_parameters() const override;
  /// The total weight of the steps that are not entirely missing, over which the log-likelihood is
  /// a sum.
  double observations() const override;
  /// draws of the parameters; 0 unless fitted by gibbs
  std::int64_t stored_draws() const override;

  const ModelWords &words() const override;
  ComponentOverlaps overlaps(const Model &other) const override;

  /// The distribution of a single step, of which neither the past nor the place in its sequence is
  /// known: the mixture of the emissions, weighted by the expected shares of the states in the
  /// steps of the fit; after gibbs under every draw. The component is the state.
  std::unique_ptr<RowDistribution> row_distribution() const override;

  /// from 0
  HmmState state_at(int index) const;
  /// The states, from 0, with several possible successors, in which sequences end and from which
  /// none goes on: a point estimate cannot learn where they lead to.
  std::vector<int> never_left() const;
  /// all K x K, row by row
  void transitions(const std::function<void(const HmmTransition &)> &take) const;
  void emissions(const std::function<void(const HmmEmission &)> &take) const;
  /// throws Error(invalid_argument) if there is no posterior
  void posterior(const std::function<void(const HmmPosterior &)> &take) const;

  /// State by state: the initial probability, the transitions (category and label are the target
  /// state, from 1) and the parameters of the emissions, with credible intervals of this level:
  /// from q or linear response after vi and svi, from the stored draws of the parameters after
  /// gibbs.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;

  /// Throws Error(invalid_argument), naming element and step (from 1), for a value that is not
  /// allowed; NaN is missing.
  void check(std::span<const double> x, std::int64_t step) const;

  using Model::predict;
  // These take one sequence, without known states. After gibbs the results are averages over the
  // stored draws of the parameters, which are not reweighted by the sequence; draws under which it
  // is impossible are left out, except in the likelihood. After other methods the point estimate of
  // the parameters is used, or for emissions the posterior predictive if there is a posterior.
  /// log p(observations); -infinity if they are impossible. Only here does a category that occurred
  /// in no sequence of the fit have a probability in each state
  /// (families/product/unseen_categories.hpp).
  double log_likelihood(Sequences &one, Control &control) const;
  /// Viterbi; after gibbs the path with the largest average of log p(path, observations). Ties go
  /// to the path whose last state is smallest, then the last but one, and so on. Throws
  /// Error(numeric) if no path is possible.
  HmmPath decode(Sequences &one, Control &control) const;
  /// the `count` most probable paths (fewer if there are fewer), most probable first
  std::vector<HmmPath> decode_best(Sequences &one, int count, Control &control) const;

  /// Smoothed state probabilities: take(first step, steps, K numbers per step), in order of time.
  void smooth(Sequences &one, Control &control,
              const std::function<void(std::int64_t first, int steps, const double *probabilities)>
                  &take) const;

  /// One sequence, observation by observation, in constant memory: the states given the past, and
  /// how well the past predicts what comes. The model must outlive it.
  class BAYES_API Filter {
   public:
    explicit Filter(const HiddenMarkovModel &model);
    ~Filter();
    /// Processes the next observation (d numbers; NaN: missing); returns p(state | observations so
    /// far), K numbers, valid until the next call. Throws Error(numeric) if it is impossible.
    std::span<const double> next(std::span<const double> x);
    /// The same for an observation that may be impossible, which then counts as missing for those
    /// after it, and with the probability of unseen categories, which next() takes as missing.
    /// Returns its log_predictive(); over a sequence it sums to log_likelihood().
    double pass(std::span<const double> x);
    /// log p(the last observation | earlier ones); 0 for a missing observation, -infinity for an
    /// impossible one. After gibbs draws count in proportion to their p(earlier observations).
    double log_predictive() const { return log_predictive_; }
    /// Takes a sequence on by one observation, from where it stood, whatever this filter has seen
    /// before: states are those of next(), and the surprise is that of pass(), to the last bit. An
    /// impossible observation counts as missing for those after it. Throws Error(invalid_argument)
    /// for numbers that no sequence under the model has.
    void advance(HmmProgress &at, std::span<const double> x);

   private:
    class Part;
    bool add(std::span<const double> x, bool count_unseen);
    void skip();
    void load(std::span<const double> recursion);
    std::vector<double> save() const;
    void describe(std::vector<double> &states, std::vector<double> &next) const;
    const HiddenMarkovModel &model_;
    std::vector<Part> parts_;               // one for each draw, or one; possible() or not
    std::vector<UnseenCategories> unseen_;  // of each draw; empty until one is seen
    Buffer block_, scores_;
    std::vector<double> out_;
    double log_predictive_ = 0;
  };

  /// p(state of a future step | observations), K numbers, and the prediction of its observation:
  /// each element's mean and variance (NaN for a categorical element), and the probabilities of
  /// categories(). With a level also the bounds of each element's equal-tailed predictive interval:
  /// the quantiles of the emissions' mixture over states and draws (NaN for a categorical element,
  /// and where double precision does not find them).
  struct Prediction {
    std::vector<double> states, mean, variance, categories, lower, upper;
  };
  /// Predicts the `steps` (at least 1) steps that follow the sequence, in order: p(states) is
  /// multiplied by the transition matrix for each step, which sums over all paths; after gibbs
  /// under each draw.
  void predict(Sequences &one, int steps, Control &control,
               const std::function<void(const Prediction &)> &take,
               std::optional<double> level = {}) const;
  Prediction predict_next(Sequences &one, Control &control, std::optional<double> level = {}) const;

  /// Draws `draws` continuations of the sequence by `steps` steps: take(draw, step, state,
  /// observation), all numbered from 0. predict() has the distribution of each single step. After
  /// gibbs each continuation is drawn under one of the stored draws of the parameters; with a
  /// posterior each has emission parameters of its own, drawn from it. Throws Error(numeric) if the
  /// sequence is impossible.
  void sample_after(Sequences &one, int steps, int draws, std::uint64_t seed, Control &control,
                    const std::function<void(int draw, int step, int state,
                                             std::span<const double> x)> &take) const;

  /// A category of a categorical element, a symbol among them.
  struct Category {
    int element;  // from 0
    std::string name;
  };
  /// element by element
  std::vector<Category> categories() const;
  /// The values of a categorical element, as steps hold them, in ascending order; empty for others.
  std::vector<double> categories(int element) const override;

  /// A sequence of `steps` observations, number `index` of the stream `seed`: take(state from 0,
  /// observation), step by step. After gibbs under one of the stored draws, else under the point
  /// estimate.
  void sample(std::uint64_t seed, std::int64_t index, std::int64_t steps,
              const std::function<void(int state, std::span<const double> x)> &take) const;

  /// by index; empty unless symbols()
  const std::vector<std::string> &symbol_names() const;
  /// The name in results of a categorical element's category with index `value`, which steps hold
  /// as `number`: its symbol or label, or the number.
  std::string name_of_category(int element, int value, double number) const;
  /// The model as the start of a fit to steps with these columns, whose labels include those of
  /// info.columns: categories are renumbered as the labels in `columns`.
  std::unique_ptr<HiddenMarkovModel> with_labels_of(const RowColumns &columns) const;

  struct State;
  std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;

 private:
  /// The emission densities of the states at the point estimate, weighted by visits
  /// (fit/component_overlap.hpp); symbols are treated as labels.
  ComponentDensities densities() const;
  /// of records, or one of symbols; else none
  RowColumns columns_of_steps() const;
  HmmScorer &scorer() const;
  /// one for each point under which sequences are scored; empty for multivariate normal emissions
  std::vector<UnseenCategories> unseen_categories() const;
  mutable std::unique_ptr<HmmScorer> scorer_;
  mutable std::vector<double> stationary_;
  mutable std::unique_ptr<std::unordered_map<std::string_view, int>> codes_;
};

/// Reads the document form; for models/registry.cpp. Throws Error(invalid_text) naming the invalid
/// member.
std::unique_ptr<Model> read_hidden_markov_model(const Document &document);

/// Checks all options that can be checked before any sequence is read, and returns how to read
/// sequences. Throws as hmm_fit does. `vectors`: sequences are two-dimensional.
BAYES_API HmmRowOptions hmm_check_options(int k, const Document &options, SequenceElements elements,
                                          bool vectors, const HiddenMarkovModel *start = nullptr,
                                          bool update = false);

/// Fits a hidden Markov model of k states. `symbols`: the names of the observations, by index, if
/// the options say that they are names. `start`, if given, is the initialization of the (single)
/// run; with `update` its posterior is also the prior. Throws Error: invalid_argument for options,
/// for a value that its family does not allow, or for sequences that structural zeros or known
/// states make impossible; too_large for more parameters than memory allows; numeric if no fit
/// exists.
BAYES_API std::unique_ptr<HiddenMarkovModel> hmm_fit(Sequences &sequences,
                                                     std::vector<std::string> symbols, int k,
                                                     const Document &options,
                                                     SequenceElements elements, bool vectors,
                                                     const HiddenMarkovModel *start, bool update,
                                                     Control &control);

/// The same for fits of several models.
BAYES_API HmmRowOptions hmm_check_select_options(std::span<const int> ks, const Document &options,
                                                 SequenceElements elements, bool vectors);

/// Fits a model for every k in ks, in order, as hmm_fit does, with these options, and passes it to
/// `emit`, or its failure to `failed`.
BAYES_API void hmm_select(Sequences &sequences, const std::vector<std::string> &symbols,
                          std::span<const int> ks, const Document &options,
                          SequenceElements elements, bool vectors, Control &control,
                          const std::function<void(std::unique_ptr<HiddenMarkovModel>)> &emit,
                          const std::function<void(int k, const Error &)> &failed);

}  // namespace bayes
