-- Functions for a model of any family.

DEFINE @model_takes_rows =
  'Columns are matched by name. For models that take rows: gmm, bmm, dpmm, nb, linreg, logreg and '
  'probit. Option missing of the fit determines the result for a NULL, or a label that the model '
  'does not know: marginalize, the other elements alone count; skip, the result is NULL; error, an '
  'error (22004, 22023). Errors: 42804 for a model of any other family, with the functions of that '
  'family to use instead; 2202E if the row does not have the length of the model''s rows, 22023 '
  'for an invalid element.';

CREATE FUNCTION bayes_parameters(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS @parameters_table
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 100;
COMMENT IS 'The parameters of a model as rows, those of F_parameters where the family has this '
  'function: for components, clusters, states and classes the weights and the parameters of every '
  'column; for topics (lda) the weight, and the probability of every term (label); for factors '
  '(nmf) the weight, and the weights of every row and column (row_weight, column_weight), with the '
  'key in label; for regressions the coefficient of every term (label), and for linreg the '
  'noise_variance; for conjugate models their parameters. Intervals contain a parameter with '
  'probability level, 22023 unless 0 < level < 1. 42804 for models of pmf, whose vectors have no '
  'meaning element by element. '
  @parameters;

CREATE TYPE bayes_prediction AS (
  component int, label text, value float8, sd float8, lower float8, upper float8
);
COMMENT ON TYPE bayes_prediction IS
  'The prediction of a model for a row. For a mixture or a classifier, component: the most '
  'probable component, cluster or class, from 1, and label: its name, if it has one. For a '
  'regression, value: the expected response, or the probability that a binary response is true; '
  'sd, lower, upper: for linreg those of a new response, for logreg and probit those of the '
  'probability; NULL if unknown.';

CREATE FUNCTION bayes_predict(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS bayes_prediction
  AS 'MODULE_PATHNAME' @of_labels COST 100;
COMMENT IS 'The prediction of a model for a row: (bayes_predict(model, t)).component, or .label, '
  'or .value. level: the probability of the interval from lower to upper. '
  @model_takes_rows;

CREATE FUNCTION bayes_probabilities(model bayes_model, x "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' @of_labels COST 50;
COMMENT IS 'The posterior probability of every component (cluster, class) for a row, in the order '
  'of their numbers; they sum to 1. The last one of dpmm is that of a new cluster. Regressions '
  'have no components: 42804. '
  @model_takes_rows;

CREATE FUNCTION bayes_log_density(model bayes_model, x "any") RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 50;
COMMENT IS 'The natural logarithm of the predictive density (or probability) of a row: low for '
  'rows that are unlike those of the fit. For nb it is summed over the labels. Regressions have a '
  'density of the response only: 42804. '
  @model_takes_rows;

CREATE FUNCTION bayes_sample(model bayes_model, n int, seed bigint)
  RETURNS TABLE (component int, x float8[])
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1000;
COMMENT IS 'n draws of rows from the (predictive) mixture, of gmm and bmm, and the component that '
  'each came from. The same seed gives the same draws. 22023 for n < 0, 42804 for other families.';
