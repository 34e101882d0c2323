-- Components of two models side by side.

CREATE FUNCTION bayes_match(old_model bayes_model, new_model bayes_model)
  RETURNS TABLE (old int, new int, overlap float8)
  AS 'MODULE_PATHNAME' @strict COST 10000 ROWS 10;
COMMENT IS 'Which component (cluster, state) of one model is which of another: pairs those of two '
  'models of one family, gmm, bmm, dpmm or hmm, with the same columns, at their point estimates. '
  'overlap: the Bhattacharyya coefficient of the two densities, from 0 to 1, which are equal '
  'densities. Of all pairings it is the one with the largest sum of root(weight x weight) x '
  'overlap. Columns are matched by name, categories by label; the models may have different '
  'numbers of components: one without a partner stands alone, the other number and overlap NULL. '
  'In the order of the old model; those that only the new one has come last. 42804 for models of '
  'different families, 22023 for different columns.';
