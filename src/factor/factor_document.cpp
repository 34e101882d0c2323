#include "factor/factor_document.hpp"

#include "base/control.hpp"
#include "base/message.hpp"
#include "factor/factor_table.hpp"

namespace bayes {

Document written_keys(const std::vector<std::string> &keys) {
  Document::List out;
  out.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    poll_in_loop(i);
    out.emplace_back(keys[i]);
  }
  return out;
}

std::vector<std::string> read_keys(const MemberReader &side) {
  const auto *const list = side.value("keys").as<Document::List>();
  if (!list || list->empty() || list->size() > std::size_t(factor_max_keys))
    side.reject("keys", message("must be an array of 1 to {} keys", factor_max_keys));
  std::vector<std::string> out;
  out.reserve(list->size());
  for (const Document &each : *list) {
    poll_in_loop(out.size());
    const auto *const key = each.as<std::string>();
    if (!key) side.reject("keys", message("contains {}, which is no key", describe(each)));
    out.push_back(*key);
  }
  return out;
}

}  // namespace bayes
