#include "pg/models/sums_parts.hpp"

namespace bayes::pg {
namespace {

const RegisterKind<SumsInParts<LinregSumsPart>> linreg_in_parts;
const RegisterKind<SumsInParts<NbSumsPart>> nb_in_parts;

}  // namespace
}  // namespace bayes::pg
