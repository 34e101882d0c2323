-- Non-negative matrix factorization

DEFINE @nmf_cells =
  'Each row gives the number in one cell of a table: the keys of its row and its column, of any '
  'types, which are stored as text, and a number, finite and not negative. Cells come in any '
  'order. A NULL number only says that row and column exist; a cell with a NULL key is skipped, '
  'and if there are no rows or no columns the result is NULL. Errors: 22023 invalid option or '
  'argument, or a number negative or not finite; 22003 repeated cells whose sum overflows; 54000 a '
  'key longer than 10000 bytes, more than 10000000 keys, or more parameters than memory allows.';
DEFINE @nmf_arrays =
  'x: the numbers of one row of a table, an array or a vector of pgvector, finite and not '
  'negative, of the same length in every row; '
  'the keys of rows are ''1'', ''2'', ... in the order of the input, which is arbitrary without '
  'ORDER BY in the aggregate; the keys of columns are the positions in the array. A NULL x is '
  'skipped, a NULL element is a cell without a number; no rows give NULL. Errors: 22023 invalid '
  'option or argument, or a number negative or not finite; 2202E rows of different length; 42804 '
  'rows of another type; 54000 more parameters than memory allows.';
DEFINE @nmf_fits =
  'Fits a non-negative factorization with k factors (1 to 1000) to a table. ';
DEFINE @nmf_starts =
  'Fits a non-negative factorization to a table, starting from a fitted one: factors keep their '
  'numbers, and the rows and columns that it knows start from their weights. 42804 for a model of '
  'another family. ';
DEFINE @nmf_options = ' options: see docs/nmf.md; NULL means none.';
DEFINE @nmf_row =
  'cells: the cells of a new row, as a jsonb object of column keys and numbers or, for a model '
  'that was fitted to arrays, as an array or a vector of pgvector. Columns that the model does not '
  'know are ignored (with a WARNING, once, if it knows none of the columns). 22023 for a number '
  'negative or not finite, 2202E for an array of another length, 42804 for a model of another '
  'family.';
DEFINE @nmf_line =
  'side: ''row'', or ''column'' for a new column, whose cells are given by row keys, or as an '
  'array with an element for each row. 22023 if it is neither.';

-- ---- aggregates: cells in, a model out ----

CREATE FUNCTION _nmf_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'nmf_fit_final' @immutable COST 1000000;
COMMENT IS 'Internal. Factorizes the collected table.';

-- No combine function: keys are numbered, and cells sorted, by one process. Once the final
-- function has sorted the table, no cell can be added, so these are not window functions.
CREATE FUNCTION _nmf_fit_transition(state internal, x "any", k "any" [, options "any"])
  RETURNS internal
  AS 'MODULE_PATHNAME', 'nmf_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row; k is the number of factors or a start model.';
CREATE FUNCTION _nmf_fit_transition(
  state internal, row_key "any", column_key "any", value "any", k "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'nmf_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one cell.';

CREATE AGGREGATE nmf_fit(x "any", k int [, options jsonb]) (
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

CREATE AGGREGATE nmf_fit(x "any", start bayes_model [, options jsonb]) (
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

CREATE FUNCTION nmf_factorize(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS TABLE (side text, key text, factor int, value float8, shape float8, rate float8)
  AS 'MODULE_PATHNAME' @volatile COST 1000000 ROWS 1000;
COMMENT IS 'Factorizes the table of a query with k factors and returns the weights of every row '
  'and column: side ''row'' or ''column'', the key, the factor, numbered from 1, and its weight; '
  'after methods with a posterior the posterior mean, with shape and rate of its gamma '
  'distribution. '
  @nmf_query
  @from_start
  @nmf_options;

CREATE FUNCTION nmf_model(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'nmf_model_query' @volatile COST 1000000;
COMMENT IS 'Factorizes the table of a query with k factors and returns the model.'
  ' Query, options and errors are those of nmf_factorize(query, ...); NULL if there are no rows.'
  @nmf_options;

CREATE FUNCTION nmf_select(query bayes_query, ks int[], options jsonb DEFAULT NULL)
  RETURNS TABLE (k int, log_likelihood float8, cells float8, objective float8, iterations int,
    converged boolean, model bayes_model, standard_error float8, best boolean, reason text)
  AS 'MODULE_PATHNAME' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Factorizes nine tenths of the table of a query for every k, and measures how well the '
  'model predicts the rest: a tenth of the rows (or columns, if there are more of them), chosen by '
  'a hash of their keys. Their weights are inferred from cells of one half of the keys of the '
  'other side; log_likelihood is that of the cells of the other half, cells is their number. '
  'model: fitted to the nine tenths, NULL unless option models is true; standard_error: of '
  'log_likelihood, from its variation between the held-out rows or columns; best, with an '
  'explanation in reason: after vi and svi the largest objective, or the smallest k within 1 nat '
  'of it, after em and squared the smallest k whose log_likelihood is within one standard error of '
  'the largest, that of the difference of the two over the same rows or columns (not '
  'standard_error, which is larger). '
  'query and errors: as nmf_factorize; 22023 also if there are fewer than ten rows '
  'and fewer than ten columns.'
  @nmf_options;

-- ---- a model as relations ----

CREATE FUNCTION nmf_factors(model bayes_model)
  RETURNS TABLE (side text, key text, factor int, value float8, shape float8, rate float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1000;
COMMENT IS 'The weights of every row and column: side ''row'' or ''column'', the key, the factor, '
  'numbered from 1, and its weight; after methods with a posterior the posterior mean, with shape '
  'and rate of its gamma distribution, NULL after other methods. 42804 for a model of another '
  'family.';

CREATE FUNCTION nmf_error(model bayes_model)
  RETURNS TABLE (squared float8, divergence float8, explained float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS 'How well the expected numbers of all cells describe the table of the fit: squared, the '
  'sum of squared errors; divergence, the sum of x ln(x / mean) - x + mean, half of the deviance '
  'of Poisson counts; explained, 1 - divergence / divergence of the mean of all cells. The last '
  'two are NULL if a cell has a number but mean 0, the last also if all cells are equal. 42804 for '
  'a model of another family.';

-- ---- a model and a cell, or a row ----

CREATE FUNCTION nmf_predict(model bayes_model, row_key "any", column_key "any")
  RETURNS TABLE (mean float8, variance float8)
  AS 'MODULE_PATHNAME' @of_labels COST 100 ROWS 1;
COMMENT IS 'The expected number in a cell, by the keys of its row and its column, and the variance '
  'of a new count there, by the variational approximation (in small tables it is too small), NULL '
  'after method squared. A key that the model does not know has the distribution of the prior. If '
  'that is hierarchical and its option h is at most 1, mean is infinite and variance NULL; if h is '
  'at most 2, only variance is NULL. After methods without a posterior such a key has the mean '
  'weights of the known ones. Keys are values of any type; a NULL gives no row. 42804 for a model '
  'of another family.';

CREATE FUNCTION nmf_transform(model bayes_model, cells "any", side text DEFAULT 'row')
  RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 1000;
COMMENT IS 'The weights of the K factors for a new row, given its cells: the posterior mean, or '
  'the estimate. '
  @nmf_row
  ' '
  @nmf_line;

CREATE FUNCTION nmf_transform_sd(model bayes_model, cells "any", side text DEFAULT 'row')
  RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 1000;
COMMENT IS 'The posterior standard deviations of the weights of the K factors for a new row (those '
  'of the variational approximation, which tend to be too small). 22023 also for a model without a '
  'posterior. '
  @nmf_row
  ' '
  @nmf_line;
