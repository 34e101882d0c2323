#include "pg/input/remote_sequences.hpp"

#include <memory>
#include <utility>

#include "pg/input/remote_collected_rows.hpp"

namespace bayes::pg {

bool is_array_of_records(Oid type) {
  const Oid element = guarded([type] { return get_element_type(getBaseType(type)); });
  return is_record_type(element);
}

Document PushedSequences::keep() {
  Document out = pass_request("keep");
  out.set("kind", "sequences").set("family", request_.family).set("k", request_.k);
  out.set("ks", Document::List(request_.ks.begin(), request_.ks.end()));
  out.set("options", request_.options);
  if (request_.start) out.set("start", request_.start->to_document());
  return out;
}

Document PushedSequences::settle() {
  Document::List symbols;
  for (const std::string &symbol : collector().number_symbols()) symbols.emplace_back(symbol);
  Document out = pass_request("settle");
  out.set("symbols", std::move(symbols));
  return out;
}

void PushedSequences::take(PushedRows &rows) {
  const RowShape shape = {collector().sequences().dimension, true};
  collector().take_parts(
      std::make_unique<RemoteCollectedRows>(rows, shape, std::vector<std::string>()));
}

}  // namespace bayes::pg
