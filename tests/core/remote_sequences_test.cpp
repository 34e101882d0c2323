// Fits of sequences in several parts, which get requests and give sums as bytes, as other servers
// do, against fits of the same sequences in one piece.
#include "data/remote_rows.hpp"

#include <functional>

#include "hmm_support.hpp"
#include "lying_support.hpp"
#include "models/passes.hpp"

using namespace bayes;
using namespace hidden_markov;

namespace {

/// Four parts of the sequences, the second empty. Messages pass through bytes.
class SequenceParts final : public RemoteRows {
 public:
  SequenceParts(int d, const std::vector<Sequence> &sequences, std::vector<std::string> symbols,
                const std::vector<double> &weights)
      : all{*this, d},
        names(std::move(symbols)) {
    shape_ = {d, true};
    std::vector<Sequence> own[4];
    std::vector<double> own_weights[4];
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const std::size_t part = i % 7 < 4 ? 0 : i % 7 < 6 ? 2 : 3;
      own[part].push_back(sequences[i]);
      own_weights[part].push_back(weights.empty() ? 1 : weights[i]);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      data_.push_back(std::make_unique<Data>(d, own[i], own_weights[i]));
      Sequences &part = data_.back()->all;
      part.values = int(names.size());
      named_.push_back({part, i});
      counts_.push_back(part.count);
      all.count += part.count;
      all.steps += part.steps;
      all.weight += part.weight;
      all.weights += part.weights;
      all.longest = std::max(all.longest, part.longest);
      all.unobserved += part.unobserved;
    }
    rows_ = all.count;
  }
  std::vector<Document> ask(const Document &request) override {
    std::vector<Document> out;
    std::string sent;
    request.to_bytes(sent);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (counts_[i] == 0) continue;
      Control control;
      std::string answer;
      answer_pass(named_[i], Document::from_bytes(sent), control).to_bytes(answer);
      out.push_back(Document::from_bytes(answer));
      if (wrong_codes && *request.find("pass")->as<std::string>() == "sketch")
        out.back().set("elements", numbers_document(std::vector<double>(
                                       PassReader(out.back()).numbers("elements").size(), 1e9)));
      if (damage) damage(out.back());
    }
    ++passes;
    return out;
  }
  const std::vector<std::int64_t> &rows_of_parts() const override { return counts_; }

  Sequences all;
  std::vector<std::string> names;
  int passes = 0;
  /// Servers send a sample of codes that no symbol has.
  bool wrong_codes = false;
  /// what is done to answers
  std::function<void(Document &answer)> damage;

 private:
  std::vector<std::unique_ptr<Data>> data_;
  std::vector<PartOfSequences> named_;
  std::vector<std::int64_t> counts_;
};

