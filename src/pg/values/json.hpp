// JSON and Documents.
#pragma once

#include "document/document.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Reads JSON text, a C string, with PostgreSQL's own parser. Numbers without fraction and exponent
/// become integers, others doubles; arrays of numbers that are rectangular become tensors; inside
/// them the strings "NaN", "Infinity", "-Infinity" and "-0" are numbers too. A Document written as
/// JSON is read back as the same Document. Takes a small multiple of the text's size. Throws
/// Error(invalid_text) for text that is no JSON, is nested deeper than 32, repeats a key, or has
/// more than a million values apart from numbers in tensors; Error(numeric) for a number beyond
/// doubles.
Document document_of_json(const char *text);

/// The same for a jsonb, in any varlena form.
Document document_of_jsonb(Datum jsonb);

/// A Document as jsonb.
Datum jsonb_of(const Document &document);

}  // namespace bayes::pg
