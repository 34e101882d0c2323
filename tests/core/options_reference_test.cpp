// docs/options.md: every option of every fit, by method, as the option tables declare it. Defaults
// must be those in force. With UPDATE_DOCS in the environment the file is written, else it must be
// what this makes.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "classification/nb.hpp"
#include "classification/nb_options.hpp"
#include "document/members.hpp"
#include "factor/nmf_learners.hpp"
#include "factor/pmf_state.hpp"
#include "markov/hmm_state.hpp"
#include "mcmc/metropolis.hpp"
#include "mixture/bmm_bootstrap.hpp"
#include "mixture/bmm_options.hpp"
#include "mixture/dpmm_options.hpp"
#include "mixture/gmm_options.hpp"
#include "questions/dependence.hpp"
#include "regression/glm.hpp"
#include "regression/glm_learners.hpp"
#include "regression/linreg.hpp"
#include "regression/linreg_state.hpp"
#include "topics/lda_state.hpp"

using namespace bayes;

namespace {

const char *const head =
    R"(<!-- Made by tests/core/options_reference_test.cpp from the options that src declares. -->

# Options of fits

Every option of every fit: the methods that have it, its values, its default and what it sets. A
default may differ between methods. *By the data*: the fit finds it when it has read its rows, and
shows it in the `options` of `bayes_info`. *See its page*: the page named above the table has it.
Keys of the prior are members of option `prior`: `{"prior": {"alpha": 2}}`. A fit that starts from
a model has fewer options, and inherits some ([rows.md](rows.md#from-a-model-to-the-next)). A query
text has `id`, `weight` and `push_down` besides ([gmm.md](gmm.md), [scale.md](scale.md)). An option
that does not exist, or not for the method, is an error that names those that are near.
)";

struct Family {
  const char *title, *page, *about;
  std::span<const Method> methods;
  /// reads options; returns those in force
  std::function<Document(const Document &options)> read;
  /// options under which there are more
  std::vector<Document> settings = {};
};

const int two[] = {2};

Document with(const char *key, Document value) {
  return Document::object().set(key, std::move(value));
}

const Family families[] = {
    {"gmm: Gaussian mixtures",
     "gmm",
     "",
     gmm_methods,
     [](const Document &o) { return read_gmm_options(two, o, nullptr, false, false).document(); },
     {with("prior", with("type", "independent"))}},
    {"bmm: mixtures of independent columns",
     "bmm",
     "Keys of the prior are those of likelihood `bernoulli`; bmm.md has those of the others.",
     bmm_methods,
     [](const Document &o) { return read_bmm_options(two, o, nullptr, false).document(); },
     {with("likelihood", "categorical")}},
    {"dpmm: Dirichlet process mixtures", "dpmm",
     "Keys of the prior are those of normal rows; dpmm.md has those of other likelihoods.",
     dpmm_methods, [](const Document &o) { return read_dpmm_options(o).document(); }},
    {"hmm: hidden Markov models of numbers and vectors", "hmm", "", hmm_methods,
     [](const Document &o) {
       return read_hmm_options(2, o, SequenceElements::numbers, true, nullptr, false).document();
     }},
    {"hmm: hidden Markov models of symbols", "hmm",
     "Option `emission` has other families too: hmm.md has the keys of their priors.", hmm_methods,
     [](const Document &o) {
       return read_hmm_options(2, o, SequenceElements::symbols, false, nullptr, false).document();
     }},
    {"lda: topic models", "lda", "", lda_methods,
     [](const Document &o) { return read_lda_options(2, o, nullptr, false).document(); }},
    {"nmf: non-negative matrix factorization",
     "nmf",
     "`prior.h` is a key with option `hierarchical`.",
     nmf_methods,
     [](const Document &o) { return read_nmf_options(2, o, nullptr).document(); },
     {with("hierarchical", true)}},
    {"pmf: probabilistic matrix factorization", "pmf", "", pmf_methods,
     [](const Document &o) { return read_pmf_options(2, o).document(); }},
    {"linreg: linear regression", "linreg", "", linreg_methods,
     [](const Document &o) { return LinregOptions::read(o).document(); }},
    {"glm: generalized linear models",
     "regression",
     "Keys are those of response `negative_binomial`, of `binomial`, of `student_t` and of "
     "`ordinal`.",
     glm_methods,
     [](const Document &o) {
       Document given = o.is_null() ? Document::object() : o;
       if (given.as<Document::Object>() && !given.find("response"))
         given.set("response", "negative_binomial");
       return read_glm_options(GlmFamily::glm, given).document();
     },
     {with("response", "binomial"), with("response", "student_t"), with("response", "ordinal")}},
    {"logreg: logistic regression", "classification", "", logreg_methods,
     [](const Document &o) { return read_glm_options(GlmFamily::logreg, o).document(); }},
    {"probit: probit regression", "classification", "", probit_methods,
     [](const Document &o) { return read_glm_options(GlmFamily::probit, o).document(); }},
    {"nb: Bayes classifiers", "classification", "", nb_methods,
     [](const Document &o) { return read_nb_options(o).document(); }},
    {"mh_sample: Metropolis sampling of any density",
     "sampling",
     "",
     {},
     [](const Document &o) {
       MetropolisOptions::read(o, 1);
       return Document::object();
     }},
    {"bmm_bootstrap: the fit of a table of answers",
     "bmm",
     "",
     {},
     [](const Document &o) {
       read_bmm_bootstrap_options(o);
       return Document::object();
     }},
    {"bayes_mutual_information: dependence of columns",
     "questions",
     "",
     {},
     [](const Document &o) {
       read_dependence_options(o);
       return Document::object();
     }},
};

/// What the methods of a family say of an option.
struct Row {
  /// each text with the methods that say it, in the order of the methods
  std::vector<std::pair<std::string, std::vector<std::string>>> values, standards;
  std::vector<std::string> methods, meanings;
};

void add(std::vector<std::pair<std::string, std::vector<std::string>>> &to, const std::string &text,
         const std::string &method) {
  for (auto &[known, methods] : to)
    if (known == text) return methods.push_back(method);
  to.push_back({text, {method}});
}

std::string joined(const std::vector<std::string> &texts) {
  std::string out;
  for (const std::string &text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

/// The most frequent text, then the others with their methods.
std::string cell(std::vector<std::pair<std::string, std::vector<std::string>>> texts) {
  std::stable_sort(texts.begin(), texts.end(),
                   [](const auto &a, const auto &b) { return a.second.size() > b.second.size(); });
  std::string out = texts[0].first;
  for (std::size_t i = 1; i < texts.size(); ++i)
    out += message("; {}: {}", joined(texts[i].second), texts[i].first);
  return out;
}

/// A value as a default is shown; empty for lists and objects.
std::string shown(const Document &value) {
  if (const auto *const text = value.as<std::string>()) return message("\"{}\"", *text);
  if (const auto *const flag = value.as<bool>()) return *flag ? "true" : "false";
  const auto number = to_number(value, false);
  return number ? describe_number(*number) : "";
}

/// Where a default is shown as a value, it is the one in force, and no default in force is missing.
void check_default(const Family &family, const OptionLine &line, const Document &in_force) {
  const std::size_t dot = line.key.find('.');
  const Document *value = in_force.find(line.key.substr(0, dot));
  if (value && dot != std::string::npos) value = value->find(line.key.substr(dot + 1));
  // Method and response were given. A number of 0 restarts stands for one that is found later.
  if (!value || line.key == "method" || line.key == "response" || line.standard == "half of draws")
    return;
  const std::string own = shown(*value);
  if (own.empty() || (own == "0" && line.standard == "by the data")) return;
  BOOST_TEST(
      line.standard.substr(0, line.standard.find(';')) == own,
      line.key << " of " << family.title << " is shown as " << line.standard << ", but is " << own);
}

/// The options of a method, with the keys of the prior; empty if it does not have the setting.
std::vector<OptionLine> lines_of(const Family &family, const std::string &method,
                                 const Document &setting) {
  const auto listed = [&](bool prior) {
    const OptionListing listing;
    Document options = setting.is_null() ? Document::object() : setting;
    if (!method.empty()) options.set("method", method);
    if (prior && !options.find("prior")) options.set("prior", Document::object());
    try {
      const Document in_force = family.read(options);
      if (setting.is_null())
        for (const OptionLine &line : listing.lines) check_default(family, line, in_force);
    } catch (const Error &) {
      return std::vector<OptionLine>();
    }
    return listing.lines;
  };
  std::vector<OptionLine> out = listed(true);
  return out.empty() ? listed(false) : out;
}

std::string table_of(const Family &family) {
  std::vector<std::string> order, methods;
  for (const Method method : family.methods) methods.emplace_back(method_name(method));
  if (methods.empty()) methods.emplace_back();
  std::vector<Document> settings{Document()};
  settings.insert(settings.end(), family.settings.begin(), family.settings.end());
  std::map<std::string, Row> rows;
  for (const std::string &name : methods)
    for (const Document &setting : settings) {
      const std::vector<OptionLine> lines = lines_of(family, name, setting);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const OptionLine &line = lines[i];
        if (!rows.count(line.key)) {
          // After the option that precedes it here.
          const auto before =
              i == 0 ? order.begin() : std::find(order.begin(), order.end(), lines[i - 1].key) + 1;
          order.insert(before, line.key);
        }
        Row &row = rows[line.key];
        if (!row.methods.empty() && row.methods.back() == name) continue;
        add(row.values, line.values, name);
        add(row.standards, line.standard, name);
        row.methods.push_back(name);
        if (std::find(row.meanings.begin(), row.meanings.end(), line.meaning) == row.meanings.end())
          row.meanings.push_back(line.meaning);
        BOOST_TEST(!line.meaning.empty(), line.key << " of " << family.title << " has no meaning");
      }
    }
  const bool several = family.methods.size() > 1;
  std::string out =
      message("\n## {}\n\nMore in [{}.md]({}.md).\n", family.title, family.page, family.page);
  if (family.about[0]) out += message("{}\n", family.about);
  out += message("\n| Option | Values | Default |{} Sets |\n|---|---|---|{}---|\n",
                 several ? " Methods |" : "", several ? "---|" : "");
  for (const std::string &key : order) {
    const Row &row = rows[key];
    const bool all = row.methods.size() == methods.size();
    out += message("| `{}` | {} | {} |{} {} |\n", key, cell(row.values), cell(row.standards),
                   several ? message(" {} |", all ? "all" : joined(row.methods)) : "",
                   joined(row.meanings));
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options_reference)

BOOST_AUTO_TEST_CASE(the_page_of_options_is_what_the_options_declare) {
  std::string page = head;
  for (const Family &family : families) page += table_of(family);
  const std::string path = BAYES_TEST_DATA "/../../docs/options.md";
  if (std::getenv("UPDATE_DOCS")) std::ofstream(path, std::ios::binary) << page;
  std::ifstream file(path, std::ios::binary);
  const std::string there{std::istreambuf_iterator<char>(file), {}};
  BOOST_TEST((there == page),
             "docs/options.md is out of date: UPDATE_DOCS=1 SUITES="
             "options_reference tests/run core makes it anew");
}

/// The complaint about these options; empty if there is none.
std::string complaint(const Family &family, const std::string &method, const std::string &key,
                      Document value) {
  Document options = Document::object();
  if (!method.empty()) options.set("method", method);
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos)
    options.set(key, std::move(value));
  else
    options.set(key.substr(0, dot), with(key.substr(dot + 1).c_str(), std::move(value)));
  try {
    family.read(options);
  } catch (const Error &error) {
    BOOST_TEST((error.code() == Errc::invalid_argument), key << " of " << family.title);
    return error.what();
  }
  return "";
}

// Of every option of every method: what it cannot be is refused, and named.
BOOST_AUTO_TEST_CASE(every_option_refuses_what_it_cannot_be) {
  int refused = 0;
  for (const Family &family : families) {
    std::vector<std::string> methods;
    for (const Method method : family.methods) methods.emplace_back(method_name(method));
    if (methods.empty()) methods.emplace_back();
    for (const std::string &method : methods) {
      BOOST_TEST(complaint(family, method, "colour", 1) == "unknown option \"colour\"");
      for (const OptionLine &line : lines_of(family, method, Document())) {
        if (line.key == "method") continue;
        const std::string named = message("option \"{}\" ", line.key);
        int own = 0;
        for (const Document &value :
             {with("colour", "red"), Document("nonsense"), Document(true), Document(-1.5)}) {
          const std::string said = complaint(family, method, line.key, value);
          if (said.empty()) continue;
          ++own;
          // Of options that are objects the members are options, too.
          BOOST_TEST((said.starts_with(named) || said.find("colour") != std::string::npos),
                     line.key << " of " << family.title << ": " << said);
        }
        BOOST_TEST(own >= 2, line.key << " of " << family.title << " takes anything");
        refused += own;
      }
    }
  }
  BOOST_TEST(refused > 1500);
}

BOOST_AUTO_TEST_CASE(nothing_is_listed_once_a_listing_is_gone) {
  std::size_t lines;
  {
    const OptionListing listing;
    read_pmf_options(2, Document());
    lines = listing.lines.size();
  }
  BOOST_TEST(lines > 10u);
  read_pmf_options(2, Document());
  const OptionListing fresh;
  BOOST_TEST(fresh.lines.empty());
}

BOOST_AUTO_TEST_SUITE_END()
