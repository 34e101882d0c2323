-- Bernoulli mixtures (latent class analysis), and mixtures of other products of columns

DEFINE @bmm_rows =
  'x: bool[] or numbers that are 0 or 1 (others with option likelihood), the same length 1 to '
  '1600 in every row; a NULL x is skipped, NULL elements are integrated out; no rows give NULL. '
  'Errors: 22023 invalid option, argument or element (also NaN and infinity), or k above the '
  'number of distinct rows; 22004 NULL element with option missing = error; 2202E rows of '
  'different length; 22003 no fit exists.';
DEFINE @bmm_query =
  'query: one SELECT of an array column, of an array column and a numeric weight, or of columns, '
  'in addition to those that options id and weight name; it is run as the caller, read-only. 22023 '
  'for any other query.';
DEFINE @bmm_options = ' options: see docs/bmm.md; NULL means none.';

CREATE TYPE bmm_selection AS (
  k int, method text, objective float8, log_likelihood float8, parameters float8, bic float8,
  icl float8, elbo float8, converged boolean, degenerate boolean, model bayes_model,
  best boolean, reason text
);
COMMENT ON TYPE bmm_selection IS @mixture_selection;

CREATE TYPE bmm_statistics AS (
  observations float8, log_likelihood float8, parameters float8, bic float8, aic float8,
  entropy float8, complete float8, patterns bigint, possible_patterns float8, df float8, g2 float8,
  g2_p float8, x2 float8, x2_p float8
);
COMMENT ON TYPE bmm_statistics IS
  'How well a latent class model fits rows: see bmm_fit_statistics.';

CREATE TYPE bmm_bootstrap_test AS (
  draws int, rows bigint, g2 float8, g2_p float8, x2 float8, x2_p float8
);
COMMENT ON TYPE bmm_bootstrap_test IS
  'How often tables drawn from a latent class model fit the model worse than the rows do: see '
  'bmm_bootstrap.';

-- ---- aggregates: rows in, a model out ----

