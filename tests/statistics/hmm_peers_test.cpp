// Hidden Markov models against GHMM, on the letters of PostgreSQL's tutorial: one start, two
// programs. Likelihoods, most probable paths, and the result of 50 EM iterations.
//
// GHMM's figures are in reference/hmm_ghmm.csv, written by reference_ghmm.c, which has the initial
// states.
#include <cctype>
#include <map>

#include "../core/support.hpp"
#include "markov/hmm.hpp"

using namespace support;

namespace {

constexpr int states = 3, symbols = 27;

std::vector<std::vector<double>> pages() {
  std::ifstream file(BAYES_TEST_DATA "/tutorial.tsv");
  BOOST_REQUIRE(file);
  std::vector<std::vector<double>> out;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    out.emplace_back();
    for (const char letter : line.substr(line.rfind('\t') + 1)) {
      const int c = std::tolower(static_cast<unsigned char>(letter)),
                symbol = c >= 'a' && c <= 'z' ? c - 'a' : symbols - 1;
      if (symbol < symbols - 1 || out.back().empty() || out.back().back() != symbol)
        out.back().push_back(symbol);
    }
  }
  return out;
}

bayes::Sequences store(const std::vector<std::vector<double>> &from, bayes::MemoryRows &rows) {
  bayes::Sequences out{rows, 1};
  bayes::SequenceWriter writer(out, rows.shape(),
                               [&rows](const double *x, double weight) { rows.append(x, weight); });
  for (const auto &sequence : from) {
    writer.begin(std::int64_t(sequence.size()), 1);
    for (const double x : sequence) writer.step(&x);
  }
  return out;
}

double near(double a, double b) { return std::abs(a - b) / std::max(1.0, std::abs(b)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(hmm_peers)

BOOST_AUTO_TEST_CASE(letters_as_ghmm) {
  std::ifstream file(BAYES_TEST_DATA "/../statistics/reference/hmm_ghmm.csv");
  BOOST_REQUIRE(file);
  std::map<std::string, std::vector<double>> theirs;
  std::string line, what, index, value;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::getline(in, what, ',');
    std::getline(in, index, ',');
    std::getline(in, value, ',');
    theirs[what].push_back(std::stod(value));
  }
  BOOST_REQUIRE_EQUAL(theirs["path"].size(), 20u);
  BOOST_REQUIRE_EQUAL(theirs["emission"].size(), std::size_t(states * symbols));
  BOOST_REQUIRE_EQUAL(theirs["transition"].size(), std::size_t(states * states));
  BOOST_REQUIRE_EQUAL(theirs["initial"].size(), std::size_t(states));
  for (const char *once : {"start", "fit"}) BOOST_REQUIRE_EQUAL(theirs[once].size(), 1u);

  std::vector<std::string> names;
  for (int v = 0; v < symbols; ++v)
    names.push_back(v < symbols - 1 ? std::string(1, char('a' + v)) : "~");
  Tensor initial{{states}, {}}, transitions{{states, states}, {}};
  Document::List emissions;
  for (int i = 0; i < states; ++i) {
    initial.values.push_back((i + 1) / 6.0);
    double sum = 0, moves = 0;
    for (int v = 0; v < symbols; ++v) sum += 1 + (v * (i + 2) + i) % 7;
    for (int j = 0; j < states; ++j) moves += 1 + (2 * i + j) % 3;
    for (int j = 0; j < states; ++j) transitions.values.push_back((1 + (2 * i + j) % 3) / moves);
    Document own = Document::object();
    for (int v = 0; v < symbols; ++v)
      own.set(names[std::size_t(v)], (1 + (v * (i + 2) + i) % 7) / sum);
    emissions.push_back(std::move(own));
  }
  bayes::MemoryRows rows({1, true});
  const auto text = pages();
  bayes::Sequences all = store(text, rows);
  bayes::Control control;
  const auto fit = [&](int iterations) {
    Document init = Document::object();
    init.set("initial", initial).set("transitions", transitions).set("probabilities", emissions);
    Document options = Document::object();
    options.set("method", "em")
        .set("max_iter", iterations)
        .set("tol", 0)
        .set("minimum", 1e-12)
        .set("init", init);
    return bayes::hmm_fit(all, names, states, options, bayes::SequenceElements::symbols, false,
                          nullptr, false, control);
  };

  const auto start = fit(0);
  BOOST_TEST(near(start->info.log_likelihood, theirs["start"][0]) < 1e-10);
  BOOST_REQUIRE_EQUAL(text.size(), theirs["path"].size());
  for (std::size_t page = 0; page < text.size(); ++page) {
    bayes::MemoryRows own({1, true});
    bayes::Sequences one = store({text[page]}, own);
    BOOST_TEST(near(start->decode(one, control).log_probability, theirs["path"][page]) < 1e-10);
  }

  const auto fitted = fit(50);
  BOOST_TEST(near(fitted->info.log_likelihood, theirs["fit"][0]) < 1e-9);
  for (int i = 0; i < states; ++i)
    BOOST_TEST(std::abs(fitted->state_at(i).initial - theirs["initial"][std::size_t(i)]) < 1e-7);
  int moves = 0;
  fitted->transitions([&](const bayes::HmmTransition &t) {
    ++moves;
    BOOST_TEST(std::abs(t.probability - theirs["transition"][std::size_t(t.from * states + t.to)]) <
               1e-7);
  });
  BOOST_TEST(moves == states * states);
  std::size_t at = 0;
  fitted->emissions([&](const bayes::HmmEmission &e) {
    BOOST_TEST(std::abs(e.probability - theirs["emission"].at(at++)) < 1e-7);
  });
  BOOST_TEST(at == theirs["emission"].size());
}

BOOST_AUTO_TEST_SUITE_END()
