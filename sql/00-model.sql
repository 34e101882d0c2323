-- pg_bayes: objects common to all model families. expand.awk makes one install script from the
-- files in this directory; it also explains DEFINE, [, argument type] and COMMENT IS.
\echo Use "CREATE EXTENSION pg_bayes" to load this file. \quit

-- ---- common attributes of functions and aggregates ----

DEFINE @immutable = LANGUAGE C IMMUTABLE PARALLEL SAFE;
DEFINE @strict = LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
DEFINE @volatile = LANGUAGE C VOLATILE PARALLEL UNSAFE;
DEFINE @window = LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE;
-- For functions whose arguments may contain labels, keys or symbols. They are STABLE because these
-- are identified by their text, and ALTER TYPE ... RENAME VALUE changes the text of an enum.
DEFINE @of_labels = LANGUAGE C STABLE STRICT PARALLEL SAFE;
DEFINE @of_labels_given = LANGUAGE C STABLE PARALLEL SAFE;
DEFINE @window_of_labels = LANGUAGE C WINDOW STABLE PARALLEL SAFE;

-- For a state that stores rows, which takes up to maintenance_work_mem, 64 MB by default. With this
-- SSPACE the planner prefers to sort groups, so that only one state exists at a time, and hashes
-- only a few groups.
DEFINE @state = STYPE = internal, SSPACE = 67108864, PARALLEL = SAFE;
-- for a state that stores one number for each draw
DEFINE @draws_state = STYPE = internal, SSPACE = 32768, PARALLEL = SAFE;
DEFINE @combine =
  COMBINEFUNC = _bayes_rows_combine,
  SERIALFUNC = _bayes_rows_serialize, DESERIALFUNC = _bayes_rows_deserialize;

DEFINE @combine_responses =
  COMBINEFUNC = _bayes_responses_combine,
  SERIALFUNC = _bayes_responses_serialize, DESERIALFUNC = _bayes_rows_deserialize;

DEFINE @combine_sums =
  COMBINEFUNC = _bayes_sums_combine,
  SERIALFUNC = _bayes_sums_serialize, DESERIALFUNC = _bayes_sums_deserialize;

DEFINE @profile_state = STYPE = internal, SSPACE = 32768, PARALLEL = SAFE;

-- The result of bayes_parameters(model [, level]), and its description.
DEFINE @parameters_table =
  TABLE (component int, element int, column_name text, likelihood text, parameter text,
    category bigint, label text, value float8, sd float8, lower float8, upper float8,
    sd_method text);
DEFINE @parameters =
  'value: the posterior mean if the method has a posterior, else the estimate; sd: its posterior '
  'standard deviation; lower, upper: the quantiles (1 - level) / 2 and (1 + level) / 2 of its '
  'posterior. NULL where they do not exist, and in models without a posterior: methods em, map, '
  'mcem and kmeans give a point estimate only. sd_method: how sd, lower and upper were computed. '
  'exact; draws: from posterior draws; linear response: from the posterior of vi, corrected for '
  'what the mean-field approximation leaves out; mean field: from that posterior without '
  'correction, too narrow where components overlap; components overlap: none, NULL, where the rows '
  'do not tell the components of a fit by vi apart, with a NOTICE; given partition: from the '
  'posterior of the clusters given their rows; normal approximation: of the posterior at its mode. '
  'element: from 1; column_name, label: the names of the column and of the category, if the rows '
  'were records.';

-- ---- the type ----

CREATE TYPE bayes_model;

CREATE FUNCTION _bayes_model_in(cstring) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'bayes_model_in' @strict COST 100;
COMMENT IS 'Input function of bayes_model: JSON, as the output function writes it. 22P02 for text '
  'that is not a model.';
CREATE FUNCTION _bayes_model_out(bayes_model) RETURNS cstring
  AS 'MODULE_PATHNAME', 'bayes_model_out' @strict COST 100;
