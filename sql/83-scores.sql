-- How well models predict rows that they were not fitted to.

CREATE TYPE bayes_scores AS (
  rows bigint, skipped bigint, unit text, log_density float8, log_density_se float8, error float8,
  error_se float8, perplexity float8, perplexity_se float8
);
COMMENT ON TYPE bayes_scores IS
  'How well a model predicts rows, or a model less another one, and standard errors from the '
  'variation between the rows. rows: scored; skipped: left out; unit: what log_density is a mean '
  'over: row, or the token of documents, the step of sequences, the cell of tables; log_density: '
  'the mean natural logarithm of the predictive density or probability, for regressions and '
  'classifiers of the response or label given the row, for documents of the scored half given the '
  'other; error: the share of wrong labels for classifiers, the root of the mean squared error for '
  'regressions of numbers and factorizations, NULL for others; perplexity: exp(-log_density) for '
  'topic models, NULL for others. _se: standard errors, NULL for fewer than two rows and for an '
  'infinite log_density.';

DEFINE @score_rows =
  'A row that is NULL, or has a NULL among the arguments, or lacks a value that a model needs, is '
  'left out and counted in skipped; no rows give NULL. Every row is scored by the model in its '
  'arguments, as in cross-validation: GROUP BY model for the scores of several models. Errors: '
  '42804 for a family whose models cannot be scored, or whose rows have another form; 22023 for an '
  'invalid value; others as for the log density or prediction of a row of that family.';
DEFINE @score_differences =
  'The scores of model a less those of model b on the same rows, with standard errors of the '
  'paired differences: a is better if log_density is positive, clearly so if it exceeds two '
  'standard errors; error and perplexity are then negative. The models may be of different '
  'families if both take the same row: gmm, bmm and dpmm; nb, logreg and probit; nmf and pmf. Rows '
  'that one of the two cannot score are left out of both. error is NULL if the two do not measure '
  'it alike. ';
DEFINE @score_final =
  FINALFUNC = _bayes_score_final, MFINALFUNC = _bayes_score_final, @combine_sums,
  STYPE = internal, SSPACE = 1024, MSTYPE = internal, MSSPACE = 1024, PARALLEL = SAFE;
DEFINE @score_state =
  SFUNC = _bayes_score_transition, @score_final,
  MSFUNC = _bayes_score_transition, MINVFUNC = _bayes_score_inverse_transition;
DEFINE @difference_state =
  SFUNC = _bayes_score_difference_transition, @score_final,
  MSFUNC = _bayes_score_difference_transition,
  MINVFUNC = _bayes_score_difference_inverse_transition;

CREATE FUNCTION _bayes_score_transition(
  state internal, model bayes_model, x "any" [, argument1 "any" [, argument2 "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_score_transition' @immutable COST 100;
COMMENT IS 'Internal. Scores one row.';
CREATE FUNCTION _bayes_score_inverse_transition(
  state internal, model bayes_model, x "any" [, argument1 "any" [, argument2 "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_score_inverse_transition' @immutable COST 100;
COMMENT IS 'Internal. Takes away one row.';
CREATE FUNCTION _bayes_score_difference_transition(
  state internal, a bayes_model, b bayes_model, x "any" [, argument1 "any" [, argument2 "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_score_difference_transition' @immutable COST 100;
COMMENT IS 'Internal. Scores one row under two models.';
CREATE FUNCTION _bayes_score_difference_inverse_transition(
  state internal, a bayes_model, b bayes_model, x "any" [, argument1 "any" [, argument2 "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_score_difference_inverse_transition' @immutable COST 100;
COMMENT IS 'Internal. Takes away one row.';
CREATE FUNCTION _bayes_score_final(state internal) RETURNS bayes_scores
  AS 'MODULE_PATHNAME', 'bayes_score_final' @immutable COST 10;
COMMENT IS 'Internal. Computes the scores from the sums.';

CREATE AGGREGATE bayes_score(model bayes_model, x "any") (@score_state);
COMMENT IS 'How well a model predicts new rows: for gmm, bmm and dpmm x is a row, for hmm a '
  'sequence (an array of observations), for lda a document (tsvector, text[] or jsonb). '
  @score_rows;
CREATE AGGREGATE bayes_score(model bayes_model, label "any", x "any") (@score_state);
COMMENT IS 'The same for models that predict a label or a response from a row: nb, linreg, logreg '
  'and probit. label: the label or response, before the row as in nb_fit(label, row) and '
  'linreg_fit(y, row); a label that no row of the fit of nb had has the probability 0. '
  @score_rows;
CREATE AGGREGATE bayes_score(
  model bayes_model, row_key "any", column_key "any", value float8
) (@score_state);
COMMENT IS 'The same for the number in a cell of a table, given by the keys of its row and its '
  'column: nmf, with the Poisson probability at the predicted mean (after method squared the '
  'normal density with the mean squared error of the fit as variance), and pmf, with the '
  'predictive density. Keys that the model does not know are predicted as F_predict does. '
  @score_rows;

CREATE FUNCTION bayes_score(query bayes_query, model bayes_model) RETURNS SETOF bayes_scores
  AS 'MODULE_PATHNAME', 'bayes_score_query' @volatile COST 100000 ROWS 1;
COMMENT IS 'The same for the rows of a query, as a relation of one row; of none for no rows. '
  'query: one SELECT of a row (its columns, or one array, sequence or document); for models that '
  'predict, of the label or response and then the row; for nmf and pmf of two keys and a number. '
  'It is run as the caller, read-only: SELECT * FROM bayes_score(''SELECT churned, age, plan FROM '
  'customers'', model). 22004 for a NULL, 22023 for any other query; others as for the aggregate.';

CREATE AGGREGATE bayes_score_difference(a bayes_model, b bayes_model, x "any") (@difference_state);
COMMENT IS @score_differences
  'x: a row, a sequence or a document. '
  @score_rows;
CREATE AGGREGATE bayes_score_difference(
  a bayes_model, b bayes_model, label "any", x "any"
) (@difference_state);
COMMENT IS @score_differences
  'label and x: a label or response, and a row. '
  @score_rows;
CREATE AGGREGATE bayes_score_difference(
  a bayes_model, b bayes_model, row_key "any", column_key "any", value float8
) (@difference_state);
COMMENT IS @score_differences
  'row_key, column_key and value: a cell of a table. '
  @score_rows;

CREATE FUNCTION bayes_score_difference(query bayes_query, a bayes_model, b bayes_model)
  RETURNS SETOF bayes_scores
  AS 'MODULE_PATHNAME', 'bayes_score_difference_query' @volatile COST 100000 ROWS 1;
COMMENT IS @score_differences
  'query: as for bayes_score(query, model), in the form of model a. '
  @score_rows;
