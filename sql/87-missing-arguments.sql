-- Calls that lack an argument. Their errors say which one; otherwise PostgreSQL would only report
-- that the function does not exist.

CREATE FUNCTION _bayes_no_number_transition(state internal, x "any") RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_no_number_transition' @immutable;
COMMENT IS 'Internal. Raises 42883: the number of components is missing.';

DEFINE @no_number =
  'Always raises error 42883: the number of components, states, topics or factors is missing.';
CREATE AGGREGATE gmm_fit(x "any") (
  SFUNC = _bayes_no_number_transition, @state, FINALFUNC = _gmm_fit_final
);
COMMENT IS @no_number;
CREATE AGGREGATE bmm_fit(x "any") (
  SFUNC = _bayes_no_number_transition, @state, FINALFUNC = _bmm_fit_final
);
COMMENT IS @no_number;
CREATE AGGREGATE hmm_fit(sequence "any") (
  SFUNC = _bayes_no_number_transition, @state, FINALFUNC = _hmm_fit_final
);
COMMENT IS @no_number;
CREATE AGGREGATE lda_fit(document "any") (
  SFUNC = _bayes_no_number_transition, @state, FINALFUNC = _lda_fit_final
);
COMMENT IS @no_number;
CREATE AGGREGATE nmf_fit(x "any") (
  SFUNC = _bayes_no_number_transition, @state, FINALFUNC = _nmf_fit_final
);
COMMENT IS @no_number;

DEFINE @no_row = 'Always raises error 42883: the row to predict is missing.';
CREATE FUNCTION gmm_predict(model bayes_model) RETURNS int
  AS 'MODULE_PATHNAME', 'bayes_no_row' @immutable;
COMMENT IS @no_row;
CREATE FUNCTION bmm_predict(model bayes_model) RETURNS int
  AS 'MODULE_PATHNAME', 'bayes_no_row' @immutable;
COMMENT IS @no_row;
CREATE FUNCTION dpmm_predict(model bayes_model) RETURNS int
  AS 'MODULE_PATHNAME', 'bayes_no_row' @immutable;
COMMENT IS @no_row;
CREATE FUNCTION nb_predict(model bayes_model) RETURNS text
  AS 'MODULE_PATHNAME', 'bayes_no_row' @immutable;
COMMENT IS @no_row;
CREATE FUNCTION bayes_predict(model bayes_model) RETURNS int
  AS 'MODULE_PATHNAME', 'bayes_no_row' @immutable;
COMMENT IS @no_row;
