-- Bayes classifiers

DEFINE @nb_are =
  'label: the class of the row, of any type; it is stored as text, equal numbers as one class. '
  'features: a record, whose numbers are normal, booleans Bernoulli and texts categorical unless '
  'option likelihood says otherwise; an array of numbers; a jsonb object of names and numbers, '
  'booleans or strings, in which a number or boolean that is absent is 0 or false; or a tsvector, '
  'whose lexemes are counted. A row whose label or features are NULL is skipped; a NULL among the '
  'features is ignored; no rows give NULL. Errors: 22023 invalid option, argument or value, naming '
  'row and column or key; 2202E rows of different length; 22003 values too large to compute with; '
  '54000 more than 10000 classes, 10000 labels of a column, 1000000 names, or 10000000 statistics '
  'altogether.';
DEFINE @nb_options = 'options: see docs/classification.md; NULL means none.';
DEFINE @nb_sums =
  SFUNC = _nb_transition, STYPE = internal, SSPACE = 65536, PARALLEL = SAFE,
  FINALFUNC = _bayes_sums_final, COMBINEFUNC = _bayes_sums_combine,
  SERIALFUNC = _bayes_sums_serialize, DESERIALFUNC = _bayes_rows_deserialize;

-- ---- aggregates: labelled rows in, a model out ----

-- For nb_fit and nb_update: arguments are distinguished by their types.
CREATE FUNCTION _nb_transition(
  state internal, label "any", features "any"
  [, argument1 "any" [, argument2 "any" [, weight float8]]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'nb_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE AGGREGATE nb_fit(label "any", features "any" [, options jsonb [, weight float8]]) (
  @nb_sums
);
COMMENT IS 'Fits a Bayes classifier to labelled rows, exactly and in one pass: naive Bayes with a '
  'family for each column, or normal columns with a full covariance matrix. Models can be merged '
  'by bayes_rollup. '
  @nb_are;
COMMENT IS 'The same with options. '
  @nb_options;
COMMENT IS 'The same with a weight for each row: how many times it counts. A row of weight 0 or '
  'NULL is left out; 22023 if negative, not finite, or all zero. '
  @nb_options;

CREATE AGGREGATE nb_update(
  label "any", features "any", prior bayes_model [, options jsonb [, weight float8]]
) (@nb_sums);
COMMENT IS 'Learns from more labelled rows: the classifier of the rows of the given model and of '
  'these, as if it had been fitted to all of them; classes, labels and names that the model does '
  'not know are added. 42804 for a model of another family. '
  @nb_are;
COMMENT IS 'The same with options missing and on_error; all others are those of the model.';
COMMENT IS 'The same with options and weights.';

-- ---- relations: a query in, a relation out ----

DEFINE @nb_query =
  'query: one SELECT of the label and the features, columns, or one array, record, jsonb or '
  'tsvector; option weight names a column that says how many times each row counts, option id a '
  'column that is left out. It is run as the caller, read-only. 22023 for any other query. Other '
  'errors: as those of the aggregate.';

-- With options of type jsonb a call with two literals would be ambiguous.
CREATE FUNCTION nb_fit(query bayes_query, options "any" DEFAULT NULL)
  RETURNS TABLE (class text, rows bigint, weight float8, prior float8, probability float8,
    sd float8)
  AS 'MODULE_PATHNAME', 'nb_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a Bayes classifier to the rows of a query and returns its classes, as nb_classes '
  'does. '
  @nb_query
  ' '
  @nb_options;

CREATE FUNCTION nb_model(query bayes_query, options jsonb DEFAULT NULL) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'nb_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a Bayes classifier to the rows of a query and returns the model.'
  ' Query, options and errors are those of nb_fit(query, ...); NULL if there are no rows.';

-- ---- a model as relations ----

CREATE FUNCTION nb_classes(model bayes_model)
  RETURNS TABLE (class text, rows bigint, weight float8, prior float8, probability float8,
    sd float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The classes in the order of the bytes of their labels: class, the label; rows, and '
  'their weight; prior, the prior probability of the class; probability, its posterior mean, and '
  'sd, its posterior standard deviation. 42804 for a model of another family.';

CREATE FUNCTION nb_features(model bayes_model, level float8 DEFAULT 0.95)
  RETURNS TABLE (class text, element int, column_name text, likelihood text, parameter text,
    category bigint, label text, value float8, sd float8, lower float8, upper float8)
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 100;
COMMENT IS 'The distribution of the features in each class: one row for every parameter of a '
  'feature: mean and sd of a normal feature, the probability of true, or of each category, or a '
  'rate. value: posterior mean; sd: its posterior standard deviation; lower, upper: an interval '
  'that contains the parameter with probability level, 22023 unless 0 < level < 1. column_name: '
  'NULL if rows were arrays. 42804 for a model of another family.';

-- ---- a model and a row ----

CREATE FUNCTION nb_predict(model bayes_model, features "any") RETURNS text
  AS 'MODULE_PATHNAME' @of_labels COST 50;
COMMENT IS 'The most probable label of a row, by the posterior predictive. Columns are matched by '
  'name. NULLs, and labels and names that occurred in no row of the fit, are ignored. If the model '
  'was fitted with option missing = skip the result for a row with a NULL is NULL, with missing = '
  'error it is an error (22004). 22023 for a row of another form, or an invalid value.';

CREATE FUNCTION nb_probability(model bayes_model, features "any", label "any") RETURNS float8
  AS 'MODULE_PATHNAME' @of_labels COST 50;
COMMENT IS 'The posterior probability that a row has this label. 22023 for a label that occurred '
  'in no row of the fit.';

CREATE FUNCTION nb_probabilities(model bayes_model, features "any")
  RETURNS TABLE (class text, probability float8)
  AS 'MODULE_PATHNAME' @of_labels COST 100 ROWS 10;
COMMENT IS 'The posterior probability of every class for a row, in descending order; they sum to '
  '1.';
