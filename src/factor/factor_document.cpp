// Keys of a table: memory and serialisation.
#include "base/control.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "factor/factor_table.hpp"

namespace bayes {

double Keys::bytes() const {
  double out = double(sizeof(std::string)) * double(size());
  const std::size_t inside = std::string().capacity();
  WorkPoll poll;
  for (const std::string &key : *keys_) {
    if (key.size() > inside) out += double(key.capacity()) + 1 + 2 * sizeof(void *);
    poll(1);
  }
  return out;
}

void Keys::remove(const std::vector<char> &marked) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keys_->size(); ++i)
    if (!marked[i]) std::swap((*keys_)[kept++], (*keys_)[i]);
  keys_->resize(kept);
}

Document write_keys(const std::vector<std::string> &keys) {
  Document::List out;
  out.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    poll_in_loop(i);
    out.emplace_back(keys[i]);
  }
  return out;
}

std::vector<std::string> read_keys(const MemberReader &side, bool sorted) {
  std::vector<std::string> out =
      sorted ? side.rising_texts("keys", "key") : side.texts("keys", "key");
  if (out.size() > std::size_t(factor_max_keys))
    side.reject("keys", message("must be an array of at most {} keys", factor_max_keys));
  return out;
}

}  // namespace bayes
