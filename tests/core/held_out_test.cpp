// What is held out of a fit: which items, and how a model predicts them where they are, against the
// same in one piece.
#include "data/hashed_rows.hpp"

#include <functional>

#include "base/error.hpp"
#include "counts/remote_corpus.hpp"
#include "factor/nmf.hpp"
#include "models/passes.hpp"
#include "support.hpp"
#include "topics/lda_evaluation.hpp"

using namespace bayes;

namespace {

constexpr std::int32_t held_out_terms = 40;

std::vector<std::string> held_out_names() {
  std::vector<std::string> out;
  for (int w = 0; w < held_out_terms; ++w) out.push_back("term " + std::to_string(100 + w));
  return out;
}

/// Documents that are held out, in one piece and in four parts, one of which has none. Messages
/// pass through bytes.
class PartsHeldOut final : public RemoteParts {
 public:
  PartsHeldOut() : documents_(4, MemoryCorpus(held_out_terms)) {
    Random random(5);
    for (int d = 0; d < 60; ++d) {
      std::vector<double> counts(held_out_terms, 0.0);
      for (int i = 0; i < 30 + d; ++i) {
        const int subject = random.uniform() < 0.7 ? d % 4 : int(random.below(4));
        ++counts[std::size_t(10 * subject) + random.below(10)];
      }
      std::vector<std::int32_t> terms;
      std::vector<double> positive;
      for (std::int32_t w = 0; w < held_out_terms; ++w)
        if (counts[std::size_t(w)] > 0) {
          terms.push_back(w);
          positive.push_back(counts[std::size_t(w)]);
        }
      (d % 2 ? one : fitted).append({terms, positive});
      if (d % 2) documents_[d % 7 < 4 ? 0 : d % 7 < 6 ? 2 : 3].append({terms, positive});
    }
    for (MemoryCorpus &each : documents_) {
      named_.push_back({none_, {}});
      if (holds_out) named_.back().held_out = &each;
      named_.back().terms = names_;
      rows_.push_back(each.totals().documents);
    }
  }
  std::vector<Document> ask(const Document &given) override {
    std::vector<Document> out;
    Document request = given;
    if (damage_request) damage_request(request);
    std::string sent;
    request.to_bytes(sent);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      PartOfDocuments part = named_[i];
      if (!holds_out) part.held_out = nullptr;
      Control control;
      std::string answer;
      answer_pass(part, Document::from_bytes(sent), control).to_bytes(answer);
      out.push_back(Document::from_bytes(answer));
    }
    if (damage_answer) damage_answer(out[2]);
    return out;
  }
  const std::vector<std::int64_t> &rows_of_parts() const override { return rows_; }

  MemoryCorpus one{held_out_terms}, fitted{held_out_terms};
  bool holds_out = true;
  std::function<void(Document &)> damage_request, damage_answer;

 private:
  MemoryCorpus none_{held_out_terms};
  std::vector<MemoryCorpus> documents_;
  std::vector<std::string> names_ = held_out_names();
  std::vector<PartOfDocuments> named_;
  std::vector<std::int64_t> rows_;
};

/// Is what is held out refused as damaged?
bool is_damaged(const std::function<void()> &evaluate) {
  try {
    evaluate();
    return false;
  } catch (const Error &error) {
    return error.code() == Errc::invalid_binary;
  }
}

std::unique_ptr<TopicModel> topics_of(Corpus &corpus, const char *method) {
  Document options = Document::object();
  options.set("method", method).set("max_iter", 8).set("tol", 0.0).set("restarts", 1);
  Control control;
  return lda_fit(corpus, held_out_names(), 4, options, nullptr, false, control);
}

std::unique_ptr<NmfModel> factors_of(Corpus &corpus, const Document &options,
                                     const std::vector<std::string> &columns = held_out_names()) {
  std::vector<std::string> keys;
  for (std::int64_t i = 0; i < corpus.totals().documents; ++i) keys.push_back(std::to_string(i));
  Control control;
  return nmf_fit({corpus, nullptr, Side::row, keys, columns}, 3, options, nullptr, control);
}

