#include "markov/hmm_family_fit.hpp"

namespace bayes {

std::unique_ptr<HiddenMarkovModel> fit_product_hmm(const HmmTask &task) {
  return HmmFit<ProductEmissions>(task).run();
}

}  // namespace bayes
