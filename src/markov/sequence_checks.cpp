#include "markov/sequence_checks.hpp"

#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "data/pass.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"
#include "markov/hmm_observations.hpp"

namespace bayes {

namespace {

struct ObservedElementsPass {
  static constexpr const char *name = "observed elements";
  struct Sums : ObservedElements {
    template <class F> void fields(F &f) {
      f.flag("any", any);
      f.flag("incomplete", incomplete);
    }
    void add(const Sums &other) {
      any |= other.any;
      incomplete |= other.incomplete;
    }
  };

  template <class F> void fields(F &, const Sequences &) {}
  Sums nothing(const Sequences &) const { return {}; }
  Sums here(const Sequences &sequences, Control &control) const {
    Sums out;
    for_each_step(sequences, control, [&](const double *x, std::int64_t, std::int64_t, double) {
      int missing = 0;
      for (int j = 0; j < sequences.dimension; ++j)
        missing += x[j * block_rows] != x[j * block_rows];
      out.any |= missing < sequences.dimension;
      out.incomplete |= missing > 0 && missing < sequences.dimension;
    });
    return out;
  }
};

/// Throws what check_emissions() does. Numbers of sequences are those in the part.
struct CheckEmissionsPass {
  static constexpr const char *name = "check emissions";
  struct Sums {
    template <class F> void fields(F &) {}
    void add(const Sums &) {}
  };
  std::vector<ColumnSpec> emissions = {};
  bool started = false;

  template <class F> void fields(F &f, const Sequences &sequences) {
    likelihood_fields(f, "emissions", emissions, std::size_t(sequences.dimension));
    f.flag("started", started);
  }
  Sums nothing(const Sequences &) const { return {}; }
  Sums here(const Sequences &sequences, Control &control) const {
    const Columns any(emissions);
    const bool named = sequences.rows.name_of_element(0) != "element 1";
    for_each_step(
        sequences, control, [&](const double *x, std::int64_t sequence, std::int64_t step, double) {
          any.for_each([&](int j, const Column &column, const ColumnOffsets &) {
            const double value = x[std::size_t(j) * block_rows];
            if (value == value && !column.allowed(value))
              throw Error(
                  Errc::invalid_argument,
                  (sequences.dimension > 1 || named ? sequences.rows.name_of_element(j) + " of "
                                                    : std::string()) +
                      "step " + std::to_string(step) + " of sequence " + std::to_string(sequence) +
                      " is " + describe(value) + ", but must be " + column.requirement(),
                  std::string("Its emission is ") + column.name + "." + numbering(sequences),
                  started ? "" : "Option \"emission\" sets the distribution of the observations.");
          });
        });
    return {};
  }
};

struct SymbolBelowPass {
  static constexpr const char *name = "symbol below";
  struct Sums {
    bool any = false;
    template <class F> void fields(F &f) { f.flag("any", any); }
    void add(const Sums &other) { any |= other.any; }
  };
  std::int64_t known = 0;

  template <class F> void fields(F &f, const Sequences &) {
    f.integer("known", known, 0, std::numeric_limits<std::int32_t>::max());
  }
  Sums nothing(const Sequences &) const { return {}; }
  Sums here(const Sequences &sequences, Control &control) const {
    Sums out;
    for_each_step(sequences, control, [&](const double *code, std::int64_t, std::int64_t, double) {
      out.any |= *code < double(known);
    });
    return out;
  }
};

}  // namespace

const PassOver<PartOfSequences> observed_elements_pass =
                                    pass_over<PartOfSequences, ObservedElementsPass>(),
                                check_emissions_pass =
                                    pass_over<PartOfSequences, CheckEmissionsPass>(),
                                symbol_below_pass = pass_over<PartOfSequences, SymbolBelowPass>();

ObservedElements observed_elements(const Sequences &sequences, Control &control) {
  return run(sequences, ObservedElementsPass{}, control);
}

void check_emissions(const Sequences &sequences, const std::vector<ColumnSpec> &emissions,
                     bool started, Control &control) {
  run(sequences, CheckEmissionsPass{emissions, started}, control);
}

bool has_symbol_below(const Sequences &sequences, std::int64_t known, Control &control) {
  return run(sequences, SymbolBelowPass{known}, control).any;
}

}  // namespace bayes
