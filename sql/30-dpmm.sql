-- Dirichlet process mixtures.

DEFINE @dpmm_query =
  'query: one SELECT of a name for the row (any type; the first column, or the one that option id '
  'names) and the row, an array of numbers or columns; it is run as the caller, read-only. 22023 '
  'for any other query.';
DEFINE @dpmm_options = ' options: see docs/dpmm.md; NULL means none.';

-- ---- aggregates: rows in, a model out ----

CREATE FUNCTION _dpmm_fit_transition(
  state internal, x "any" [, options_or_start "any" [, options "any"]]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'dpmm_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row.';

CREATE FUNCTION _dpmm_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'dpmm_fit_final' @immutable COST 1000000;
COMMENT IS 'Internal. Fits a Dirichlet process mixture to the collected rows.';

-- No combine function: draws depend on the order of the rows, which parallel workers would change.
CREATE AGGREGATE dpmm_fit(x "any" [, options jsonb]) (
  SFUNC = _dpmm_fit_transition, @state, FINALFUNC = _dpmm_fit_final
);
COMMENT IS 'Fits a mixture of any number of clusters, a Dirichlet process mixture, to the rows x: '
  'draws from its posterior, and a point estimate of the partition. x: numbers, the same length 1 '
  'to 1600 in every row; a NULL x is skipped, NULL elements are integrated out; no rows give NULL. '
  'Errors: 22023 invalid option, or an element that the likelihood does not allow, such as NaN and '
  'infinity; 22004 NULL element with option missing = error; 2202E rows of different length; 54000 '
  'more rows, draws or chains than memory allows.';
COMMENT IS 'The same with options.'
  @dpmm_options;
-- Without options a literal in the second place would be ambiguous: options, or a model.
CREATE AGGREGATE dpmm_fit(x "any", start bayes_model, options jsonb) (
  SFUNC = _dpmm_fit_transition, @state, FINALFUNC = _dpmm_fit_final
);
COMMENT IS 'Fits a Dirichlet process mixture to the rows, starting from a fitted one, for instance '
  'of last month''s rows: method vi from its posterior, chains from the clusters that it gives to '
  'the rows. Clusters have the order of its clusters with which they share the most rows; others '
  'follow, by decreasing size; unless option order is given. Method, likelihood, covariance, '
  'concentration, missing and a prior that was given are those of the start, unless options name '
  'others. Errors: 42804 for a model of another family, 2202E for rows of another length.'
  @dpmm_options;

-- ---- window: rows in, one cluster for each row out ----

CREATE FUNCTION dpmm_cluster(x "any", options jsonb DEFAULT NULL) RETURNS int
  AS 'MODULE_PATHNAME' @window_of_labels COST 1000;
COMMENT IS 'Fits a Dirichlet process mixture to the whole partition, regardless of the frame, and '
  'returns every row''s cluster in the point estimate, from 1 by decreasing size; NULL for a NULL '
  'row.'
  @dpmm_options;

-- ---- relations: a query in, a relation out ----

DEFINE @dpmm_rows =
  'query: one SELECT of columns, of one array of numbers or one record; it is run as the caller, '
  'read-only. 22023 for any other query.';

CREATE FUNCTION dpmm_fit(
  query bayes_query, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS TABLE (cluster int, weight float8, mean float8[], covariance float8[], count bigint)
  AS 'MODULE_PATHNAME', 'dpmm_fit_query' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a Dirichlet process mixture to the rows of a query and returns the clusters of '
  'its point estimate, as dpmm_clusters does. '
  @dpmm_rows
  @from_start
  @dpmm_options;

CREATE FUNCTION dpmm_model(
  query bayes_query, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'dpmm_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a Dirichlet process mixture to the rows of a query and returns the model.'
  ' Query, options and errors are those of dpmm_fit(query, ...); NULL if there are no rows.'
  @dpmm_options;

CREATE FUNCTION dpmm_cluster(query bayes_query, options jsonb DEFAULT NULL)
  RETURNS TABLE (id text, cluster int, probability float8, mcse float8)
  AS 'MODULE_PATHNAME', 'dpmm_cluster_query' @volatile COST 1000000 ROWS 1000;
COMMENT IS 'Fits a Dirichlet process mixture to the rows of a query. Returns for every row in '
  'order its name, its cluster in the point estimate, from 1 by decreasing size, and the certainty '
  'of its membership in [0, 1]: the mean posterior probability of being together with another row '
  'of the cluster (of being alone, for a cluster of one row; for method vi the responsibility); '
  'mcse is the Monte Carlo standard error of that, NULL if the draws do not differ. cluster is '
  'NULL for a row left out. '
  @dpmm_query
  @dpmm_options;
CREATE FUNCTION dpmm_similarity(query bayes_query, options jsonb DEFAULT NULL)
  RETURNS TABLE (id1 text, id2 text, probability float8, mcse float8)
  AS 'MODULE_PATHNAME', 'dpmm_similarity_query' @volatile COST 1000000 ROWS 1000000;
COMMENT IS 'For every pair of rows of a query the posterior probability that they belong to the '
  'same cluster, id1 being the one that comes first, and its Monte Carlo standard error, NULL if '
  'the draws do not differ. 54000 for more than 5000 rows. '
  @dpmm_query
  @dpmm_options;
CREATE FUNCTION dpmm_credible_bounds(query bayes_query, options jsonb DEFAULT NULL)
  RETURNS TABLE (id text, cluster int, upper int, lower int, horizontal int)
  AS 'MODULE_PATHNAME', 'dpmm_credible_bounds_query' @volatile COST 1000000 ROWS 1000;
COMMENT IS 'The bounds of the credible ball around the estimated partition of the rows of a query '
  '(Wade and Ghahramani 2018): for every row in order its name, its cluster in the point estimate, '
  'and its cluster in three draws in the ball, each the furthest from the estimate among certain '
  'draws: upper, among those with the fewest clusters; lower, among those with the most; '
  'horizontal, among all. Clusters are numbered from 1 by decreasing size, NULL for a row left '
  'out. '
  @dpmm_query
  @dpmm_options;

-- ---- a model as relations ----

CREATE FUNCTION dpmm_clusters(model bayes_model)
  RETURNS TABLE (cluster int, weight float8, mean float8[], covariance float8[], count bigint)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The clusters of the point estimate, numbered from 1 by decreasing count or by option '
  'order: weight, the probability that a new row belongs to it, count / (rows + E[concentration]); '
  'mean, d posterior means of the expected row (NULL for an element that is a category); '
  'covariance, d x d, E[precision]^-1, for the multivariate normal, else NULL; count, its rows. '
  '42804 for a model of another family.';

CREATE FUNCTION dpmm_estimate(model bayes_model)
  RETURNS TABLE (estimate text, clusters int, expected_loss float8, optimal boolean, level float8,
    radius float8, fewest_clusters int, most_clusters int, draws int, mcse float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1;
COMMENT IS 'The point estimate of the partition: the loss that it minimises, its number of '
  'clusters, the mean loss over the draws (binder, bipartition, map: share of pairs of rows on '
  'which partitions differ, 0 to 1; vi: variation of information in bits, 0 to log2 rows), '
  'whether it is proved optimal, the radius of the credible ball that holds at least level of the '
  'draws, the fewest and most clusters of the draws in it, the number of draws used, and the Monte '
  'Carlo standard error of the expected loss. Method vi has no draws: estimate is "variational", '
  'and the columns about losses and the ball are NULL.';

-- ---- a model and a row ----

CREATE FUNCTION dpmm_predict(model bayes_model, x "any") RETURNS int
  AS 'MODULE_PATHNAME' @of_labels COST 1000;
COMMENT IS 'The most probable cluster of x, from 1; one more than the number of clusters means a '
  'new one. NULL elements of x are integrated out; if the model was fitted with option '
  'missing = skip the result is NULL, with missing = error it is an error (22004). 2202E if x does '
  'not have the length of the model''s rows.';

