// The families of stored models, one line each.
#include "classification/nb.hpp"
#include "conjugate/conjugate.hpp"
#include "conjugate/dirichlet_categorical.hpp"
#include "document/model.hpp"
#include "factor/nmf.hpp"
#include "factor/pmf.hpp"
#include "markov/hmm.hpp"
#include "mixture/bmm.hpp"
#include "mixture/dpmm.hpp"
#include "mixture/gmm.hpp"
#include "questions/conditional_model.hpp"
#include "regression/glm.hpp"
#include "regression/linreg.hpp"
#include "topics/lda.hpp"

namespace bayes {
namespace {

struct Family {
  std::string_view name;
  ModelReader read;
};

constexpr Family families[] = {
    {"gmm", read_gaussian_mixture},
    {"bmm", read_bernoulli_mixture},
    {"dpmm", read_dirichlet_process_mixture},
    {"hmm", read_hidden_markov_model},
    {"lda", read_topic_model},
    {"nmf", read_nmf_model},
    {"pmf", read_pmf_model},
    {"glm", read_glm},
    {"logreg", read_logistic_regression},
    {"probit", read_probit_regression},
    {"linreg", read_linreg_model},
    {"nb", read_bayes_classifier},
    {"conditional", read_conditional_model},
    {"beta_bernoulli", read_beta_bernoulli},
    {"dirichlet_categorical", read_dirichlet_categorical},
    {"gamma_poisson", read_gamma_poisson},
    {"normal_inverse_gamma", read_normal_inverse_gamma},
};

}  // namespace

ModelReader find_model_reader(std::string_view family) {
  for (const Family &candidate : families)
    if (candidate.name == family) return candidate.read;
  return nullptr;
}

}  // namespace bayes
