#include "pg/input/table_keys.hpp"

#include <algorithm>

#include "base/message.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

/// Integers below this, or this plus a multiple of the number of keys, are looked up in an array,
/// without their text.
constexpr std::int64_t small_key_limit = 16384;

/// The first 8 bytes of a text as a number: where these numbers differ, they have the order of the
/// texts.
std::uint64_t beginning(std::string_view text) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < sizeof out; ++i)
    out = out << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
  return out;
}

void refuse_key(const char *side, TermDictionary::Excess excess, std::string_view key,
                const std::string &place) {
  constexpr const char *shorter_hint =
      "A key is the name of a row or column. Use a shorter one, such as md5(key).";
  switch (excess) {
    case TermDictionary::Excess::length:
      throw Error(Errc::too_large,
                  message("a {} key is {} bytes long, but the limit is {}", side, key.size(),
                          max_term_bytes),
                  message("It begins with \"{}\"{}", abbreviated(key), place), shorter_hint);
    case TermDictionary::Excess::number:
      throw Error(Errc::too_large, message("table has more than {} {} keys", factor_max_keys, side),
                  "A model holds numbers for every key.");
    case TermDictionary::Excess::bytes:
      throw Error(Errc::too_large,
                  message("distinct {} keys take more than {} MB", side, max_read_bytes >> 20),
                  "A model holds every key.", shorter_hint);
  }
}

}  // namespace

TableKeys::TableKeys(MemoryContext context, Side side)
    : side_(side),
      type_(context),
      dictionary_(factor_max_keys, [this](TermDictionary::Excess excess, std::string_view key) {
        refuse_key(this->side(), excess, key, place_());
      }) {}

std::int32_t TableKeys::number(Datum key) {
  switch (type_.base()) {
    case INT2OID: return small_number(DatumGetInt16(key));
    case INT4OID: return small_number(DatumGetInt32(key));
    case INT8OID: return small_number(DatumGetInt64(key));
    default: break;
  }
  const auto text = type_.text(key);
  if (!text) return -1;
  // Consecutive cells often belong to the same row.
  if (last_ < 0 || dictionary_.term(last_) != *text) last_ = dictionary_.number(*text);
  return last_;
}

std::int32_t TableKeys::small_number(std::int64_t key) {
  const bool small = key >= 0 && key < small_key_limit + 8 * std::int64_t(dictionary_.size());
  const std::size_t at = std::size_t(key);
  if (small && at < small_.size() && small_[at] >= 0) return small_[at];
  const std::int32_t number = dictionary_.number(type_.text_of_integer(key));
  if (small) {
    if (at >= small_.size()) small_.resize(std::max(at + 1, 2 * small_.size()), -1);
    small_[at] = number;
  }
  return number;
}

double TableKeys::bytes() const {
  constexpr double of_key = sizeof(std::string);
  return named() ? of_key * dictionary_.size() + 2 * dictionary_.bytes() : of_key * counted_;
}

std::string TableKeys::name(std::int32_t number) const {
  return named() ? message("{} \"{}\"", side(), abbreviated(dictionary_.term(number)))
                 : message("{} {}", side(), number + 1);
}

void TableKeys::each(const std::function<void(std::string_view key)> &f) const {
  for (std::int32_t i = 0; i < dictionary_.size(); ++i) {
    poll_in_loop(std::size_t(i));
    f(dictionary_.term(i));
  }
}

std::vector<std::string> TableKeys::arrange(std::vector<std::int32_t> &places) {
  const std::size_t n = std::size_t(size());
  places.resize(n);
  std::vector<std::string> keys;
  keys.reserve(n);
  if (!named()) {
    for (std::size_t i = 0; i < n; ++i) {
      poll_in_loop(i);
      places[i] = std::int32_t(i);
      keys.push_back(std::to_string(i + 1));
    }
    return keys;
  }
  struct Key {
    std::uint64_t beginning;
    std::int32_t number;
  };
  std::vector<Key> order;
  order.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    order.push_back({beginning(dictionary_.term(std::int32_t(i))), std::int32_t(i)});
  WorkPoll poll;
  std::sort(order.begin(), order.end(), [this, &poll](const Key &a, const Key &b) {
    poll(8);
    return a.beginning != b.beginning ? a.beginning < b.beginning
                                      : dictionary_.term(a.number) < dictionary_.term(b.number);
  });
  for (std::size_t i = 0; i < n; ++i) {
    poll_in_loop(i);
    places[std::size_t(order[i].number)] = std::int32_t(i);
    keys.emplace_back(dictionary_.term(order[i].number));
  }
  counted_ = std::int32_t(n);
  named_ = InvalidOid;
  last_ = -1;
  dictionary_ = TermDictionary(0, {});
  small_.clear();
  return keys;
}

}  // namespace bayes::pg
