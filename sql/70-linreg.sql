-- Bayesian linear regression

DEFINE @linreg_rows =
  'y: the response; x: the predictors, numbers, booleans and labels. A row of which y, x or an '
  'element of x is NULL, or the weight NULL or 0, is left out and counted; no rows give NULL. '
  'Errors: 22023 NaN, infinite or negative weight; 2202E rows of different length; 22003 sums '
  'overflow; 54000 more than 5000 terms.';
DEFINE @linreg_options =
  'options: see docs/linreg.md; NULL means none. The default prior of the noise precision is '
  'Gamma(u / 2, rate u s^2 / 2), where s^2 is the variance of the least-squares residuals and u is '
  '0.1, or more with less than one residual degree of freedom. One row, or a constant response '
  'with no more rows than coefficients or a method other than exact, gives NULL and a WARNING '
  'unless prior has a and b. '
  'Errors: 22023 invalid option; 22004 a NULL with option missing = error.';
-- With 20 predictors a state takes some 12 kB, and a sample of many rows 128 kB.
DEFINE @linreg_state = STYPE = internal, SSPACE = 16384, PARALLEL = SAFE;
-- ---- the type of sufficient statistics ----

CREATE TYPE linreg_stats;

CREATE FUNCTION _linreg_stats_in(cstring) RETURNS linreg_stats
  AS 'MODULE_PATHNAME', 'linreg_stats_in' @strict COST 100;
COMMENT IS 'Input function of linreg_stats: JSON, as the output function writes it. 22P02 for text '
  'that is not valid statistics.';
CREATE FUNCTION _linreg_stats_out(linreg_stats) RETURNS cstring
  AS 'MODULE_PATHNAME', 'linreg_stats_out' @strict COST 100;
COMMENT IS 'Output function of linreg_stats: JSON that reads back to the same bits.';
CREATE FUNCTION _linreg_stats_recv(internal) RETURNS linreg_stats
  AS 'MODULE_PATHNAME', 'linreg_stats_recv' @strict COST 100;
COMMENT IS 'Binary input function of linreg_stats. 22P03 for bytes that are not valid statistics.';
CREATE FUNCTION _linreg_stats_send(linreg_stats) RETURNS bytea
  AS 'MODULE_PATHNAME', 'linreg_stats_send' @strict COST 100;
COMMENT IS 'Binary output function of linreg_stats: the stored bytes.';

