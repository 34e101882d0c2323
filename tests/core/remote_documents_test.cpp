// Fits of documents in several parts, which get requests and give sums as bytes, as other servers
// do, against fits of the same documents in one piece.
#include "counts/remote_corpus.hpp"

#include <functional>
#include <map>

#include "base/error.hpp"
#include "factor/nmf.hpp"
#include "lying_support.hpp"
#include "models/passes.hpp"
#include "support.hpp"
#include "topics/lda.hpp"

using namespace bayes;

namespace {

/// DocumentParts of the documents, one of them empty. Messages pass through bytes.
class DocumentParts final : public RemoteParts {
 public:
  explicit DocumentParts(std::int32_t vocabulary)
      : documents_(4, MemoryCorpus(vocabulary)),
        order_(4) {
    totals.vocabulary = vocabulary;
  }
  /// The first `in_first` documents are in one part, or if that is 0, all are mixed.
  void append(const DocumentTerms &document, std::int64_t in_first) {
    const std::int64_t index = totals.documents;
    const std::size_t part = in_first > 0 ? std::size_t(index < in_first ? 0 : 2)
                                          : std::size_t(index % 7 < 4   ? 0
                                                        : index % 7 < 6 ? 2
                                                                        : 3);
    documents_[part].append(document);
    order_[part].push_back(index);
    totals.add(document);
  }
  void close() {
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      named_.push_back({documents_[i], order_[i]});
      rows_.push_back(documents_[i].totals().documents);
    }
  }
  std::vector<Document> ask(const Document &request) override {
    std::vector<Document> out;
    std::string sent;
    request.to_bytes(sent);
    for (std::size_t i = 0; i < named_.size(); ++i) {
      if (rows_[i] == 0) continue;
      const bool lost = !lost_before.empty() && PassReader(request).text("pass") == lost_before;
      if (++answers == lost_after || lost) named_[i].numbers.clear();
      Control control;
      std::string answer;
      answer_pass(named_[i], Document::from_bytes(sent), control).to_bytes(answer);
      out.push_back(Document::from_bytes(answer));
      if (always_more && out.back().find("more")) out.back().set("more", true);
      if (damage) damage(out.back());
      most_kept = std::max(most_kept, named_[i].numbers.size());
    }
    return out;
  }
  const std::vector<std::int64_t> &rows_of_parts() const override { return rows_; }

  CorpusTotals totals;
  /// a part forgets its numbers before this answer
  int lost_after = 0, answers = 0;
  /// all parts do before a pass of this name
  std::string lost_before;
  std::size_t most_kept = 0;
  /// a part says that it has more documents, whatever it has sent
  bool always_more = false;
  /// what is done to answers
  std::function<void(Document &answer)> damage;

 private:
  std::vector<MemoryCorpus> documents_;
  std::vector<std::vector<std::int64_t>> order_;
  std::vector<PartOfDocuments> named_;
  std::vector<std::int64_t> rows_;
};

constexpr std::int32_t vocabulary = 60;

/// Documents of four subjects, of 8000 tokens for each hundred.
struct BothCorpora {
  MemoryCorpus one{vocabulary};
  DocumentParts parts{vocabulary};
  explicit BothCorpora(int documents, double count = 1, std::int64_t in_first = 0) {
    Random random(11);
    for (int d = 0; d < documents; ++d) {
      std::vector<double> counts(vocabulary, 0.0);
      for (int i = 0; i < 40 + d % 80; ++i) {
        const int subject = random.uniform() < 0.7 ? d % 4 : int(random.below(4));
        counts[std::size_t(15 * subject) + random.below(15)] += count;
      }
      std::vector<std::int32_t> terms;
      std::vector<double> positive;
      for (std::int32_t w = 0; w < vocabulary; ++w)
        if (counts[std::size_t(w)] > 0) {
          terms.push_back(w);
          positive.push_back(counts[std::size_t(w)]);
        }
      one.append({terms, positive});
      parts.append({terms, positive}, in_first);
    }
    parts.close();
  }
};

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (int w = 0; w < vocabulary; ++w)
    out.push_back(std::string{char('a' + w / 26), char('a' + w % 26)});
  return out;
}