COMMENT IS 'Output function of bayes_model: JSON that reads back to the same bits.';
CREATE FUNCTION _bayes_model_recv(internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'bayes_model_recv' @strict COST 100;
COMMENT IS 'Binary input function of bayes_model. 22P03 for bytes that are not a model.';
CREATE FUNCTION _bayes_model_send(bayes_model) RETURNS bytea
  AS 'MODULE_PATHNAME', 'bayes_model_send' @strict COST 100;
COMMENT IS 'Binary output function of bayes_model: the stored bytes.';

CREATE TYPE bayes_model (
  INPUT = _bayes_model_in, OUTPUT = _bayes_model_out,
  RECEIVE = _bayes_model_recv, SEND = _bayes_model_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = extended
);
COMMENT ON TYPE bayes_model IS
  'A fitted model of any model family: its parameters, its posterior, and how it was fitted. A '
  'value like any other: store it in a column, dump it, cast it to jsonb.';

-- One row of bayes_profile(model, row).
CREATE TYPE bayes_profile AS (
  component int, element int, column_name text, category bigint, label text, rows float8,
  value float8, others float8, difference float8, effect float8, missing float8, rank int
);
COMMENT ON TYPE bayes_profile IS
  'How a component (cluster, state) differs from the others in one column, or in one category of a '
  'column. rows: the expected number of its rows (steps); value: the mean of the column, or the '
  'share of the category, among its rows that have a value; others: the same among all other rows; '
  'difference: value - others; effect: the difference in standard deviations over all rows; '
  'missing: the share of its rows without a value; rank: by decreasing absolute effect within the '
  'component.';

CREATE FUNCTION _bayes_model_to_jsonb(bayes_model) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'bayes_model_to_jsonb' @strict COST 100;
COMMENT IS 'The model as jsonb; doubles that JSON lacks are the strings "NaN", "Infinity", '
  '"-Infinity" and "-0".';
CREATE FUNCTION _bayes_model_from_jsonb(jsonb) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'bayes_model_from_jsonb' @strict COST 100;
COMMENT IS 'A model from jsonb, as the reverse cast gives it. 22P02 for jsonb that is not a '
  'model.';
CREATE CAST (bayes_model AS jsonb) WITH FUNCTION _bayes_model_to_jsonb(bayes_model) AS ASSIGNMENT;
COMMENT ON CAST (bayes_model AS jsonb) IS 'the model as jsonb';
CREATE CAST (jsonb AS bayes_model) WITH FUNCTION _bayes_model_from_jsonb(jsonb);
COMMENT ON CAST (jsonb AS bayes_model) IS 'a model from jsonb';

-- ---- equality and order: of everything in a model but the duration of its fit ----

CREATE FUNCTION _bayes_model_eq(bayes_model, bayes_model) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bayes_model_eq' @strict;
COMMENT IS 'Whether two models are identical in every bit, including how they were fitted, except '
  'for the seconds that the fits took. Compares 128-bit fingerprints of their contents.';
CREATE FUNCTION _bayes_model_ne(bayes_model, bayes_model) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bayes_model_ne' @strict;
COMMENT IS 'Whether two models differ in any bit except those of seconds.';
CREATE FUNCTION _bayes_model_lt(bayes_model, bayes_model) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bayes_model_lt' @strict;
COMMENT IS 'Order of bayes_model for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _bayes_model_le(bayes_model, bayes_model) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bayes_model_le' @strict;
COMMENT IS 'Order of bayes_model for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _bayes_model_gt(bayes_model, bayes_model) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bayes_model_gt' @strict;
COMMENT IS 'Order of bayes_model for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _bayes_model_ge(bayes_model, bayes_model) RETURNS boolean
  AS 'MODULE_PATHNAME', 'bayes_model_ge' @strict;
COMMENT IS 'Order of bayes_model for sorting and indexes; it has no other meaning.';
CREATE FUNCTION _bayes_model_cmp(bayes_model, bayes_model) RETURNS int
  AS 'MODULE_PATHNAME', 'bayes_model_cmp' @strict;
COMMENT IS 'Order of bayes_model for btree: negative, 0 or positive.';
CREATE FUNCTION _bayes_model_hash(bayes_model) RETURNS int
  AS 'MODULE_PATHNAME', 'bayes_model_hash' @strict;
COMMENT IS 'Hash of a model, without seconds.';
CREATE FUNCTION _bayes_model_hash_extended(bayes_model, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'bayes_model_hash_extended' @strict;
COMMENT IS 'Hash of a model, without seconds, 64 bits, with a seed.';

CREATE OPERATOR = (FUNCTION = _bayes_model_eq,
  LEFTARG = bayes_model, RIGHTARG = bayes_model, COMMUTATOR = =, NEGATOR = <>,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR = (bayes_model, bayes_model) IS 'equal';
CREATE OPERATOR <> (FUNCTION = _bayes_model_ne,
  LEFTARG = bayes_model, RIGHTARG = bayes_model, COMMUTATOR = <>, NEGATOR = =,
  RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR <> (bayes_model, bayes_model) IS 'not equal';
CREATE OPERATOR < (FUNCTION = _bayes_model_lt,
  LEFTARG = bayes_model, RIGHTARG = bayes_model, COMMUTATOR = >, NEGATOR = >=,
  RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR < (bayes_model, bayes_model) IS 'less than';
CREATE OPERATOR <= (FUNCTION = _bayes_model_le,
  LEFTARG = bayes_model, RIGHTARG = bayes_model, COMMUTATOR = >=, NEGATOR = >,
  RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <= (bayes_model, bayes_model) IS 'less than or equal';
CREATE OPERATOR > (FUNCTION = _bayes_model_gt,
  LEFTARG = bayes_model, RIGHTARG = bayes_model, COMMUTATOR = <, NEGATOR = <=,
  RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR > (bayes_model, bayes_model) IS 'greater than';
CREATE OPERATOR >= (FUNCTION = _bayes_model_ge,
  LEFTARG = bayes_model, RIGHTARG = bayes_model, COMMUTATOR = <=, NEGATOR = <,
  RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >= (bayes_model, bayes_model) IS 'greater than or equal';

CREATE OPERATOR CLASS bayes_model_ops DEFAULT FOR TYPE bayes_model USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 _bayes_model_cmp(bayes_model, bayes_model);
CREATE OPERATOR CLASS bayes_model_ops DEFAULT FOR TYPE bayes_model USING hash AS
  OPERATOR 1 =, FUNCTION 1 _bayes_model_hash(bayes_model),
  FUNCTION 2 _bayes_model_hash_extended(bayes_model, bigint);

-- ---- accessors of every model ----

CREATE FUNCTION bayes_columns(model bayes_model)
  RETURNS TABLE (element int, name text, kind text, code int, label text)
  AS 'MODULE_PATHNAME' @strict COST 10 ROWS 20;
COMMENT IS 'The columns of the rows that a model was fitted to, if they were records: for each of '
  'its labels one row, with the code that stands for the label in an array, from 0; for a number '
  'or a boolean one row. No rows if the model was fitted to arrays.';

CREATE FUNCTION bayes_info(model bayes_model)
  RETURNS TABLE (family text, method text, rows bigint, skipped bigint, dimension int,
    components int, iterations int, converged boolean, degenerate int[], objective float8,
    log_likelihood float8, seed bigint, seconds float8, version text, options jsonb, draws bigint,
    stored_draws bigint, parameters float8, bic float8, observations float8, incomplete bigint,
    entropy float8, stopped text)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS 'What was fitted and how, one row. rows: used; skipped: left out because NULL, of '
  'weight 0 or, with missing = skip, incomplete; iterations: of the best restart; degenerate: '
  'components (states), from 1, that are at the bound set by option covariance_floor or minimum, '
  'beyond which the likelihood would rise, usually without limit; objective: the function that the '
  'method maximises, including all constants (log-likelihood, log-posterior or ELBO), NULL where '
  'there is none, as under a flat prior; log_likelihood: at the point estimate, NULL where there '
  'is none; seconds: duration of the fit, in which equal models may differ; version: the version '
  'of pg_bayes that fitted the model; options: all options in force, including defaults; draws: '
  'the number of draws of all chains, after warmup and thinning; stored_draws: the number of draws '
  'that the model stores completely, for its predictions (both NULL if there are none); '
  'parameters: the number of free parameters of the point estimate; bic: -2 log_likelihood + '
  'parameters ln(observations), NULL after sampling; observations: rows (of hmm steps), by their '
  'weights, without those in which nothing is observed; incomplete: rows used that have a missing '
  'element; entropy: how certain the assignment of rows to components is, 1 - sum of the entropies '
  'of their probabilities at the point estimate / (observations ln(components)), from 0 to 1; the '
  'last five are NULL for models without such a number; stopped: what ended the iterations of the '
  'fit, converged, max_iter, draws (a sampler has made all) or max_seconds (then converged is '
  'false, and iterations and draws are those that were made), NULL for a method that has none.';

CREATE FUNCTION bayes_trace(model bayes_model)
  RETURNS TABLE (restart int, iteration int, objective float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 100;
COMMENT IS 'The objective at the start (iteration 0) and after every iteration of every restart, '
  'restarts counted from 1; with more than ten restarts only those of the ten best. For svi the '
  'noisy estimate at every step, followed by the exact value.';

-- ---- aggregates of sums, of all model families ----

CREATE FUNCTION _bayes_sums_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'bayes_sums_serialize' @strict COST 100;
COMMENT IS 'Internal. Sums of the rows of a parallel worker as bytes. 54000 above 1 GB.';
CREATE FUNCTION _bayes_sums_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_rows_deserialize' @strict;
COMMENT IS 'Internal. The inverse of _bayes_sums_serialize.';
CREATE FUNCTION _bayes_sums_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_sums_combine' @immutable COST 100;
COMMENT IS 'Internal. Adds the sums of the rows of a parallel worker.';
CREATE FUNCTION _bayes_sums_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'bayes_sums_final' @immutable COST 1000;
COMMENT IS 'Internal. Computes a model from the sums.';

-- ---- merging models of parts of the rows ----

CREATE FUNCTION _bayes_rollup_transition(
  state internal, model bayes_model [, options jsonb]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_rollup_transition' @immutable COST 100;
COMMENT IS 'Internal. Merges one model.';

CREATE AGGREGATE bayes_rollup(model bayes_model [, options jsonb]) (
  SFUNC = _bayes_rollup_transition, STYPE = internal, SSPACE = 32768, PARALLEL = SAFE,
  FINALFUNC = _bayes_sums_final, @combine_sums
);
COMMENT IS 'Merges models of parts of the rows, for instance of days or shops, into the model of '
  'all rows, as if it had been fitted to all of them at once. For conjugate models and Bayes '
  'classifiers. NULL models are left out; without any other model the result is NULL. Errors: '
  '42804 models of different families, or of a family whose models cannot be merged; 22023 models '
  'with different priors or options.';
COMMENT IS 'The same with options, of which there is one: on_error, "error" or "null"; with "null" '
  'models that cannot be merged give NULL and a WARNING. 22023 for another option.';

-- ---- parallel aggregation of rows, for all model families ----

CREATE FUNCTION _bayes_rows_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_rows_support' @strict;
COMMENT IS 'Internal. Makes the planner avoid parallel aggregation of data that exceed '
  'maintenance_work_mem.';

CREATE FUNCTION _bayes_rows_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'bayes_rows_serialize' @strict;
COMMENT IS 'Internal. Rows of a parallel worker as bytes. 54000 above 1 GB.';

CREATE FUNCTION _bayes_rows_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_rows_deserialize' @strict SUPPORT _bayes_rows_support;
COMMENT IS 'Internal. The inverse of _bayes_rows_serialize.';

CREATE FUNCTION _bayes_rows_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_rows_combine' @immutable;
COMMENT IS 'Internal. Appends the rows of a parallel worker.';
CREATE FUNCTION _bayes_responses_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'bayes_responses_serialize' @strict;
COMMENT IS 'Internal. The same for rows of a response and predictors.';
CREATE FUNCTION _bayes_responses_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_responses_combine' @immutable;
COMMENT IS 'Internal. The same for rows of a response and predictors.';
