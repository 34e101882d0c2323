-- Questions to any model that is a distribution over rows.

DEFINE @rows_of_questions =
  'Rows are records whose columns are matched by name (others are ignored, absent ones count as '
  'NULL), arrays, or single values; NULL is not observed, whatever option missing of the fit '
  'says. The class of nb is one more column of rows, called class (class_ if a feature is called '
  'so), of arrays one more element, the number of the class from 1. A label that the model does '
  'not know is no evidence, and a NOTICE names the nearest one that it knows. Rows of hmm are '
  'single steps: of names a value is a row, or a record with a column called symbol; nothing is '
  'known of their past, so that a state has its share of the steps of the fit. Errors: 42804 for '
  'a model that is no distribution over rows (gmm, bmm, dpmm and nb are, and hmm of steps), '
  '2202E for rows of another length, 22023 for a value that a column cannot have, 22003 if the '
  'density of what is given is 0.';

CREATE FUNCTION bayes_condition(model bayes_model, given "any") RETURNS bayes_model
  AS 'MODULE_PATHNAME' @of_labels COST 10000;
COMMENT IS 'The model of the columns that are NULL in the row given, given the others: a model of '
  'the family conditional, which answers all questions as any model, has bayes_predict, '
  'bayes_parameters, ... if the model has them, and may be conditioned again. Components have the '
  'weight that they have given these columns; after sampling draws have, too. A row of NULLs gives '
  'the model itself; the column of a label that the model does not know is left out. '
  'bayes_parameters has the weights without intervals, and of a column that depends on those given '
  'the parameters of its distribution given these. 22023 if no column remains. '
  @rows_of_questions;

CREATE FUNCTION bayes_conditional(model bayes_model, x "any", level float8 DEFAULT 0.95)
  RETURNS TABLE (element int, column_name text, label text, value float8, mean float8, sd float8,
    lower float8, upper float8, probability float8)
  AS 'MODULE_PATHNAME' @of_labels COST 1000 ROWS 10;
COMMENT IS 'What the NULLs of a row are, given its other columns: for a number one line with its '
  'median (value), mean, standard deviation and the bounds of the interval of probability level, '
  'its quantiles; for a category or a boolean a line for each label with its probability. mean and '
  'sd are NULL where they do not exist, as for a Student t of few degrees of freedom. A row '
  'without a NULL gives no lines. 22023 unless 0 < level < 1. '
  @rows_of_questions;

CREATE FUNCTION bayes_impute(model bayes_model, x anyelement) RETURNS anyelement
  AS 'MODULE_PATHNAME' @of_labels COST 200;
COMMENT IS 'The row itself, of its own type, with the NULLs in columns of the model replaced given '
  'its other columns: by the median of a number, rounded for a column of whole numbers, and the '
  'most probable label of a category. Other columns stay, and so does a row without a NULL. '
  'UPDATE t SET spend = (bayes_impute(model, t)).spend WHERE spend IS NULL. 22003 for a number '
  'that the type of its column cannot hold, 23514 for what a domain forbids. '
  @rows_of_questions;

CREATE FUNCTION bayes_impute(model bayes_model, x anyelement, n int, seed bigint)
  RETURNS SETOF anyelement
  AS 'MODULE_PATHNAME', 'bayes_impute_draws' @of_labels COST 1000 ROWS 10;
COMMENT IS 'n copies of the row with its NULLs replaced by draws from their joint distribution '
  'given its other columns, for multiple imputation: the values of one copy belong together. Rows '
  'that differ in columns of the model have independent draws; equal ones with an equal seed have '
  'equal draws, so the seed should differ by row, as one made of its key does. 22023 for n < 0. '
  @rows_of_questions;

CREATE FUNCTION bayes_similarity(model bayes_model, x "any", y "any") RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 100;
COMMENT IS 'The probability that two rows come from one component of the model (cluster, class), '
  'given what each has observed; after a sampler over all stored draws, in which each row tells '
  'of the component that the other may be of. Rows may be observed in different columns. '
  @rows_of_questions;

CREATE FUNCTION bayes_surprise(model bayes_model, x "any")
  RETURNS TABLE (element int, column_name text, value text, expected text, lower float8,
    upper float8, surprise float8, tail float8)
  AS 'MODULE_PATHNAME' @of_labels COST 1000 ROWS 10;
COMMENT IS 'Why a row is strange: for each of its columns that is not NULL what the other '
  'columns let expect, the median or the most probable label, with the bounds of the interval of '
  'probability 0.95 (NULL for labels); surprise: -log p(column | the others) in nats, a density '
  'for numbers with a fraction, so that it depends on their unit; tail: the probability of a '
  'value that is at least as far out: of a number twice the smaller tail, of a label its own and '
  'that of all known labels that are no more probable. tail can be compared between columns, '
  'surprise between rows. value is NULL for a label that the model does not know. '
  @rows_of_questions;