std::unique_ptr<TopicModel> fit(Corpus &corpus, const char *method, int iterations, int restarts) {
  Document options = Document::object();
  options.set("method", method).set("max_iter", iterations).set("tol", 0.0);
  options.set("restarts", restarts);
  Control control;
  return lda_fit(corpus, names(), 4, options, nullptr, false, control);
}

void compare(const TopicModel &a, const TopicModel &b) {
  for (int k = 0; k < a.size(); ++k) BOOST_TEST(support::distance(a.topic(k), b.topic(k)) < 1e-9);
  // found by a search whose objective is flat there
  BOOST_TEST(support::distance(a.alpha(), b.alpha()) < 1e-6);
  BOOST_TEST(support::distance(a.info.objective, b.info.objective) < 1e-9);
  BOOST_TEST(support::distance(a.info.log_likelihood, b.info.log_likelihood) < 1e-9);
  BOOST_TEST(a.info.rows == b.info.rows);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(remote_documents)

BOOST_AUTO_TEST_CASE(topics_of_documents_in_parts) {
  for (const char *const method : {"vi", "em"})
    for (const double count : {1.0, 0.3}) {
      BothCorpora both(300, count);
      RemoteCorpus remote(both.parts, both.parts.totals);
      compare(*fit(both.one, method, 10, 3), *fit(remote, method, 10, 3));
      BOOST_TEST(both.parts.most_kept == 2u);  // of the best restart, and of the present one
    }
}

// The start is found in the first quarter of a million tokens of all parts.
BOOST_AUTO_TEST_CASE(topics_start_at_the_documents_that_come_first) {
  BothCorpora both(4000);
  RemoteCorpus remote(both.parts, both.parts.totals);
  compare(*fit(both.one, "vi", 2, 1), *fit(remote, "vi", 2, 1));
  BOOST_TEST(remote.samples.size() == 2u);
}

// One part has all of the sample, more than its share, and so is asked again.
BOOST_AUTO_TEST_CASE(topics_start_at_documents_of_one_part) {
  BothCorpora both(800, 10, 350);
  RemoteCorpus remote(both.parts, both.parts.totals);
  compare(*fit(both.one, "vi", 2, 1), *fit(remote, "vi", 2, 1));
}

// The documents are the rows of a table.
BOOST_AUTO_TEST_CASE(factors_of_rows_in_parts) {
  std::vector<std::string> keys;
  std::vector<std::int32_t> in_parts;
  for (int d = 0; d < 300; ++d) keys.push_back("row " + std::to_string(1000 + d));
  for (const int part : {0, 2, 3})
    for (int d = 0; d < 300; ++d)
      if (part == (d % 7 < 4 ? 0 : d % 7 < 6 ? 2 : 3)) in_parts.push_back(d);
  for (const char *const method : {"vi", "em"})
    for (const std::string kind : {"zero", "missing", "hierarchical"}) {
      const bool hierarchical = kind == "hierarchical";
      if (hierarchical && method == std::string("em")) continue;
      BothCorpora both(300, 0.3);
      RemoteCorpus remote(both.parts, both.parts.totals);
      Document options = Document::object();
      options.set("method", method).set("absent", hierarchical ? "zero" : kind);
      options.set("max_iter", 8).set("tol", 0.0).set("restarts", 2);
      if (hierarchical) options.set("hierarchical", true);
      Control control;
      const auto one = nmf_fit({both.one, nullptr, Side::row, keys, names()}, 4, options, nullptr,
                               control),
                 parts = nmf_fit({remote, nullptr, Side::row, keys, names(), 0, in_parts}, 4,
                                 options, nullptr, control);
      for (const Side side : {Side::row, Side::column})
        for (std::int32_t i = 0; i < std::int32_t(one->keys(side).size()); i += 7)
          BOOST_TEST(support::distance(one->weights(side, i).value, parts->weights(side, i).value) <
                     1e-9);
      BOOST_TEST(support::distance(one->info.objective, parts->info.objective) < 1e-9);
      BOOST_TEST(support::distance(one->error().squared, parts->error().squared) < 1e-9);
      BOOST_TEST(support::distance(one->error().explained, parts->error().explained) < 1e-9);
    }
}

BOOST_AUTO_TEST_CASE(weights_that_are_lost_are_found_anew) {
  std::vector<std::string> keys;
  for (int d = 0; d < 300; ++d) keys.push_back("row " + std::to_string(1000 + d));
  Document options = Document::object();
  options.set("max_iter", 300).set("tol", 0.0).set("restarts", 1).set("init", "random");
  const auto fit_parts = [&](int lost_after) {
    BothCorpora both(300);
    RemoteCorpus remote(both.parts, both.parts.totals);
    both.parts.lost_after = lost_after;
    Control control;
    return nmf_fit({remote, nullptr, Side::row, keys, names()}, 4, options, nullptr, control);
  };
  const auto with = fit_parts(40), without = fit_parts(0);
  BOOST_TEST(with->info.objective != without->info.objective);
  BOOST_TEST(std::abs(with->info.objective / without->info.objective - 1) < 1e-3);
  const std::vector<double> &course = with->trace[0];
  for (std::size_t i = 1; i < course.size(); ++i)
    BOOST_TEST(course[i] > course[i - 1] - 1e-3 * std::abs(course[i]));
  // The last pass, which sends the weights, has none to send.
  BOOST_CHECK_EXCEPTION(fit_parts(3 * 301 + 4), Error, [](const Error &error) {
    return std::string(error.what()).find("are lost") != std::string::npos;
  });
}

// Weights that are not there cannot be scaled: the first pass finds them, with many updates.
BOOST_AUTO_TEST_CASE(first_weights_that_are_lost_are_found_anew) {
  std::vector<std::string> keys;
  for (int d = 0; d < 300; ++d) keys.push_back("row " + std::to_string(1000 + d));
  const auto first_bound = [&](const char *lost_before) {
    BothCorpora both(300);
    RemoteCorpus remote(both.parts, both.parts.totals);
    both.parts.lost_before = lost_before;
    Document options = Document::object();
    options.set("max_iter", 1).set("tol", 0.0).set("restarts", 1);
    Control control;
    const bayes::FactorTable table{remote, nullptr, Side::row, keys, names()};
    return nmf_fit(table, 4, options, nullptr, control)->trace[0][0];
  };
  BOOST_TEST(first_bound("scaling") > first_bound(""));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_lost_are_found_anew) {
  BothCorpora both(300);
  RemoteCorpus remote(both.parts, both.parts.totals);
  both.parts.lost_after = 20;
  const auto with = fit(remote, "vi", 60, 1), without = fit(both.one, "vi", 60, 1);
  BOOST_TEST(both.parts.answers > 40);
  BOOST_TEST(with->info.objective != without->info.objective);
  BOOST_TEST(std::abs(with->info.objective / without->info.objective - 1) < 1e-4);
  // The documents have as many updates as those that are new to a model, so that the bound hardly
  // falls in that pass.
  const std::vector<double> &course = with->trace[0];
  for (std::size_t i = 1; i < course.size(); ++i)
    BOOST_TEST(course[i] > course[i - 1] - 1e-3 * std::abs(course[i]));
}

// Nothing moves after a few passes from the start, until priors are learned.
BOOST_AUTO_TEST_CASE(a_fit_of_documents_in_parts_ends_at_the_same_optimum) {
  MemoryCorpus few(vocabulary), one(vocabulary);
  DocumentParts parts(vocabulary);
  Random random(9);
  for (int d = 0; d < 600; ++d) {
    std::map<std::int32_t, double> document;
    for (int i = 0; i < 30; ++i)
      ++document[15 * (i % 2 ? d % 4 : d / 4 % 4) + std::int32_t(random.below(15))];
    std::vector<std::int32_t> terms;
    std::vector<double> counts;
    for (const auto &[term, count] : document) terms.push_back(term), counts.push_back(count);
    one.append({terms, counts});
    parts.append({terms, counts}, 0);
    if (d < 100) few.append({terms, counts});
  }
  parts.close();
  RemoteCorpus remote(parts, parts.totals);
  const auto start = fit(few, "vi", 2, 1);
  for (const double tolerance : {1e-4, 0.0}) {
    Document options = Document::object();
    options.set("tol", tolerance);
    Control control;
    const auto here = lda_fit(one, names(), 4, options, start.get(), false, control),
               there = lda_fit(remote, names(), 4, options, start.get(), false, control);
    BOOST_TEST(here->info.converged);
    BOOST_TEST(there->info.converged);
    BOOST_TEST(there->alpha() != start->alpha());
    compare(*here, *there);
  }
}

BOOST_AUTO_TEST_CASE(documents_in_parts_are_not_read_one_at_a_time) {
  BothCorpora both(30);
  RemoteCorpus remote(both.parts, both.parts.totals);
  BOOST_CHECK_EXCEPTION(fit(remote, "collapsed", 10, 1), Error,
                        [](const Error &error) { return error.code() == Errc::invalid_argument; });
}

BOOST_AUTO_TEST_CASE(a_sample_of_documents_ends) {
  BothCorpora corpora(50);
  RemoteCorpus parts(corpora.parts, corpora.parts.totals);
  corpora.parts.always_more = true;
  BOOST_CHECK_EXCEPTION(fit(parts, "vi", 3, 1), Error,
                        [](const Error &error) { return error.code() == Errc::invalid_binary; });
}

BOOST_AUTO_TEST_CASE(damaged_requests_for_topics_are_refused) {
  BothCorpora both(30);
  const auto refused = [&](const std::function<void(Document &)> &damage) {
    Document factors = Document::object();
    factors.set("components", 2).set("factors", Tensor{{2 * vocabulary}, std::vector(120, 0.5)});
    factors.set("logs", Tensor{{vocabulary}, std::vector(60, 0.0)});
    Document request = pass_request("topics");
    request.set("factors", factors).set("alpha", Tensor{{2}, {0.5, 0.5}});
    request.set("max_updates", 5).set("max_moved", 1e-3).set("number", 0);
    request.set("kept", Document::List()).set("fresh", true).set("numbers", 1);
    damage(request);
    try {
      both.parts.ask(request);
      return false;
    } catch (const Error &error) {
      return error.code() == Errc::invalid_binary;
    }
  };
  BOOST_TEST(!refused([](Document &) {}));
  BOOST_TEST(refused([](Document &r) { r.set("alpha", Tensor{{1}, {0.5}}); }));
  BOOST_TEST(refused([](Document &r) { r.set("alpha", Tensor{{2}, {0.5, -1}}); }));
  BOOST_TEST(refused([](Document &r) { r.set("numbers", "one"); }));
  BOOST_TEST(refused([](Document &r) { r.set("factors", Document::object()); }));
  BOOST_TEST(refused([](Document &r) { r.set("pass", "no such pass"); }));
  BOOST_TEST(refused([](Document &r) { r.set("fresh", 1); }));
}

BOOST_AUTO_TEST_CASE(numbers_of_answers_are_no_fault_of_ours) {
  Random random(4);
  lying::Endings topics, factors;
  std::vector<std::string> keys;
  std::vector<std::int32_t> in_parts;
  for (int d = 0; d < 30; ++d) keys.push_back("row " + std::to_string(1000 + d));
  for (const int part : {0, 2, 3})
    for (int d = 0; d < 30; ++d)
      if (part == (d % 7 < 4 ? 0 : d % 7 < 6 ? 2 : 3)) in_parts.push_back(d);
  for (int run = 0; run < support::effort(200); ++run) {
    BothCorpora both(30, run % 4 < 2 ? 1 : 0.3);
    RemoteCorpus remote(both.parts, both.parts.totals);
    both.parts.damage = [&](Document &answer) { answer = lying::falsified(answer, random, 60); };
    const bool vi = run % 2 == 0;
    BOOST_TEST_CONTEXT("topics " << run)
    topics.check([&] { fit(remote, vi ? "vi" : "em", 6, 2); });
    Document options = Document::object();
    options.set("method", vi ? "vi" : "em").set("absent", run % 3 ? "zero" : "missing");
    options.set("max_iter", 6).set("restarts", 2);
    if (vi && run % 3 == 1) options.set("hierarchical", true);
    Control control;
    BOOST_TEST_CONTEXT("factors " << run)
    factors.check([&] {
      nmf_fit({remote, nullptr, Side::row, keys, names(), 0, in_parts}, 4, options, nullptr,
              control);
    });
  }
  topics.check_both();
  factors.check_both();
}

BOOST_AUTO_TEST_SUITE_END()
