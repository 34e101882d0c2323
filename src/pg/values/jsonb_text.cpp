#include "pg/values/jsonb_text.hpp"

#include "base/message.hpp"
#include "document/document.hpp"

namespace bayes::pg {
namespace {

class JsonbWriter {
 public:
  std::string text(JsonbContainer *root) {
    JsonbIterator *iterator = guarded([root] { return JsonbIteratorInit(root); });
    bool is_scalar = false;
    for (std::size_t i = 0;; ++i) {
      poll_in_loop(i);
      require_size(0);
      JsonbValue value;
      switch (next(&iterator, &value)) {
        case WJB_BEGIN_ARRAY:
          // A scalar is stored as an array of one element.
          is_scalar |= value.val.array.rawScalar;
          open(is_scalar ? "" : "[");
          break;
        case WJB_BEGIN_OBJECT: open("{"); break;
        case WJB_KEY:
          add(value);
          out_ += ": ";
          first_ = true;
          break;
        case WJB_VALUE:
        case WJB_ELEM: add(value); break;
        case WJB_END_ARRAY: close(is_scalar ? "" : "]"); break;
        case WJB_END_OBJECT: close("}"); break;
        case WJB_DONE: return std::move(out_);
      }
    }
  }

 private:
  static JsonbIteratorToken next(JsonbIterator **iterator, JsonbValue *value) {
    return guarded([iterator, value] { return JsonbIteratorNext(iterator, value, false); });
  }
  void separate() {
    if (!first_) out_ += ", ";
  }
  void open(const char *bracket) {
    separate();
    out_ += bracket;
    first_ = true;
  }
  void close(const char *bracket) {
    out_ += bracket;
    first_ = false;
  }

  /// Throws Error(too_large) if the text, and this much more, is larger than a value of
  /// PostgreSQL: numbers of a small jsonb may have a hundred thousand digits.
  void require_size(std::size_t more) const {
    constexpr std::size_t most = MaxAllocSize;
    if (out_.size() > most || more > most - out_.size())
      throw Error(Errc::too_large, message("a jsonb has more than {} bytes of text", most));
  }

  void add(const JsonbValue &value) {
    separate();
    first_ = false;
    switch (value.type) {
      case jbvNull: out_ += "null"; break;
      case jbvBool: out_ += value.val.boolean ? "true" : "false"; break;
      case jbvNumeric: {
        const Numeric numeric = value.val.numeric;
        char *const digits = guarded([numeric] {
          return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(numeric)));
        });
        out_ += digits;
        pfree(digits);
        break;
      }
      case jbvString:
        require_size(std::size_t(value.val.string.len));
        append_json(out_, {value.val.string.val, std::size_t(value.val.string.len)});
        break;
      default: throw Error(Errc::internal, "a jsonb has a value of an unknown type");
    }
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string text_of_jsonb(JsonbContainer *root) { return JsonbWriter().text(root); }

}  // namespace bayes::pg