-- For the forms of bmm_fit that take k, and for those that take a start model.
CREATE FUNCTION _bmm_fit_transition(
  state internal, x "any", k "any" [, options "any" [, weight "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bmm_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _bmm_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'bmm_fit_final' @immutable COST 100000;
COMMENT IS 'Internal. Fits a Bernoulli mixture to the collected rows.';

CREATE AGGREGATE bmm_fit(x "any", k int [, options jsonb [, weight float8]]) (
  SFUNC = _bmm_fit_transition, @state, FINALFUNC = _bmm_fit_final, @combine
);
COMMENT IS 'Fits a mixture of k products of Bernoulli distributions (1 to 10000) to the rows x, by '
  'variational Bayes unless options name another method: latent class analysis. '
  @bmm_rows;
COMMENT IS 'The same with options.'
  @bmm_options;
COMMENT IS 'The same with a weight for each row: how many times it counts. A row of weight 0 or '
  'NULL is left out; 22023 if negative, not finite, or all zero.'
  @bmm_options;

CREATE AGGREGATE bmm_fit(x "any", start bayes_model [, options jsonb [, weight float8]]) (
  SFUNC = _bmm_fit_transition, @state, FINALFUNC = _bmm_fit_final, @combine
);
COMMENT IS 'Fits a Bernoulli mixture, starting from the parameters of a fitted one (for instance '
  'yesterday''s): components keep their numbers, option missing and the given prior are kept '
  'unless options say otherwise, and labels and categories that the model does not know are added. '
  'With option restarts the result is the best of that run and of fresh ones. 42804 for a model of '
  'another family. '
  @bmm_rows;
COMMENT IS 'The same with options.'
  @bmm_options;
COMMENT IS 'The same with options and weights.'
  @bmm_options;

CREATE FUNCTION _bmm_update_transition(
  state internal, x "any", prior "any" [, options "any" [, weight "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bmm_update_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE AGGREGATE bmm_update(x "any", prior bayes_model [, options jsonb [, weight float8]]) (
  SFUNC = _bmm_update_transition, @state, FINALFUNC = _bmm_fit_final, @combine
);
COMMENT IS 'Learns from more rows: the posterior of the given model is the prior of the new one. '
  @bmm_rows;
COMMENT IS 'The same with options.'
  @bmm_options;
COMMENT IS 'The same with options and weights.'
  @bmm_options;

CREATE FUNCTION _bmm_select_transition(
  state internal, x "any", ks "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bmm_select_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _bmm_select_final(state internal) RETURNS bmm_selection[]
  AS 'MODULE_PATHNAME', 'bmm_select_final' @immutable COST 1000000;
COMMENT IS 'Internal. Fits all mixtures of a selection.';

CREATE AGGREGATE bmm_select(x "any", ks int[] [, options jsonb]) (
  SFUNC = _bmm_select_transition, @state, FINALFUNC = _bmm_select_final, @combine
);
COMMENT IS 'Fits a Bernoulli mixture for every k in ks: SELECT * FROM unnest((SELECT '
  'bmm_select(x, ''{1,2,3}'') FROM t)).';
COMMENT IS 'The same with options.'
  @bmm_options;

-- ---- window: rows in, one component for each row out ----

CREATE FUNCTION bmm_cluster(x "any", k int, options jsonb DEFAULT NULL) RETURNS int
  AS 'MODULE_PATHNAME' @window_of_labels COST 1000;
COMMENT IS 'Fits a mixture of k products of Bernoulli distributions to the whole partition, '
  'regardless of the frame, and returns the most probable component of every row, counted from 1; '
  'NULL for a NULL row.'
  @bmm_options;

-- ---- relations: a query in, a relation out ----

CREATE FUNCTION bmm_fit(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS TABLE (component int, weight float8, probability float8[], count float8)
  AS 'MODULE_PATHNAME', 'bmm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a mixture of k products of Bernoulli distributions to the rows of a query and '
  'returns its components, as bmm_components does. '
  @bmm_query
  @from_start
  @bmm_options;

CREATE FUNCTION bmm_model(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'bmm_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a mixture of k components to the rows of a query and returns the model.'
  ' Query, options and errors are those of bmm_fit(query, ...); NULL if there are no rows.'
  @bmm_options;

CREATE FUNCTION bmm_select(query bayes_query, ks int[], options jsonb DEFAULT NULL)
  RETURNS SETOF bmm_selection
  AS 'MODULE_PATHNAME', 'bmm_select_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a Bernoulli mixture for every k in ks to the rows of a query. '
  @bmm_query
  @bmm_options;

-- ---- a model as relations ----

CREATE FUNCTION bmm_components(model bayes_model)
  RETURNS TABLE (component int, weight float8, probability float8[], count float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The components, numbered from 1 by decreasing weight: weight in [0, 1], probability '
  'of a 1 in every element (of counts, waiting times and measurements the expected value, of '
  'categories NULL: see bayes_parameters), count the expected number of rows. Posterior means if '
  'the model has a posterior. 42804 for a model of another family.';

CREATE FUNCTION bmm_posterior(model bayes_model)
  RETURNS TABLE (component int, alpha float8, a float8[], b float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The posterior of a model fitted by vi or svi: weights ~ Dirichlet(alpha), the '
  'probability of a 1 in every element ~ Beta(a, b), NULL for elements that are not bernoulli. '
  '22023 for a model without a posterior.';

CREATE FUNCTION bmm_moments(model bayes_model)
  RETURNS TABLE (mean float8[], covariance float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS 'Mean (d) and covariance (d x d) of a row drawn from the mixture, as by bayes_sample: '
  'including the uncertainty of the parameters after vi, svi, gibbs and collapsed. A categorical '
  'element has no mean: NULL, and then the covariance is NULL too.';

-- ---- how well a model fits ----

DEFINE @bmm_statistics_are =
  'observations: rows, by their weights, without those in which nothing is observed; '
  'log_likelihood at the model''s point estimate, with bic = -2 log_likelihood + parameters '
  'ln(observations) and aic; entropy: how certain the assignment of rows to classes is, 1 - sum of '
  'the entropies of their probabilities / (observations ln k), from 0 to 1; complete: rows without '
  'NULL elements, on which all of the following is based; patterns: the number of distinct '
  'patterns of answers among them; possible_patterns: the number of possible patterns; df: '
  'possible patterns - 1 - parameters; g2: the likelihood ratio 2 sum O ln(O / E) of observed and '
  'expected numbers of rows, x2: Pearson''s sum (O - E)^2 / E, over all possible patterns; g2_p, '
  'x2_p: the probability of larger values under the chi-squared distribution with df degrees of '
  'freedom. NULL: df, g2, x2 and their p if an element may have any number of values, g2 and x2 '
  'for more than a million patterns, p for df below 1. 22023 for a model with draws, or a value '
  'that the model does not know. ';

CREATE FUNCTION _bmm_fit_statistics_transition(
  state internal, model bayes_model, x "any" [, weight float8]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bmm_fit_statistics_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _bmm_fit_statistics_final(state internal) RETURNS bmm_statistics
  AS 'MODULE_PATHNAME', 'bmm_fit_statistics_final' @immutable COST 100000;
COMMENT IS 'Internal. Compares the collected rows with a model.';

CREATE AGGREGATE bmm_fit_statistics(model bayes_model, x "any" [, weight float8]) (
  SFUNC = _bmm_fit_statistics_transition, @state, FINALFUNC = _bmm_fit_statistics_final, @combine
);
COMMENT IS 'How well a latent class model fits the rows x, usually those that it was fitted to. '
  @bmm_statistics_are;
COMMENT IS 'The same with a weight for each row: how many times it counts.';

CREATE FUNCTION bmm_bootstrap(query bayes_query, model bayes_model, options jsonb DEFAULT NULL)
  RETURNS bmm_bootstrap_test
  AS 'MODULE_PATHNAME', 'bmm_bootstrap_query' @volatile COST 1000000;
COMMENT IS 'The parametric bootstrap of g2 and x2 of bmm_fit_statistics, also for tables too '
  'sparse for their chi-squared distribution: draws 99 tables from the model, each with as many '
  'rows as the query has complete rows, fits each by the model''s method, starting from the model, '
  'and compares. rows: the number of rows of each table; g2_p, x2_p: (1 + draws whose g2, x2 is as '
  'large) / (1 + draws). NULL without rows; 22023 where bmm_fit_statistics has no g2. query: as '
  'for bmm_fit_statistics; it is run as the caller, read-only. options: draws (99; 1 to 100000), '
  'restarts (1; of each fit; the first one starts from the model), seed (1).';

-- ---- a model and a row ----

CREATE FUNCTION bmm_predict(model bayes_model, x "any") RETURNS int
  AS 'MODULE_PATHNAME' @of_labels COST 50;
COMMENT IS 'The most probable component of x, from 1. NULL elements of x are integrated out; if '
  'the model was fitted with option missing = skip the result is NULL, with missing = error it is '
  'an error (22004). 2202E if x does not have the length of the model''s rows, 22023 for an '
  'invalid element.';
