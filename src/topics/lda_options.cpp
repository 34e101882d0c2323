#include "topics/lda_options.hpp"

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "topics/lda_state.hpp"

namespace bayes {
namespace {

constexpr double max_prior = 1e6;

[[noreturn]] void reject(const char *key, const Document &given, const std::string &must) {
  throw Error(Errc::invalid_argument,
              message("option \"prior.{}\" is {}, but must be {}", key, describe(given), must));
}

void read_alpha(const Document &given, LdaOptions &o) {
  const std::string must = message(
      "a number greater than 0, an array of {} of them, \"symmetric\" or \"asymmetric\"", o.k);
  o.alpha.reset();
  if (const auto *const name = given.as<std::string>()) {
    if (*name != "symmetric" && *name != "asymmetric") reject("alpha", given, must);
    o.learn_alpha = *name == "symmetric" ? Learned::symmetric : Learned::asymmetric;
    return;
  }
  if (const auto number = to_number(given, false))
    o.alpha = Tensor{{}, {*number}};
  else if (auto numbers = to_tensor(given, false))
    o.alpha = std::move(*numbers);
  if (!o.alpha || (!o.alpha->shape.empty() && o.alpha->shape != std::vector<std::int64_t>{o.k}))
    reject("alpha", given, must);
  for (const double a : o.alpha->values)
    if (!(a > 0 && a <= max_prior))
      throw Error(Errc::invalid_argument,
                  message("option \"prior.alpha\" contains {}, but must be greater than 0 and at "
                          "most {}",
                          describe(a), describe_number(max_prior)));
}

Document write_alpha(const LdaOptions &o) {
  if (!o.alpha) return o.learn_alpha == Learned::symmetric ? "symmetric" : "asymmetric";
  return o.alpha->shape.empty() ? Document(o.alpha->values[0]) : Document(*o.alpha);
}

void read_eta(const Document &given, LdaOptions &o) {
  o.eta.reset();
  if (const auto *const name = given.as<std::string>(); name && *name == "learned") return;
  const auto number = to_number(given, false);
  if (!number || !(*number > 0 && *number <= max_prior))
    reject("eta", given, "a number greater than 0, or \"learned\"");
  o.eta = *number;
}

/// Null, or as many objects {"term": pseudo-count, ...} as topics, some of them null.
void read_terms(const Document &given, LdaOptions &o) {
  const std::string must = message(
      "an array of {} objects {\"term\": pseudo-count, ...}, or null for a topic without", o.k);
  const auto *const list = given.as<Document::List>();
  if (!list || list->size() != std::size_t(o.k)) reject("terms", given, must);
  for (const Document &topic : *list) {
    if (topic.is_null()) continue;
    const auto *const object = topic.as<Document::Object>();
    if (!object) reject("terms", given, must);
    for (const auto &[term, value] : *object) {
      const auto count = to_number(value, false);
      if (!count || !(*count > 0 && *count <= 1e9))
        throw Error(Errc::invalid_argument,
                    message("option \"prior.terms\" has {} for term {} of topic {}, but "
                            "pseudo-counts must be greater than 0 and at most 1000000000",
                            describe(value), describe(term), 1 + (&topic - list->data())));
    }
  }
  o.terms = given;
}

void prior_lines(OptionTable &t, LdaOptions &o) {
  const bool topics = o.method != Method::em;  // topics of em have no prior
  t.other(
      {"alpha", "Dirichlet parameters of the proportions",
       "a number, k numbers, \"symmetric\" or \"asymmetric\""},
      [&](const Document &given) { read_alpha(given, o); }, [&] { return write_alpha(o); });
  t.other(
      {"eta", "Dirichlet parameter of the topics", "a number, or \"learned\""},
      [&](const Document &given) { read_eta(given, o); },
      [&] { return o.eta ? Document(*o.eta) : Document("learned"); }, topics);
  t.other(
      {"terms", "pseudo-counts of terms in topics", "an array of k objects"},
      [&](const Document &given) { read_terms(given, o); }, [&] { return o.terms; }, topics);
}

void read_prior(const Document &given, bool inherited, LdaOptions &o) {
  OptionTable t = OptionTable::reading(given, "prior.");
  prior_lines(t, o);
  if (!inherited) t.finish(o.setting());
}

Document write_prior(LdaOptions &o) {
  OptionTable t = OptionTable::writing();
  prior_lines(t, o);
  return t.document();
}

void read_vocabulary(const Document &given, LdaOptions &o) {
  const auto *const list = given.as<Document::List>();
  if (!list || list->empty() || list->size() > std::size_t(lda_max_terms))
    throw Error(Errc::invalid_argument,
                message("option \"vocabulary\" is {}, but must be an array of 1 to {} terms",
                        describe(given), lda_max_terms));
  for (const Document &each : *list) {
    const auto *const term = each.as<std::string>();
    if (!term)
      throw Error(
          Errc::invalid_argument,
          message("option \"vocabulary\" contains {}, but terms are strings", describe(each)));
    o.documents.vocabulary.push_back(*term);
  }
}

void lines(OptionTable &t, LdaOptions &o) {
  o.method_line(t, lda_methods);
  o.iteration_lines(t, 1000);
  o.chains.stored_line(t, o.sampled());
  o.restart_line(t, o.update || o.sampled());
  t.seed(seed_key, o.seed);
  time_lines(t, o);
  t.either(on_error_key, o.null_on_error, "error", "null");
  o.plan_lines(t);
  LdaRowOptions &rows = o.documents;
  t.integer({"min_documents", "terms in fewer documents are left out"}, rows.min_documents, 1,
            1000000000);
  t.number({"max_share", "terms in a larger share of the documents are left out"}, rows.max_share,
           above(0, 1));
  t.integer({"max_terms", "the most terms, the most frequent ones; 0: all"}, rows.max_terms, 0,
            lda_max_terms);
  t.other(
      {"vocabulary", "the terms; all others are left out", "an array of terms", "all terms"},
      [&](const Document &given) { read_vocabulary(given, o); },
      [&] {
        return rows.vocabulary.empty()
                   ? Document()
                   : Document(Document::List(rows.vocabulary.begin(), rows.vocabulary.end()));
      });
  o.prior_line(
      t, [&](const Document &given, bool inherited) { read_prior(given, inherited, o); },
      [&] { return write_prior(o); }, !o.update);
}

}  // namespace

LdaOptions read_lda_options(int k, const Document &options, const TopicModel *start, bool update) {
  require_components({&k, 1}, lda_max_topics);
  require_object(options, "{\"method\": \"svi\", \"seed\": 2}");
  LdaOptions out;
  out.k = k;
  if (start) out.inherit(start->info, update);
  out.restarts = 0;
  out.plan.batch_rows = 256;
  // Several chains tend to end in different modes; averaging over these would blur the topics.
  out.chains.chains = 1;
  out.chains.draws = 500;
  out.chains.warmup = 250;
  if (update && !is_variational(out.method))
    throw Error(Errc::invalid_argument,
                message("this model cannot be updated: it was fitted by method {}", out.method),
                "Only methods vi and svi leave a posterior that can be the prior of more "
                "documents.",
                "Fit with option method \"vi\" or \"svi\".");
  if (update) {
    // The prior is the posterior of the model, and is not learned.
    out.alpha = Tensor{{k}, start->alpha()};
    out.eta = start->eta();
  }
  OptionTable t = OptionTable::reading(options);
  lines(t, out);
  t.finish(out.setting());
  out.documents.whole_counts = out.sampled();
  return out;
}

Document LdaOptions::document() const {
  LdaOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  lines(t, in_force);
  return t.document();
}

DrawnPrior LdaOptions::drawn() const {
  return {!alpha && learn_alpha != Learned::no, learn_alpha == Learned::symmetric,
          !eta && learn_eta};
}

LdaRowOptions lda_check_options(int k, const Document &options, const TopicModel *start,
                                bool update) {
  return read_lda_options(start ? start->size() : k, options, start, update).documents;
}

}  // namespace bayes