CREATE TYPE linreg_stats (
  INPUT = _linreg_stats_in, OUTPUT = _linreg_stats_out,
  RECEIVE = _linreg_stats_recv, SEND = _linreg_stats_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE linreg_stats IS
  'Sufficient statistics of linear regression: weighted sums of products of all pairs of response '
  'and predictors, with twice the precision of float8. A linear regression needs nothing else '
  'about its rows. bayes_rollup() adds them up; text, binary and jsonb forms are exact.';

CREATE FUNCTION _linreg_stats_to_jsonb(linreg_stats) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'linreg_stats_to_jsonb' @strict COST 100;
COMMENT IS 'The statistics as jsonb.';
CREATE FUNCTION _linreg_stats_from_jsonb(jsonb) RETURNS linreg_stats
  AS 'MODULE_PATHNAME', 'linreg_stats_from_jsonb' @strict COST 100;
COMMENT IS 'Statistics from jsonb. 22P02 for jsonb that is not valid statistics.';
CREATE CAST (linreg_stats AS jsonb) WITH FUNCTION _linreg_stats_to_jsonb(linreg_stats)
  AS ASSIGNMENT;
COMMENT ON CAST (linreg_stats AS jsonb) IS 'statistics as jsonb';
CREATE CAST (jsonb AS linreg_stats) WITH FUNCTION _linreg_stats_from_jsonb(jsonb);
COMMENT ON CAST (jsonb AS linreg_stats) IS 'statistics from jsonb';

-- ---- equality and order of statistics: of the stored bytes ----

CREATE FUNCTION _linreg_stats_eq(linreg_stats, linreg_stats) RETURNS boolean
  AS 'byteaeq' @bytes;
COMMENT IS 'Whether two statistics are identical in every bit.';
CREATE FUNCTION _linreg_stats_ne(linreg_stats, linreg_stats) RETURNS boolean
  AS 'byteane' @bytes;
COMMENT IS 'Whether two statistics differ in any bit.';
CREATE FUNCTION _linreg_stats_lt(linreg_stats, linreg_stats) RETURNS boolean
  AS 'bytealt' @bytes;
COMMENT IS 'Order of linreg_stats for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _linreg_stats_le(linreg_stats, linreg_stats) RETURNS boolean
  AS 'byteale' @bytes;
COMMENT IS 'Order of linreg_stats for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _linreg_stats_gt(linreg_stats, linreg_stats) RETURNS boolean
  AS 'byteagt' @bytes;
COMMENT IS 'Order of linreg_stats for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _linreg_stats_ge(linreg_stats, linreg_stats) RETURNS boolean
  AS 'byteage' @bytes;
COMMENT IS 'Order of linreg_stats for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _linreg_stats_cmp(linreg_stats, linreg_stats) RETURNS int
  AS 'byteacmp' @bytes;
COMMENT IS 'Order of linreg_stats for btree: negative, 0 or positive.';
CREATE FUNCTION _linreg_stats_hash(linreg_stats) RETURNS int
  AS 'hashvarlena' @bytes;
COMMENT IS 'Hash of the stored bytes.';
CREATE FUNCTION _linreg_stats_hash_extended(linreg_stats, bigint) RETURNS bigint
  AS 'hashvarlenaextended' @bytes;
COMMENT IS 'Hash of the stored bytes, 64 bits, with a seed.';

CREATE OPERATOR = (FUNCTION = _linreg_stats_eq,
  LEFTARG = linreg_stats, RIGHTARG = linreg_stats, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR = (linreg_stats, linreg_stats) IS 'equal';
CREATE OPERATOR <> (FUNCTION = _linreg_stats_ne,
  LEFTARG = linreg_stats, RIGHTARG = linreg_stats, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR <> (linreg_stats, linreg_stats) IS 'not equal';
CREATE OPERATOR < (FUNCTION = _linreg_stats_lt,
  LEFTARG = linreg_stats, RIGHTARG = linreg_stats, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR < (linreg_stats, linreg_stats) IS 'less than';
CREATE OPERATOR <= (FUNCTION = _linreg_stats_le,
  LEFTARG = linreg_stats, RIGHTARG = linreg_stats, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <= (linreg_stats, linreg_stats) IS 'less than or equal';
CREATE OPERATOR > (FUNCTION = _linreg_stats_gt,
  LEFTARG = linreg_stats, RIGHTARG = linreg_stats, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR > (linreg_stats, linreg_stats) IS 'greater than';
CREATE OPERATOR >= (FUNCTION = _linreg_stats_ge,
  LEFTARG = linreg_stats, RIGHTARG = linreg_stats, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >= (linreg_stats, linreg_stats) IS 'greater than or equal';

CREATE OPERATOR CLASS linreg_stats_ops DEFAULT FOR TYPE linreg_stats USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 _linreg_stats_cmp(linreg_stats, linreg_stats);
CREATE OPERATOR CLASS linreg_stats_ops DEFAULT FOR TYPE linreg_stats USING hash AS
  OPERATOR 1 =, FUNCTION 1 _linreg_stats_hash(linreg_stats),
  FUNCTION 2 _linreg_stats_hash_extended(linreg_stats, bigint);

CREATE FUNCTION linreg_stats_info(stats linreg_stats)
  RETURNS TABLE (rows bigint, skipped bigint, weight float8, predictors int, columns int)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS 'The contents of statistics. rows: used; skipped: left out; weight: of the rows used; '
  'predictors: the number of predictors as given; columns: the number of columns in the sums, one '
  'for each number and each label.';

-- ---- aggregates: rows in, statistics or a model out ----

CREATE FUNCTION _linreg_transition(
  state internal, y float8, x "any" [, options jsonb [, weight float8]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'linreg_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';
CREATE FUNCTION _linreg_stats_transition(
  state internal, y float8, x "any" [, options jsonb, weight float8]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'linreg_stats_transition' @immutable;
COMMENT IS 'Internal. Adds one row, of which only the sums stay.';
CREATE FUNCTION _linreg_stats_inverse_transition(
  state internal, y float8, x "any" [, options jsonb, weight float8]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'linreg_stats_inverse_transition' @immutable;
COMMENT IS 'Internal. Removes one row; NULL if rounding errors would be too large.';
CREATE FUNCTION _linreg_stats_final(state internal) RETURNS linreg_stats
  AS 'MODULE_PATHNAME', 'linreg_stats_final' @immutable COST 100;
COMMENT IS 'Internal. Returns the statistics of the rows so far.';

CREATE AGGREGATE linreg_stats(y float8, x "any" [, options jsonb, weight float8]) (
  SFUNC = _linreg_stats_transition, @linreg_state, FINALFUNC = _linreg_stats_final,
  @combine_sums, MSFUNC = _linreg_stats_transition,
  MINVFUNC = _linreg_stats_inverse_transition, MSTYPE = internal,
  MSSPACE = 16384, MFINALFUNC = _linreg_stats_final
);
COMMENT IS 'The sufficient statistics of linear regressions of y on x, for linreg_fit: in one '
  'pass, in parallel, and over moving windows. '
  @linreg_rows;
COMMENT IS 'The same with options, of which missing and on_error matter here (with "on_error": '
  '"null" rows that are refused give NULL and a WARNING), and with a weight for each row: how many '
  'times it counts. '
  @linreg_rows
  ' '
  @linreg_options;

CREATE FUNCTION _linreg_rollup_transition(
  state internal, stats linreg_stats [, options jsonb]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'linreg_rollup_transition' @immutable;
COMMENT IS 'Internal. Adds statistics.';

CREATE AGGREGATE bayes_rollup(stats linreg_stats [, options jsonb]) (
  SFUNC = _linreg_rollup_transition, @linreg_state, FINALFUNC = _linreg_stats_final, @combine_sums
);
COMMENT IS 'Merges statistics of parts of the rows into those of all rows. Columns of records are '
  'matched by name; labels may differ. NULL values are left out. 22023 for statistics of different '
  'columns, 2202E for arrays of different lengths, 54000 more than 5000 terms.';
COMMENT IS 'The same with options, of which there is one: on_error, "error" or "null"; with "null" '
  'statistics that cannot be merged give NULL and a WARNING. 22023 for another option.';

CREATE AGGREGATE linreg_fit(y float8, x "any" [, options jsonb [, weight float8]]) (
  SFUNC = _linreg_transition, @linreg_state, FINALFUNC = _bayes_sums_final, @combine_sums
);
COMMENT IS 'Fits a Bayesian linear regression of y on x, by default with its exact posterior. '
  @linreg_rows;
COMMENT IS 'The same with options. '
  @linreg_options;
COMMENT IS 'The same with a weight for each row: how many times it counts (not relative weights); '
  '22003 for weights that, with an intercept, add up to 1 or less. '
  @linreg_options;

-- ---- statistics ----

-- With options of type jsonb, here or below, a call with two literals would be ambiguous.

CREATE FUNCTION linreg_fit(stats linreg_stats, options "any" DEFAULT NULL) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'linreg_fit_stats' @immutable COST 10000;
COMMENT IS 'Fits a Bayesian linear regression to statistics from linreg_stats or bayes_rollup, '
  'with the same result as from the rows, but without what bayes_drift needs of them. Equal '
  'statistics give equal models: seconds of bayes_info is 0. '
  @linreg_options;

-- ---- relations: a query in, a relation out ----

DEFINE @response_query =
  'query: one SELECT of the response and the predictors, columns, or one array or record; option '
  'weight names a column that says how many times each row counts, option id a column that is left '
  'out. It is run as the caller, read-only. 22023 for any other query. Other errors: as those of '
  'the aggregate.';
CREATE FUNCTION linreg_fit(query bayes_query, options "any" DEFAULT NULL)
  RETURNS TABLE (term text, mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME', 'linreg_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a linear regression to the rows of a query and returns its coefficients, as '
  'bayes_coefficients does. '
  @response_query
  ' '
  @linreg_options;

CREATE FUNCTION linreg_model(query bayes_query, options jsonb DEFAULT NULL) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'linreg_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a linear regression to the rows of a query and returns the model.'
  ' Query, options and errors are those of linreg_fit(query, ...); NULL if there are no rows.';

-- ---- a model and a row ----

CREATE TYPE linreg_prediction AS (
  mean float8, sd float8, lower float8, upper float8,
  mean_sd float8, mean_lower float8, mean_upper float8
);
COMMENT ON TYPE linreg_prediction IS
  'The prediction of a linear regression for a row. mean: the expected response; sd, lower, upper: '
  'standard deviation and interval of a new response; mean_sd, mean_lower, mean_upper: standard '
  'deviation and interval of the expected response, due to the uncertainty of the coefficients, '
  'NULL after method em.';

CREATE FUNCTION linreg_predict(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS linreg_prediction
  AS 'MODULE_PATHNAME' @of_labels COST 100;
COMMENT IS 'The posterior predictive distribution of the response for a row, with intervals of '
  'probability level, 22023 unless 0 < level < 1. Columns are matched by name. NULL for a row '
  'with a NULL, or with a label that the model does not know, unless it was fitted with option '
  'missing = error: then 22004, 22023. 42804 for a model of another family.';