CREATE FUNCTION bayes_anomaly(model bayes_model, x "any") RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 200;
COMMENT IS 'How strange a row is: the probability that a row of the model, observed in the same '
  'columns, is at most as probable as this one, p(density(X) <= density(x)). Small for strange '
  'rows, uniform for rows of the model (if a column has a density); so it can be compared '
  'between rows with different NULLs, and between models. Exact for one normal or Student t of '
  'full, tied or spherical covariance, for independent normals at a point, and for rows of a few '
  'labels. Otherwise from 1,000 draws of the model, and for rows below 0.01 from 10,000, with a '
  'fixed seed: the standard error is at most 0.016. Rows beyond all draws get an upper bound '
  'instead, which goes on to 0. A row with labels that the model does not know is compared also '
  'with rows that have such labels there. A row of NULLs has 1. '
  @rows_of_questions;

DEFINE @several_models =
  'Each model is blind to something that another one sees. The first model says what rows are '
  'like, so it should be the one that fits best; the others only judge them, and their number is '
  'allowed for. A component that has less than a tenth of the rows, and less than half of what '
  'each would have if all had as many, is left out of its model, as strange rows may have it of '
  'their own. The models must have the same columns, with the same labels (22023). ';
CREATE FUNCTION bayes_anomaly(models bayes_model[], x "any") RETURNS float8
  AS 'MODULE_PATHNAME', 'bayes_anomaly_of_models' @of_labels COST 500;
COMMENT IS 'How strange a row is to any of several models: the probability that a row of the '
  'first model, observed in the same columns, is as strange as this one to the model to which it '
  'is strangest. To a model a row is the stranger the less of such rows have a smaller density. '
  'Small for strange rows, uniform for rows of the first model (if a column has a density) without '
  'its components of few rows. '
  @several_models
  'From 10,000 draws with a fixed seed, or 1,000 for rows with NULLs: the standard error is at '
  'most 0.005, or 0.016. A row with a density below those of all draws has less than 0.0001, or '
  '0.001, by an exponential tail of their logarithms: an extrapolation, which orders such rows. '
  'Labels that the models do not know add the probability of such labels. A row of NULLs has 1. '
  'NULL if a model is NULL. '
  @rows_of_questions;
CREATE FUNCTION bayes_surprise(models bayes_model[], x "any")
  RETURNS TABLE (model int, anomaly float8, element int, column_name text, value text,
    expected text, lower float8, upper float8, surprise float8, tail float8)
  AS 'MODULE_PATHNAME', 'bayes_surprise_of_models' @of_labels COST 2000 ROWS 30;
COMMENT IS 'Which of several models finds a row strange, and in which column: for every model its '
  'number in the array; anomaly: the probability that a row of the first model, observed in the '
  'same columns, is as strange to this model, of which bayes_anomaly(models, x) takes the least '
  'and allows for their number; and for each column that is not NULL what bayes_surprise(model, x) '
  'says of it. '
  @several_models
  'No rows if a model is NULL. '
  @rows_of_questions;

DEFINE @box =
  'A bound that is NULL does not bind; bounds belong to the box, which matters for whole '
  'numbers; of a label, or of true and false, one bound suffices, and means the label itself. A '
  'label that the model does not know has the probability that log densities give it. Exact '
  'where columns are independent given the component (product families, diagonal covariances), '
  'for one bound column, and for two; otherwise seeded quasi-Monte Carlo. 22023 for a lower '
  'bound above the upper one, and for two different labels. ';
CREATE FUNCTION bayes_probability(
  model bayes_model, lower "any", upper "any", given "any" DEFAULT NULL
) RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels_given COST 500;
COMMENT IS 'The probability that a row lies between the bounds in the rows lower and upper, given '
  'the columns of the row given that are not NULL. NULL for a NULL model or bound. '
  @box
  @rows_of_questions;
CREATE FUNCTION bayes_probability_mcse(
  model bayes_model, lower "any", upper "any", given "any" DEFAULT NULL
) RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels_given COST 500;
COMMENT IS 'The Monte Carlo standard error of bayes_probability, 0 where that is exact. '
  @rows_of_questions;

CREATE FUNCTION bayes_mutual_information(model bayes_model, options jsonb DEFAULT NULL)
  RETURNS TABLE (element1 int, column1 text, element2 int, column2 text, nats float8, mcse float8,
    dependence float8)
  AS 'MODULE_PATHNAME' @immutable COST 100000 ROWS 100;
COMMENT IS 'What goes with what: for each pair of columns their mutual information in nats, and '
  'dependence, sqrt(1 - exp(-2 nats)), which for two normals is the absolute correlation: 0 for '
  'independent columns. mcse: the Monte Carlo standard error of nats, 0 where it is exact: for two '
  'labels, for a label and a number (an integral), and for numbers of a single normal; for two '
  'others it comes from draws. options: draws, their number (2 to 10000000, 10000 if not given), '
  'and seed (1 if not given); NULL means none. A column with itself has its entropy if it has '
  'labels, and NULL if it is a number. Given the component the columns of product families are '
  'independent, so that their mutual information is at most the entropy of the component, and 0 '
  'for a single one. No rows for a NULL model. 22023 for an invalid option, 54000 for more than 20 '
  'million draws times columns, 42804 for a model that is no distribution over rows (gmm, bmm, '
  'dpmm and nb are, and hmm of steps).';
