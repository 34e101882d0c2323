// What every fitted model has in common: how it was fitted, its trace, and its byte and document forms.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api.hpp"
#include "core/document.hpp"

namespace bayes {

inline constexpr int model_format = 1;           ///< the version of the byte form; newer code reads all older ones
BAYES_API extern const char *const library_version;  ///< the version of pg_bayes that made a model

/// One row of bayes_info().
struct ModelInfo {
  std::string family;           ///< "gmm", ...
  std::string method;
  std::int64_t rows = 0;        ///< rows used
  std::int64_t skipped = 0;     ///< rows left out: NULL, weight 0, missing element with missing = skip
  int dimension = 0;
  int components = 0;
  int iterations = 0;           ///< of the restart that was kept
  bool converged = false;
  double objective = 0;         ///< what the method maximises, with all constants
  double log_likelihood = 0;    ///< at the point estimate that the model reports
  std::int64_t seed = 0;
  double seconds = 0;
  std::string version = library_version;
  Document options;             ///< every option in force, defaults included
};

/// Posterior draws of quantities that do not depend on how components are numbered: one row of bayes_draws() for each value.
struct Draws {
  std::vector<std::string> quantities;  ///< "clusters", "log_joint", ...; empty: the model has no draws
  int chains = 0;
  int draws = 0;                        ///< of every chain, warmup aside
  std::vector<double> values;           ///< [chain][draw][quantity]
};

class Model;

/// Reads a model of one family; the common members of the document are known to be good (read_model_info).
using ModelReader = std::unique_ptr<Model> (*)(const Document &);
/// The reader of a family, nullptr if there is no such family. The families are listed in models/registry.cpp.
BAYES_API ModelReader find_model_reader(std::string_view family);

/// The members that every family has, checked: throws Error(invalid_text) that names the member that cannot be.
BAYES_API ModelInfo read_model_info(const Document &document);

class BAYES_API Model {
 public:
  virtual ~Model() = default;
  ModelInfo info;
  std::vector<std::vector<double>> trace;  ///< [restart][iteration] objective
  Draws draws;

  /// The whole model. The same model always gives the same document.
  Document to_document() const;
  /// Checks everything: throws Error(invalid_text) that names the member that cannot be. `find_reader` finds the family.
  static std::unique_ptr<Model> from_document(const Document &document,
                                              ModelReader (*find_reader)(std::string_view) = find_model_reader);

  /// The byte form: magic, format, a 128-bit fingerprint of what follows, the document.
  std::string to_bytes() const;
  /// Checks everything: throws Error(invalid_binary).
  static std::unique_ptr<Model> from_bytes(std::string_view bytes,
                                           ModelReader (*find_reader)(std::string_view) = find_model_reader);

 protected:
  virtual void write(Document &document) const = 0;  ///< the family's own members
};

/// The bytes at the start of a model's byte form that identify its content: equal headers, equal models.
/// Models that differ by chance have different headers; who wants to can make two models with one header, as the fingerprint
/// is no cryptographic one.
inline constexpr int model_header_bytes = 24;

/// Writes the header that fits to what stands behind it over the first model_header_bytes of `bytes`, which must have as many.
BAYES_API void seal_model(std::string &bytes);

}  // namespace bayes
