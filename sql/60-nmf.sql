-- Non-negative matrix factorization

DEFINE @nmf_cells =
  'Each row tells the number of one cell of a table: keys of its row and its column, of any types, '
  'which are stored by their text, and a number, finite and not negative. Cells come in any order. '
  'A NULL number says that row and column exist; a cell with a NULL is skipped, and if there are '
  'no rows or no columns the result is NULL. Errors: 22023 invalid option or argument, or a number '
  'negative or not finite; 22003 repeated cells whose sum overflows; 54000 a key longer than 10000 '
  'bytes, more than 10000000 keys, or more parameters than memory allows.';
DEFINE @nmf_arrays =
  'x: the numbers of one row of a table, finite and not negative, of the same length in every '
  'row; the keys of rows are ''1'', ''2'', ... in the order in which they come, which without '
  'ORDER BY in the aggregate is any, and those of columns the positions in the array. A NULL x is '
  'skipped, a NULL element is a cell without a number; no rows give NULL. '
  'Errors: 22023 invalid option or argument, or a number negative or not finite; 2202E '
  'rows of different length; 54000 more parameters than memory allows.';
DEFINE @nmf_fits =
  'Fits a non-negative factorization with k factors (1 to 1000) to a table. ';
DEFINE @nmf_starts =
  'Fits a non-negative factorization to a table, starting from a fitted one: factors keep their '
  'numbers, and rows and columns that it knows their weights. 42804 for a model of another '
  'family. ';
DEFINE @nmf_options = ' options: see docs/nmf.md; NULL means none.';
DEFINE @nmf_row =
  'cells: those of a row that was not fitted, as a jsonb object of column keys and numbers, or, of '
  'a model of arrays, as an array. Columns that the model does not know are no evidence (a '
  'WARNING, once, if it knows none of a row). 22023 for a number negative or not finite, 2202E for '
  'an array of another length, 42804 for a model of another family.';
DEFINE @nmf_line =
  'side: ''row'', or ''column'' for a column that was not fitted; its cells have the keys of rows, '
  'or an array an element for each row. 22023 if it is neither.';

-- ---- aggregates: cells in, a model out ----

CREATE FUNCTION _nmf_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'nmf_fit_final' @immutable COST 1000000;
COMMENT IS 'Internal. Factorizes the collected table.';

-- No combine function: keys are numbered, and cells sorted, by one process. Once a final function
-- has put the table in order nothing can be added, so these are no window functions.
CREATE FUNCTION _nmf_fit_transition(state internal, x float8[], k "any" [, options "any"])
  RETURNS internal
  AS 'MODULE_PATHNAME', 'nmf_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row, with factors by their number or from a model.';
