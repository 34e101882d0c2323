-- Functions for a model of any family.

DEFINE @missing_in_rows =
  'Columns are matched by name; absent ones count as NULL with missing = marginalize. Option '
  'missing of the fit determines the result for a NULL, or a label that the model does not know (a '
  'NOTICE names the nearest one that it knows): marginalize, the other elements alone count; skip, '
  'the result is NULL; error, an error (22004, 22023). Errors: 42804 for a model of any other '
  'family, with the functions of that family to use instead; 2202E if the row does not have the '
  'length of the model''s rows, 22023 for an invalid element.';
DEFINE @model_takes_rows =
  'For models that take rows: gmm, bmm, dpmm, nb, linreg, logreg and probit. '
  @missing_in_rows;

CREATE FUNCTION bayes_parameters(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS @parameters_table
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 100;
COMMENT IS 'The parameters of a model as rows: for components, clusters, states and classes the '
  'weights and the parameters of every column, of states also initial and transition '
  'probabilities; for topics (lda) the weight, and the probability of every term (label); for '
  'factors (nmf) the weight, and the weights of every row and column (row_weight, column_weight), '
  'with the key in label; for regressions the coefficient of every term (label), and for linreg '
  'the noise_variance; for conjugate models their parameters. Intervals contain a parameter with '
  'probability level, 22023 unless 0 < level < 1; quantiles of stored draws (hmm after gibbs) need '
  'at least 39 of them for 0.95. 42804 for models of pmf, whose vectors have no meaning element by '
  'element. '
  @parameters;

CREATE FUNCTION bayes_coefficients(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS TABLE (term text, mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 10;
COMMENT IS 'The coefficients of a regression (linreg, glm, logreg, probit), in units of the '
  'columns: their posterior mean (its mode after method laplace), standard deviation, and the '
  'quantiles that bound an interval that contains a coefficient with probability level, 22023 '
  'unless 0 < level < 1. term: (intercept), the name of a column, column=label, or x1, x2, ... '
  'for arrays. A coefficient is the change of the response for one unit of its column, of '
  'logreg the change of the log odds, of glm that of the linear predictor. All NULL for a term '
  'that neither the rows nor the prior determine; sd and bounds NULL for a point estimate '
  '(method em). 42804 for a model of another family.';

CREATE FUNCTION bayes_contrast(model bayes_model, weights jsonb, level float8 DEFAULT 0.95)
  RETURNS TABLE (mean float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 1;
COMMENT IS 'The posterior of a linear combination of coefficients of a regression, in units of '
  'the response, of logreg in log odds and of glm and probit on the scale of the linear '
  'predictor: its mean, standard deviation, and an interval that contains it with probability '
  'level, 22023 unless 0 < level < 1. weights: an object of numbers by the names of terms, as '
  'in bayes_coefficients; a term that it does not name has weight 0. 22023 for a name that is '
  'not a term, and for an object without names. All NULL if a term with a weight has no '
  'coefficient; sd and bounds NULL for a point estimate. 42804 for a model of another family.';

CREATE TYPE bayes_prediction AS (
  component int, label text, value float8, sd float8, lower float8, upper float8
);
COMMENT ON TYPE bayes_prediction IS
  'The prediction of a model for a row. For a mixture or a classifier, component: the most '
  'probable component, cluster or class, from 1, and label: its name, if it has one. For a '
  'regression, value: the expected response, or the probability that a binary response is true; '
  'sd, lower, upper: for linreg and glm those of a new response, for binary responses those '
  'of the probability; NULL if unknown.';

CREATE FUNCTION bayes_predict(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS bayes_prediction
  AS 'MODULE_PATHNAME' @of_labels COST 100;
COMMENT IS 'The prediction of a model for a row: SELECT t.id, p.* FROM t, bayes_predict(model, t) '
  'AS p; in an expression (bayes_predict(model, t)).component, or .label, or .value. level: the '
  'probability of the interval from lower to upper. '
  @model_takes_rows;

CREATE FUNCTION bayes_probabilities(model bayes_model, x "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' @of_labels COST 50;
COMMENT IS 'The posterior probability of every component (cluster, class) for a row, in the order '
  'of their numbers; they sum to 1. The last one of dpmm is that of a new cluster. Of logreg and '
  'probit the probabilities that the response is false, and true. linreg has none: 42804. '
  @model_takes_rows;

CREATE FUNCTION bayes_log_density(model bayes_model, x "any", given "any" DEFAULT NULL)
  RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels_given COST 50;
COMMENT IS 'The natural logarithm of the predictive density (or probability) of a row: low for '
  'rows that are unlike those of the fit. A label that occurred in no row of the fit has in each '
  'component the probability of one additional category. For nb it is summed over the labels. For '
  'hmm x is a single step, of which no past is known; that of a sequence is hmm_log_likelihood. '
  'Of conjugate models x is a value, or a label. given, unless NULL, is a row of the model, too: '
  'the result is the density of the columns of x that are not NULL, given those of given that are '
  'not, log p(x, given) - log p(given). A column that both have must be equal in both, or the '
  'density is 0 and the result -Infinity. For linreg, logreg and probit x is a response, and given '
  'the row of its predictors; for gamma_poisson given is the exposure of a count, 1 if not given. '
  'NULL for a NULL model or x, and for a row of predictors or an exposure that is NULL. '
  @missing_in_rows;

CREATE FUNCTION bayes_probabilities_mcse(model bayes_model, x "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' @of_labels COST 10000;
COMMENT IS 'The Monte Carlo standard error of each of bayes_probabilities, an average over the '
  'draws that the model stores; NULL for one that does not differ between draws. 22023 for a model '
  'without draws, 42804 for a family without. '
  @model_takes_rows;

CREATE FUNCTION bayes_log_density_mcse(model bayes_model, x "any") RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 10000;
COMMENT IS 'The Monte Carlo standard error of bayes_log_density, the log of an average over the '
  'draws that the model stores; NULL if there are too few of them, or not the same number from '
  'each chain. 22023 for a model without draws, 42804 for a family without. '
  @model_takes_rows;

CREATE FUNCTION bayes_sample(model bayes_model, n int, seed bigint, given "any" DEFAULT NULL)
  RETURNS TABLE (component int, x float8[])
  AS 'MODULE_PATHNAME' @of_labels_given COST 100 ROWS 1000;
COMMENT IS 'n draws of rows from the (predictive) mixture, of gmm, bmm, dpmm and nb, as arrays of '
  'numbers, with categories as their numbers (labels from 0, in the order of their bytes), and the '
  'component (class) that each came from; NULL for dpmm, whose draws have no common clusters. '
  'Columns of the row given that are not NULL are held, and the others drawn given these. Of hmm '
  'they are single steps, and their states; hmm_sample draws sequences. The same seed gives the '
  'same draws. 22023 for n < 0, 42804 for other families. Rows with labels: bayes_sample_rows.';

CREATE FUNCTION bayes_sample_rows(model bayes_model, n int, seed bigint)
  RETURNS TABLE (component int, record jsonb)
  AS 'MODULE_PATHNAME', 'bayes_sample_records' @of_labels COST 100 ROWS 1000;
COMMENT IS 'The draws of bayes_sample(model, n, seed) as objects with a member for every column: '
  'labels as texts, booleans as booleans; of nb with its class. 22023 for n < 0, 42804 for a model '
  'whose rows are arrays, and for families that are no distribution over rows.';

CREATE FUNCTION bayes_sample_rows(model bayes_model, n int, seed bigint, x anyelement)
  RETURNS SETOF anyelement
  AS 'MODULE_PATHNAME' @of_labels_given COST 100 ROWS 1000;
COMMENT IS 'The same draws as rows of the type of x: SELECT * FROM bayes_sample_rows(model, 10, 1, '
  'NULL::customers) gives rows of table customers, with labels, and whole numbers in columns of '
  'whole numbers, rounded. Columns that the model does not have are NULL. Values of x, if it is '
  'not NULL, are held, and the others drawn given these: bayes_impute(model, x, n, seed) does the '
  'same. 22003 for a number that the type of its column cannot hold, 23514 for what a domain '
  'forbids, 42804 for a type without columns and for families that are no distribution over rows.';

-- ---- how the components differ ----

CREATE FUNCTION _bayes_profile_transition(state internal, model bayes_model, x "any")
  RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_profile_transition' @immutable COST 100;
COMMENT IS 'Internal. Adds one row, or one sequence.';
CREATE FUNCTION _bayes_profile_final(state internal) RETURNS bayes_profile[]
  AS 'MODULE_PATHNAME', 'bayes_profile_final' @immutable COST 100;
COMMENT IS 'Internal. Computes the profile of the collected rows.';
CREATE AGGREGATE bayes_profile(model bayes_model, x "any") (
  SFUNC = _bayes_profile_transition, @profile_state, FINALFUNC = _bayes_profile_final
);
COMMENT IS 'How the rows of each component (cluster, class) differ from all other rows, column by '
  'column; of hmm, whose x is a sequence, the steps in each state. Each row (step) counts in every '
  'component with its probability of belonging to it, steps with their smoothed probabilities: '
  'SELECT * FROM unnest((SELECT bayes_profile(model, t) FROM t)). A NULL in a column is left out '
  'there and counted in missing, regardless of option missing; a row or a model that is NULL is '
  'left out; no rows give NULL. Errors: 22023 rows of several models; 22003 an impossible '
  'sequence; 42804 a model of any other family; 54000 more than ten million components times '
  'columns and categories.';

CREATE FUNCTION bayes_profile(query bayes_query, model bayes_model) RETURNS SETOF bayes_profile
  AS 'MODULE_PATHNAME', 'bayes_profile_query' @volatile COST 100000 ROWS 100;
COMMENT IS 'The same for the rows of a query, as a relation: SELECT * FROM bayes_profile(''SELECT '
  'age, plan FROM customers'', model). query: one SELECT of the columns of a row, or of one array, '
  'sequence or document; it is run as the caller, read-only. No rows for no rows. 22004 for a '
  'NULL, 22023 for any other query.';

-- ---- new rows against those of the fit ----

CREATE TYPE bayes_drift AS (
  element int, column_name text, rows bigint, distance float8, log_density float8,
  log_density_fit float8, z float8, p float8, nulls float8, nulls_fit float8, unknown float8,
  unknown_p float8
);
COMMENT ON TYPE bayes_drift IS
  'How far new rows are from those of a model''s fit: as whole rows (element NULL), or in one '
  'column (element: from 1). rows: the number of new rows; distance: Jensen-Shannon, in base 2, '
  'from 0 (alike) to 1 (nothing in common), of the binned values and NULLs, or of the log '
  'densities; log_density: the mean log density of the new rows, of those that the model scores; '
  'log_density_fit: what it is expected to be without drift; z: the difference of both in standard '
  'errors, negative for rows that are less probable; of a column the standard normal quantile of '
  '1 - p, large under drift; p: the probability of at least such a difference without drift, NULL '
  'if there are too few rows to tell; nulls, nulls_fit: the share of rows with a NULL here (for '
  'whole rows: in any column), among the new rows and those of the fit; unknown: the share of new '
  'rows with a label that the model does not know; unknown_p: the probability of at least so many '
  'without drift, judged by the labels of the fit that only one row or two have, NULL for columns '
  'without labels; for whole rows the least of the columns times their number.';

CREATE FUNCTION _bayes_drift_transition(state internal, model bayes_model, x "any")
  RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_drift_transition' @immutable COST 50;
COMMENT IS 'Internal. Counts one row.';
CREATE FUNCTION _bayes_drift_final(state internal) RETURNS bayes_drift[]
  AS 'MODULE_PATHNAME', 'bayes_drift_final' @immutable COST 100;
COMMENT IS 'Internal. Compares the counted rows with those of the fit.';
CREATE AGGREGATE bayes_drift(model bayes_model, x "any") (
  SFUNC = _bayes_drift_transition, @profile_state, FINALFUNC = _bayes_drift_final, @combine_sums
);
COMMENT IS 'How far new rows are from those of the model''s fit, one element of type bayes_drift '
  'for whole rows and one for each column (none if there are more than 256): SELECT d.* FROM '
  'unnest((SELECT bayes_drift(model, t) FROM t)) AS d ORDER BY least(p, unknown_p). Columns are '
  'matched by name; absent ones count as NULL. For '
  'models that take rows: gmm, bmm, dpmm, nb, linreg, logreg and probit; regressions have no log '
  'density of rows. Rows with a NULL are left out of the tests if the fit left them out '
  '(missing = skip), else NULL is a value like others. A row or a model that is NULL is left out; '
  'no rows give NULL. Errors: 22023 rows of several models, or a model that keeps nothing of its '
  'rows: a merged one, one that updates another (nb) or was fitted to statistics (linreg), to '
  'more weighted rows than the sample of 2,048 (nb, linreg; fewer of more than 8 columns), to rows '
  'of more than 256 columns (nb and regressions) or by an earlier version; 42804 a model of any '
  'other family.';

CREATE FUNCTION bayes_drift(query bayes_query, model bayes_model) RETURNS SETOF bayes_drift
  AS 'MODULE_PATHNAME', 'bayes_drift_query' @volatile COST 100000 ROWS 10;
COMMENT IS 'The same for the rows of a query, as a relation: SELECT * FROM bayes_drift(''SELECT '
  'age, plan FROM customers'', model) ORDER BY least(p, unknown_p). query and errors: as '
  'bayes_profile(query, model).';