Document factor_options(const char *method) {
  Document out = Document::object();
  return out.set("method", method).set("max_iter", 8).set("tol", 0.0).set("restarts", 1);
}

/// Changes the first number of a list of an answer.
void change(Document &answer, const char *key, double number) {
  std::vector<double> numbers = PassReader(answer).numbers(key);
  numbers[0] = number;
  answer.set(key, numbers_document(numbers));
}
/// Gives lists of an answer as many numbers.
void resize(Document &answer, std::initializer_list<const char *> keys, std::size_t size) {
  for (const char *const key : keys) {
    std::vector<double> numbers = PassReader(answer).numbers(key);
    numbers.resize(size);
    answer.set(key, numbers_document(numbers));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(held_out)

BOOST_AUTO_TEST_CASE(a_tenth_of_all_items_is_held_out) {
  Random random(3);
  for (const int items : {0, 9, 10, 19, 20, 107, 1000, 100000}) {
    HoldOut all(10);
    std::vector<std::uint64_t> hashes;
    for (int i = 0; i < items; ++i) hashes.push_back(random.bits());
    for (const std::uint64_t hash : hashes) all.count(hash);
    all.choose();
    std::int64_t taken = 0;
    for (const std::uint64_t hash : hashes) taken += all.takes(hash);
    BOOST_TEST(taken == all.held_out());
    BOOST_TEST(taken >= items / 10);
    BOOST_TEST(taken <= items / 10 + (items < 200 ? 1 : items / 1000));
  }
}

BOOST_AUTO_TEST_CASE(items_in_parts_are_those_of_one_piece) {
  Random random(4);
  HoldOut all(10), parts(10);
  for (int part = 0; part < 3; ++part) {
    HoldOut here(10);
    for (int i = 0; i < 40 * part; ++i) {
      const std::uint64_t hash = random.bits();
      all.count(hash);
      here.count(hash);
    }
    parts.add(here.counts(), 40 * part);
  }
  all.choose();
  parts.choose();
  BOOST_TEST(all.bound() == parts.bound());
  BOOST_TEST(parts.held_out() >= 12);
}

// Of items that are all equal a tenth is held out too.
BOOST_AUTO_TEST_CASE(copies_are_held_out_one_by_one) {
  HoldOut all(10);
  all.count(std::vector<std::uint64_t>(5000, 77), 1);
  all.choose();
  BOOST_TEST(all.held_out() >= 500);
  BOOST_TEST(all.held_out() <= 510);
  std::int64_t taken = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) taken += all.takes(hash_of_copy(77, i, 1));
  BOOST_TEST(taken == all.held_out());
}

BOOST_AUTO_TEST_CASE(damaged_numbers_of_items_are_refused) {
  using Counts = std::vector<double>;
  const auto refused = [](std::int64_t items, const std::function<void(Counts &)> &damage) {
    HoldOut there(10), here(10);
    for (std::uint64_t i = 0; i < 50; ++i) there.count(i);
    Counts counts = there.counts();
    damage(counts);
    return is_damaged([&] { here.add(counts, items); });
  };
  BOOST_TEST(!refused(50, [](Counts &) {}));
  BOOST_TEST(refused(51, [](Counts &) {}));
  BOOST_TEST(refused(50, [](Counts &counts) { counts.pop_back(); }));
  BOOST_TEST(refused(50, [](Counts &counts) {
    counts[0] += 0.5;
    counts[1] -= 0.5;
  }));
  BOOST_TEST(refused(50, [](Counts &counts) {
    counts[0] += 51;
    counts[1] -= 51;
  }));
  BOOST_TEST(refused(50, [](Counts &counts) { counts[7] = std::nan(""); }));
}

BOOST_AUTO_TEST_CASE(topics_predict_documents_in_parts) {
  for (const char *const method : {"vi", "em"}) {
    PartsHeldOut parts;
    RemoteCorpus remote(parts, parts.one.totals());
    const auto model = topics_of(parts.fitted, method);
    std::vector<char> known(held_out_terms, 1);
    known[3] = known[30] = 0;
    for (const std::vector<char> &which : {std::vector<char>(), known}) {
      Control control;
      std::vector<Score> scores, scores_there;
      const HeldOut one =
          evaluate_topics(*model, parts.one, held_out_names(), {}, which, control, &scores);
      const HeldOut there =
          evaluate_topics(*model, remote, held_out_names(), {}, which, control, &scores_there);
      BOOST_TEST(one.documents == 30);
      BOOST_TEST(there.documents == 30);
      BOOST_TEST(one.tokens == there.tokens);
      BOOST_TEST(support::distance(*one.perplexity(), *there.perplexity()) < 1e-12);
      BOOST_TEST(support::distance(sum_scores(scores).perplexity().standard_error,
                                   sum_scores(scores_there).perplexity().standard_error) < 1e-9);
    }
    Control control;
    Evaluation by_particles;
    by_particles.method = "left-to-right";
    BOOST_CHECK_EXCEPTION(
        evaluate_topics(*model, remote, held_out_names(), by_particles, {}, control), Error,
        [](const Error &error) { return error.code() == Errc::invalid_argument; });
  }
}

BOOST_AUTO_TEST_CASE(damaged_messages_about_documents_are_refused) {
  PartsHeldOut parts;
  RemoteCorpus remote(parts, parts.one.totals());
  const auto model = topics_of(parts.fitted, "vi");
  const auto damaged = [&] {
    Control control;
    return is_damaged([&] { evaluate_topics(*model, remote, held_out_names(), {}, {}, control); });
  };
  BOOST_TEST(!damaged());
  const std::function<void(Document &)> requests[] = {
      [](Document &r) { r.set("known", bytes_document(std::string(held_out_terms - 1, 1))); },
      [](Document &r) { r.set("known", bytes_document(std::string(held_out_terms, 2))); },
      [](Document &r) { r.set("known", 5); },
      [&parts](Document &r) {
        r.set("model", factors_of(parts.fitted, factor_options("vi"))->to_document());
      },
      [&parts](Document &r) {
        Document options = factor_options("vi");
        Control control;
        std::vector<std::string> names = held_out_names();
        names.back() = "term of another vocabulary";
        r.set("model",
              lda_fit(parts.fitted, names, 2, options, nullptr, false, control)->to_document());
      }};
  for (std::size_t i = 0; i < std::size(requests); ++i) {
    parts.damage_request = requests[i];
    BOOST_TEST(damaged(), "request " << i);
  }
  parts.damage_request = [](Document &r) { r.set("model", Document::object()); };
  Control control;
  BOOST_CHECK_THROW(evaluate_topics(*model, remote, held_out_names(), {}, {}, control), Error);
  parts.damage_request = {};
  const std::function<void(Document &)> answers[] = {
      [](Document &a) { change(a, "tokens", -1.0); },
      [](Document &a) { change(a, "tokens", 1e7); },
      [](Document &a) { change(a, "tokens", std::nan("")); },
      [](Document &a) { change(a, "log_probability", std::nan("")); },
      [](Document &a) { change(a, "log_probability", -INFINITY); },
      [](Document &a) {
        resize(a, {"tokens", "log_probability"}, 1);
      },
      [](Document &a) {
        resize(a, {"tokens", "log_probability"}, 1000);
      },
      [](Document &a) { resize(a, {"tokens"}, 2); },
      [](Document &a) { resize(a, {"log_probability"}, 2); },
      [](Document &a) { a = Document::object(); }};
  for (std::size_t i = 0; i < std::size(answers); ++i) {
    parts.damage_answer = answers[i];
    BOOST_TEST(damaged(), "answer " << i);
  }
  parts.damage_answer = {};
  parts.holds_out = false;
  BOOST_TEST(damaged());
}

BOOST_AUTO_TEST_CASE(factors_predict_rows_in_parts) {
  for (const std::string kind : {"vi", "em", "missing", "missing em", "hierarchical"}) {
    PartsHeldOut parts;
    RemoteCorpus remote(parts, parts.one.totals());
    Document options = factor_options(kind == "em" || kind == "missing em" ? "em" : "vi");
    if (kind.starts_with("missing")) options.set("absent", "missing");
    if (kind == "hierarchical") options.set("hierarchical", true);
    const auto model = factors_of(parts.fitted, options);
    Control control;
    const NmfHeldOut one = nmf_held_out(*model, parts.one, Side::row, control),
                     there = nmf_held_out(*model, remote, Side::row, control);
    BOOST_TEST(one.documents == 30);
    BOOST_TEST(there.documents == 30);
    BOOST_TEST(one.cells == there.cells);
    BOOST_TEST(support::distance(one.log_likelihood, there.log_likelihood) < 1e-12, kind);
    BOOST_TEST(support::distance(one.error, there.error) < 1e-9, kind);
    BOOST_CHECK_THROW(nmf_held_out(*model, remote, Side::column, control), Error);
  }
}

BOOST_AUTO_TEST_CASE(damaged_messages_about_rows_are_refused) {
  PartsHeldOut parts;
  RemoteCorpus remote(parts, parts.one.totals());
  const auto model = factors_of(parts.fitted, factor_options("vi"));
  NmfHeldOut found;
  const auto damaged = [&] {
    Control control;
    return is_damaged([&] { found = nmf_held_out(*model, remote, Side::row, control); });
  };
  BOOST_TEST(!damaged());
  // A model of fewer or more columns.
  for (const std::int32_t columns : {2, held_out_terms + 1}) {
    parts.damage_request = [columns](Document &r) {
      MemoryCorpus others(columns);
      std::vector<std::int32_t> terms;
      std::vector<std::string> names;
      for (std::int32_t j = 0; j < columns; ++j) {
        terms.push_back(j);
        names.push_back("column " + std::to_string(100 + j));
      }
      for (int d = 0; d < 50; ++d)
        others.append({terms, std::vector<double>(terms.size(), 1.0 + d % 3)});
      Document changed = *r.find("model");
      changed.set("column",
                  *factors_of(others, factor_options("vi"), names)->to_document().find("column"));
      r.set("model", changed);
    };
    BOOST_TEST(damaged());
  }
  const std::function<void(Document &)> models[] = {
      [](Document &m) { m.set("factors", 2); },
      [](Document &m) { m.set("factors", 0); },
      [](Document &m) { m.set("column", Document::object()); },
      [](Document &m) { m.set("prior", Document::object()); },
      [](Document &m) { m.set("gamma", false); },
      [](Document &m) { m.set("missing", 1); }};
  for (const auto &damage : models) {
    parts.damage_request = [&damage](Document &r) {
      Document changed = *r.find("model");
      damage(changed);
      r.set("model", changed);
    };
    Control control;
    BOOST_CHECK_THROW(nmf_held_out(*model, remote, Side::row, control), Error);
  }
  parts.damage_request = {};
  const std::function<void(Document &)> answers[] = {
      [](Document &a) { change(a, "cells", -1.0); },
      [](Document &a) { change(a, "cells", 1e6); },
      [](Document &a) { change(a, "cells", std::nan("")); },
      [](Document &a) { change(a, "fit", std::nan("")); },
      [](Document &a) { change(a, "fit", INFINITY); },
      [](Document &a) {
        resize(a, {"cells", "fit"}, 1);
      },
      [](Document &a) {
        resize(a, {"cells", "fit"}, 1000);
      },
      [](Document &a) { resize(a, {"cells"}, 2); },
      [](Document &a) { resize(a, {"fit"}, 2); },
      [](Document &a) { a = Document::object(); }};
  for (std::size_t i = 0; i < std::size(answers); ++i) {
    parts.damage_answer = answers[i];
    BOOST_TEST(damaged(), "answer " << i);
  }
  // A number in a cell of mean 0 is impossible, not damaged.
  parts.damage_answer = [](Document &a) { change(a, "fit", -INFINITY); };
  BOOST_TEST(!damaged());
  BOOST_TEST(found.log_likelihood == -INFINITY);
  parts.damage_answer = {};
  parts.holds_out = false;
  BOOST_TEST(damaged());
}

BOOST_AUTO_TEST_SUITE_END()