CREATE FUNCTION _nmf_fit_transition(
  state internal, row_key "any", column_key "any", value "any", k "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'nmf_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one cell.';

CREATE AGGREGATE nmf_fit(x float8[], k int [, options jsonb]) (
  SFUNC = _nmf_fit_transition, @state, FINALFUNC = _nmf_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @nmf_fits
  @nmf_arrays;
COMMENT IS 'The same with options.'
  @nmf_options;

CREATE AGGREGATE nmf_fit(row_key "any", column_key "any", value float8, k int [, options jsonb]) (
  SFUNC = _nmf_fit_transition, @state, FINALFUNC = _nmf_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @nmf_fits
  @nmf_cells;
COMMENT IS 'The same with options.'
  @nmf_options;

CREATE AGGREGATE nmf_fit(x float8[], start bayes_model [, options jsonb]) (
  SFUNC = _nmf_fit_transition, @state, FINALFUNC = _nmf_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @nmf_starts
  @nmf_arrays;
COMMENT IS 'The same with options.'
  @nmf_options;

CREATE AGGREGATE nmf_fit(
  row_key "any", column_key "any", value float8, start bayes_model [, options jsonb]
) (
  SFUNC = _nmf_fit_transition, @state, FINALFUNC = _nmf_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @nmf_starts
  @nmf_cells;
COMMENT IS 'The same with options.'
  @nmf_options;

-- ---- a relation: a query in, a relation out ----

DEFINE @nmf_query =
  'query: one SELECT of row, column and number of each cell, of an array of numbers for each row, '
  'or of a key and such an array; it is run as the caller, read-only. 22023 for any other query. '
  'Other errors: as the aggregate nmf_fit.';

CREATE FUNCTION nmf_fit(query bayes_query, k int, options jsonb DEFAULT NULL)
  RETURNS TABLE (side text, key text, factor int, value float8, shape float8, rate float8)
  AS 'MODULE_PATHNAME', 'nmf_factorize' @volatile COST 1000000 ROWS 1000;
COMMENT IS 'Factorizes the table of a query with k factors, and shows the weights of every row and '
  'column: side ''row'' or ''column'', the key, the factor, numbered from 1, and its weight; after '
  'methods with a posterior the posterior mean, and shape and rate of its gamma distribution. '
  @nmf_query
  @nmf_options;

CREATE FUNCTION nmf_factorize(query bayes_query, k int, options jsonb DEFAULT NULL)
  RETURNS TABLE (side text, key text, factor int, value float8, shape float8, rate float8)
  AS 'MODULE_PATHNAME' @volatile COST 1000000 ROWS 1000;
COMMENT IS 'The same as nmf_fit(query, k). '
  @nmf_query
  @nmf_options;

CREATE FUNCTION nmf_model(query bayes_query, k int, options jsonb DEFAULT NULL) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'nmf_model_query' @volatile COST 1000000;
COMMENT IS 'Factorizes the table of a query with k factors and returns the model.'
  ' Query, options and errors are those of nmf_fit(query, ...); NULL if there are no rows.'
  @nmf_options;

CREATE FUNCTION nmf_select(query bayes_query, ks int[], options jsonb DEFAULT NULL)
  RETURNS TABLE (k int, log_likelihood float8, cells float8, objective float8, iterations int,
    converged boolean, model bayes_model, standard_error float8, best boolean, reason text)
  AS 'MODULE_PATHNAME' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Factorizes nine tenths of the table of a query for every k, and tells how well the '
  'model predicts the others: of the rows, or of the columns if there are more, every tenth is '
  'held out, drawn by a hash of its key. Its weights are inferred from the cells of one half of '
  'the keys of the other side; log_likelihood is that of the cells of the other half, so many '
  'cells. The model is that of the nine tenths, and NULL unless option models is true. '
  'standard_error: of log_likelihood, by lines; best, for a reason in words: after vi and svi the '
  'largest objective, or the smallest k within 1 nat of it, after em and squared the smallest k '
  'whose log_likelihood is within one standard error of the largest. query and errors: as '
  'nmf_factorize; 22023 also for fewer than ten rows and columns.'
  @nmf_options;

-- ---- a model as relations ----

CREATE FUNCTION nmf_factors(model bayes_model)
  RETURNS TABLE (side text, key text, factor int, value float8, shape float8, rate float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1000;
COMMENT IS 'The weights of every row and column: side ''row'' or ''column'', the key, the factor, '
  'numbered from 1, and its weight; after methods with a posterior the posterior mean, and shape '
  'and rate of its gamma distribution, NULL after others. 42804 for a model of another family.';

CREATE FUNCTION nmf_shares(model bayes_model)
  RETURNS TABLE (factor int, share float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The factors, numbered from 1, and the share of each in the expected sum of all cells. '
  '42804 for a model of another family.';

CREATE FUNCTION nmf_error(model bayes_model)
  RETURNS TABLE (squared float8, divergence float8, explained float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS 'How well the expected numbers of all cells describe the table of the fit: the sum of '
  'squared errors; the divergence, the sum of x ln(x / mean) - x + mean, half of the deviance of '
  'Poisson counts; and the share of it that is explained, 1 - divergence / that from the mean of '
  'all cells. The last two are NULL if a cell has a number but mean 0, the last also if all cells '
  'are equal. 42804 for a model of another family.';

-- ---- a model and a cell, or a row ----

CREATE FUNCTION nmf_predict(model bayes_model, row_key "any", column_key "any")
  RETURNS TABLE (mean float8, variance float8)
  AS 'MODULE_PATHNAME' @of_labels COST 100 ROWS 1;
COMMENT IS 'The expected number of a cell, by the keys of its row and its column, and the variance '
  'of a new count there, by the variational approximation, in small tables rather too small; NULL '
  'after method squared. A key that the model does not know has the '
  'prior''s distribution, whose mean is infinite if it is hierarchical and its option h is at most '
  '1 (then variance is NULL; at most 2, it alone is); after methods without a posterior it is like '
  'the mean of the others. Keys are values of any type; a NULL gives no row. 42804 for a model of '
  'another family.';

CREATE FUNCTION nmf_transform(model bayes_model, cells "any", side text DEFAULT 'row')
  RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 1000;
COMMENT IS 'The weights of the K factors for a row that was not fitted, given its cells: the '
  'posterior mean, or the estimate. '
  @nmf_row
  ' '
  @nmf_line;

CREATE FUNCTION nmf_transform_sd(model bayes_model, cells "any", side text DEFAULT 'row')
  RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 1000;
COMMENT IS 'The posterior standard deviations of the weights of the K factors for a row that was '
  'not fitted (those of the variational approximation, which are rather too small). 22023 also '
  'for a model without a posterior. '
  @nmf_row
  ' '
  @nmf_line;
