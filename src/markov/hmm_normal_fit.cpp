#include "markov/hmm_family_fit.hpp"

namespace bayes {

std::unique_ptr<HiddenMarkovModel> fit_normal_hmm(const HmmTask &task) {
  return HmmFit<NormalEmissions>(task).run();
}

}  // namespace bayes