/// Sequences of three states that last, `value(state, step, random)` in every step.
template <class F> std::vector<Sequence> sequences_of(int d, int count, F value) {
  Random random(11);
  std::vector<Sequence> out;
  for (int i = 0; i < count; ++i) {
    Sequence one;
    for (int t = 0; t < 3 + i % 40; ++t)
      for (int j = 0; j < d; ++j) one.push_back(value((t / (5 + i % 4) + i) % 3, t, random));
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<double> numbers_of_model(const Model &model) {
  std::vector<double> out;
  model.describe_parameters(0.9, [&out](const Parameter &p) {
    for (const double x : {p.value, p.deviation, p.lower, p.upper})
      if (std::isfinite(x)) out.push_back(x);
  });
  return out;
}

const std::vector<std::string> symbols = {"a", "b", "c", "d", "e"};

/// Fits in one piece and in parts; returns the latter. Only a first restart begins alike in both:
/// others are drawn as paths in one piece.
Fitted same(int d, const std::vector<Sequence> &sequences, Document options,
            std::vector<std::string> names = {}, const std::vector<double> &weights = {},
            const HiddenMarkovModel *start = nullptr) {
  if (!start) options.set("restarts", 1);
  Data one(d, sequences, weights);
  SequenceParts parts(d, sequences, names, weights);
  const auto fit = [&](Sequences &all) {
    Control control;
    return bayes::hmm_fit(all, names, 3, options,
                          names.empty() ? SequenceElements::numbers : SequenceElements::symbols,
                          d > 1, start, false, control);
  };
  const Fitted here = fit(one.all);
  Fitted there = fit(parts.all);
  BOOST_TEST(parts.passes > 6);
  BOOST_TEST(support::distance(numbers_of_model(*here), numbers_of_model(*there)) < 1e-9);
  BOOST_TEST(support::distance(here->info.objective, there->info.objective) < 1e-9);
  BOOST_TEST(support::distance(here->info.log_likelihood, there->info.log_likelihood) < 1e-9);
  BOOST_TEST(here->info.rows == there->info.rows);
  return there;
}

Document options_for_sequences(const std::string &method) {
  Document out = Document::object();
  out.set("method", method).set("max_iter", 4).set("tol", 0.0).set("restarts", 2);
  return out;
}

double around(int state, int, Random &random) { return 1.5 * state * state + random.normal(); }
double with_holes(int state, int t, Random &random) {
  const double x = around(state, t, random);
  return t % 13 == 12 || random.uniform() < 0.1 ? hole : x;
}
double symbol(int state, int t, Random &random) {
  return t % 11 == 10 ? hole : (state + int(3 * random.uniform())) % 5;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(remote_sequences)

BOOST_AUTO_TEST_CASE(models_are_those_of_one_table) {
  const auto plain = sequences_of(2, 60, around), holes = sequences_of(2, 60, with_holes),
             words = sequences_of(1, 60, symbol);
  std::vector<double> weights;
  for (int i = 0; i < 60; ++i) weights.push_back(0.5 + i % 5);
  for (const char *const method : {"em", "map", "vi"}) BOOST_TEST_CONTEXT(method) {
      const Document options = options_for_sequences(method);
      same(2, plain, options);
      same(2, holes, options, {}, weights);
      same(1, words, options, symbols);
      same(2, holes, Document(options).set("emission", Document::List{"normal"}));
    }
}

/// Whether observations are missing in part, and which symbols are known, counts in every part.
BOOST_AUTO_TEST_CASE(what_one_part_has_alone) {
  auto some = sequences_of(2, 21, around);
  some[1][4] = hole;                                            // in the first part
  for (double &x : std::span(some[5]).subspan(6, 2)) x = hole;  // a step of the third one
  same(2, some, options_for_sequences("em"));
  auto words = sequences_of(1, 21, symbol);
  const Fitted start = same(1, words, options_for_sequences("vi"), symbols);
  for (std::size_t i = 4; i < words.size(); ++i)
    for (double &x : words[i])
      if (i % 7 > 3) x = 5;
  std::vector<std::string> more = symbols;
  more.push_back("f");
  same(1, words, Document::object().set("max_iter", 5).set("tol", 0.0), more, {}, start.get());
}

BOOST_AUTO_TEST_CASE(values_are_checked_where_they_are) {
  SequenceParts parts(1, sequences_of(1, 12, around), {}, {});
  Control control;
  const Document poisson = Document::object().set("emission", "poisson");
  BOOST_CHECK_EXCEPTION(bayes::hmm_fit(parts.all, {}, 2, poisson, SequenceElements::numbers, false,
                                       nullptr, false, control),
                        Error, [](const Error &e) {
                          return std::string(e.what()).starts_with("step 1 of sequence 1 is ");
                        });
  const Document gibbs = Document::object().set("method", "gibbs");
  BOOST_CHECK_THROW(bayes::hmm_fit(parts.all, {}, 2, gibbs, SequenceElements::numbers, false,
                                   nullptr, false, control),
                    Error);
}

BOOST_AUTO_TEST_CASE(samples_of_unknown_symbols_are_refused) {
  SequenceParts parts(1, sequences_of(1, 12, symbol), symbols, {});
  Control control;
  const auto fit = [&] {
    bayes::hmm_fit(parts.all, symbols, 2, options_for_sequences("em"), SequenceElements::symbols,
                   false, nullptr, false, control);
  };
  fit();
  parts.wrong_codes = true;
  BOOST_CHECK_EXCEPTION(fit(), Error,
                        [](const Error &error) { return error.code() == Errc::invalid_binary; });
}

/// A server sends scorers of all symbols; one with fewer would be read past its end.
BOOST_AUTO_TEST_CASE(scorers_of_fewer_symbols_are_refused) {
  const auto words = sequences_of(1, 12, [](int state, int, Random &) { return double(state); });
  Data few(1, words), more(1, words);
  few.all.values = 3;
  more.all.values = 5;
  struct Recorder final : RemoteRows {
    std::vector<Document> ask(const Document &request) override {
      sent = request;
      return parts->ask(request);
    }
    const std::vector<std::int64_t> &rows_of_parts() const override {
      return parts->rows_of_parts();
    }
    SequenceParts *parts = nullptr;
    Document sent;
  } recorder;
  SequenceParts parts(1, words, {"a", "b", "c"}, {});
  recorder.parts = &parts;
  Sequences all{recorder, 1};
  all.count = parts.all.count;
  all.steps = parts.all.steps;
  all.weight = parts.all.weight;
  all.weights = parts.all.weights;
  Control control;
  bayes::hmm_fit(all, parts.names, 2, options_for_sequences("em"), SequenceElements::symbols, false,
                 nullptr, false, control);
  PartOfSequences fits{few.all}, does_not{more.all};
  BOOST_CHECK_NO_THROW(answer_pass(fits, recorder.sent, control));
  BOOST_CHECK_THROW(answer_pass(does_not, recorder.sent, control), Error);
}

BOOST_AUTO_TEST_CASE(numbers_of_answers_are_no_fault_of_ours) {
  Random random(5);
  lying::Endings chains;
  const auto plain = sequences_of(2, 20, around), holes = sequences_of(2, 20, with_holes),
             words = sequences_of(1, 20, symbol);
  for (int run = 0; run < support::effort(800); ++run) {
    const bool named = run % 3 == 2;
    SequenceParts parts(named ? 1 : 2,
                        named     ? words
                        : run % 3 ? holes
                                  : plain,
                        named ? symbols : std::vector<std::string>(), {});
    parts.damage = [&](Document &answer) { answer = lying::falsified(answer, random, 60); };
    Document options = options_for_sequences(
        std::vector<std::string>{"em", "map", "vi"}[std::size_t(run) / 3 % 3]);
    if (run % 3 == 1 && run % 2) options.set("emission", Document::List{"normal"});
    Control control;
    BOOST_TEST_CONTEXT("run " << run)
    chains.check([&] {
      bayes::hmm_fit(parts.all, parts.names, 3, options,
                     named ? SequenceElements::symbols : SequenceElements::numbers, !named, nullptr,
                     false, control);
    });
  }
  chains.check_both();
}

BOOST_AUTO_TEST_SUITE_END()
