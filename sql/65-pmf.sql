-- Probabilistic matrix factorization

DEFINE @pmf_new =
  'cells: the numbers of the row, as a jsonb object of column keys and numbers, {"alien": 4, '
  '"heat": 2.5}. Columns that the model does not know (with a WARNING, once, if it knows none of '
  'them) and nulls are ignored; without any other cell the result is that for an unknown row. In '
  'every stored draw the row''s vector and mean have their exact posterior. 22023 for anything but '
  'such an object, 22003 for a number out of proportion to those of the table, 42804 for a model '
  'of another family.';
DEFINE @pmf_line =
  'side: ''row'', or ''column'' for a new column; then its cells are given by row keys, and the '
  'other key is that of a row. 22023 if it is neither.';
DEFINE @pmf_weight =
  'A cell of weight 0 or NULL is left out; 22023 if a weight is negative, not finite or above '
  '1e150, or if all are zero.';
DEFINE @pmf_options = ' options: see docs/pmf.md; NULL means none.';

-- ---- aggregates: cells in, a model out ----

CREATE FUNCTION _pmf_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'pmf_fit_final' @immutable COST 1000000;
COMMENT IS 'Internal. Factorizes the collected table.';

-- No combine function, as for nmf_fit.
CREATE FUNCTION _pmf_fit_transition(
  state internal, row_key "any", column_key "any", value "any", rank "any"
  [, options "any" [, weight "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'pmf_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one cell.';

CREATE AGGREGATE pmf_fit(
  row_key "any", column_key "any", value float8, rank int [, options jsonb [, weight float8]]
) (
  SFUNC = _pmf_fit_transition, @state, FINALFUNC = _pmf_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS 'Fits a probabilistic matrix factorization to ratings, or any numbers of pairs, by '
  'Gibbs sampling. Each row gives the number in one cell of a table: the keys of its row and its '
  'column, of any types, which are stored as text, and a finite number. Absent cells are missing, '
  'and can be predicted. Cells come in any order. rank: the dimension of the vectors of rows and '
  'columns, 1 to 1000. A NULL number only says that row and column exist; a cell with a NULL key '
  'is skipped, and if there are no rows or no columns the result is NULL. Errors: 22023 invalid '
  'option or argument, a cell that occurs twice (see option repeated), a number that is not '
  'finite, or no numbers at all; 22003 a number beyond 1e300; 54000 a key longer than 10000 bytes, '
  'more than 10000000 keys, or more numbers than memory allows.';
COMMENT IS 'The same with options.'
  @pmf_options;
COMMENT IS 'The same with a weight for each cell, by which its precision is multiplied: the '
  'variance of its noise is noise_variance / weight. '
  @pmf_weight
  @pmf_options;
CREATE AGGREGATE pmf_fit(
  row_key "any", column_key "any", value float8, start bayes_model
  [, options jsonb [, weight float8]]
) (
  SFUNC = _pmf_fit_transition, @state, FINALFUNC = _pmf_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS 'Fits a probabilistic matrix factorization, of the same rank, starting from a fitted '
  'one, for instance of last month''s ratings: each chain begins at a stored draw of it. Keys that '
  'it does not know begin with draws from the distribution of their side, and keys without cells '
  'here are left out. Options means, rated and repeated and the prior are those of the start, '
  'unless options name others. Errors: 42804 for a model of another family; others as above.';
COMMENT IS 'The same with options.'
  @pmf_options;
COMMENT IS 'The same with options and weights. '
  @pmf_weight
  @pmf_options;

-- ---- relations ----

DEFINE @pmf_keys =
  'side ''row'' or ''column'', the key, and the prediction of pmf_predict for a cell of that row '
  'or column whose other key is unknown: the expected number, and the standard deviation of a new '
  'number.';

CREATE FUNCTION pmf_keys(model bayes_model)
  RETURNS TABLE (side text, key text, mean float8, sd float8)
  AS 'MODULE_PATHNAME' @strict COST 10000 ROWS 1000;
COMMENT IS 'The rows and columns of the table: '
  @pmf_keys
  ' 42804 for a model of another family.';

CREATE FUNCTION pmf_fit(
  query bayes_query, rank int DEFAULT NULL, options jsonb DEFAULT NULL,
  start bayes_model DEFAULT NULL
) RETURNS TABLE (side text, key text, mean float8, sd float8)
  AS 'MODULE_PATHNAME', 'pmf_fit_query' @volatile COST 1000000 ROWS 1000;
COMMENT IS 'Fits a probabilistic matrix factorization to the table of a query and returns its rows '
  'and columns, as pmf_keys does: '
  @pmf_keys
  ' query: one SELECT of row, column and number of each cell, with its weight if there is a fourth '
  'column, of an array of numbers for each row, or of a key and such an array; it is run as the '
  'caller, read-only. 22023 for any other query. '
  'Other errors: as the aggregate pmf_fit.'
  @from_start
  @pmf_options;

CREATE FUNCTION pmf_model(
  query bayes_query, rank int DEFAULT NULL, options jsonb DEFAULT NULL,
  start bayes_model DEFAULT NULL
)
  RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'pmf_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a probabilistic matrix factorization to the table of a query and returns the '
  'model.'
  ' Query, options and errors are those of pmf_fit(query, ...); NULL if there are no rows.'
  @pmf_options;

-- ---- a model and keys ----

CREATE FUNCTION pmf_predict(model bayes_model, row_key "any", column_key "any")
  RETURNS TABLE (mean float8, sd float8, mcse float8)
  AS 'MODULE_PATHNAME' @of_labels COST 100 ROWS 1;
COMMENT IS 'The expected number in a cell, by the keys of its row and its column, and the standard '
  'deviation of a new number there, both averages over the stored draws; mcse is the Monte Carlo '
  'standard error of the mean, NULL if there are fewer than 6 stored draws of a chain. An unknown '
  'key has the distribution of the known ones. 42804 for a model of another family.';

CREATE FUNCTION pmf_predict_new(model bayes_model, cells jsonb, key "any", side text DEFAULT 'row')
  RETURNS TABLE (mean float8, sd float8, mcse float8)
  AS 'MODULE_PATHNAME' @of_labels COST 1000 ROWS 1;
COMMENT IS 'The prediction of pmf_predict for a new row, given its cells, and a column by its key. '
  @pmf_new
  ' '
  @pmf_line;

CREATE FUNCTION pmf_recommend_new(
  model bayes_model, cells jsonb, n int, side text DEFAULT 'row'
) RETURNS TABLE (key text, mean float8, sd float8)
  AS 'MODULE_PATHNAME' @of_labels COST 10000 ROWS 10;
COMMENT IS 'The n columns with the largest expected numbers for a new row, in descending order, '
  'without those of its cells: their keys, and the predictions of pmf_predict_new. 22023 also if n '
  'is less than 1. '
  @pmf_new
  ' For a column, the n rows with the largest numbers. '
  @pmf_line;

CREATE FUNCTION pmf_recommend(
  model bayes_model, row_key "any", n int, rated boolean DEFAULT false
) RETURNS TABLE (key text, mean float8, sd float8)
  AS 'MODULE_PATHNAME' @of_labels COST 10000 ROWS 10;
COMMENT IS 'The n columns with the largest expected numbers for a row, in descending order, '
  'without those for which the row had a number: their keys, and the predictions of pmf_predict. '
  'For an unknown row the columns with the largest expected numbers overall. 22023 if n is less '
  'than 1, or if the model was fitted with option rated = false; 42804 for a model of another '
  'family. rated: true for all columns, including those for which the row had a number.';

CREATE FUNCTION pmf_similar(model bayes_model, key "any", n int, side text DEFAULT 'column')
  RETURNS TABLE (key text, similarity float8, sd float8)
  AS 'MODULE_PATHNAME' @of_labels COST 10000 ROWS 10;
COMMENT IS 'The n columns whose numbers are most like those of one column, in descending order: '
  'the posterior mean and standard deviation of the correlation of both columns over rows, without '
  'noise and without the means of the rows. No rows for an unknown column. 22023 if n is less than '
  '1; 42804 for a model of another family. side: ''column'', or ''row'' for the rows most like one '
  'row; 22023 if it is neither.';
