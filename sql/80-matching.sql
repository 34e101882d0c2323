-- Components of two models side by side.

CREATE FUNCTION bayes_match(old_model bayes_model, new_model bayes_model)
  RETURNS TABLE (old int, new int, overlap float8)
  AS 'MODULE_PATHNAME' @strict COST 10000 ROWS 10;
COMMENT IS 'Which component (cluster, state, topic, factor) of one model is which of another: '
  'pairs those of two models of one family at their point estimates: gmm, bmm, dpmm or hmm with '
  'the same columns, lda by the terms of topics, nmf by the columns'' shares of factors. '
  'overlap: the Bhattacharyya coefficient of the two densities, from 0 to 1, which are equal '
  'densities. Of all pairings it is the one with the largest sum of root(weight x weight) x '
  'overlap. Columns are matched by name, categories by label; the models may have different '
  'numbers of components: one without a partner stands alone, the other number and overlap NULL. '
  'In the order of the old model; those that only the new one has come last. 42804 for models of '
  'different families, 22023 for different columns.';

CREATE FUNCTION bayes_compare(old_model bayes_model, new_model bayes_model)
  RETURNS TABLE (old int, new int, element int, column_name text, label text, parameter text,
    old_value float8, new_value float8, difference float8, sd float8, change_in_sd float8,
    distance float8)
  AS 'MODULE_PATHNAME' @strict COST 10000 ROWS 100;
COMMENT IS 'What moved: components of two models paired as by bayes_match, and every parameter of '
  'a pair, as F_parameters has them (gmm, bmm, dpmm, hmm): weights, means, probabilities, ...; of '
  'topics (lda) and factors (nmf) the weight, and the probability or share of every term or '
  'column, without sd. '
  'difference: new_value - old_value; sd: root(sd^2 + sd^2) of the two posteriors, the standard '
  'deviation of the difference if they are independent, NULL if one of them has no posterior, or '
  'knows it by the mean field alone, or given one partition (sd_method of F_parameters): such an '
  'sd is too small to tell changes by; change_in_sd: difference / sd; distance: of Hellinger, '
  'between the densities of the two components, root(1 - overlap), from 0, equal, to 1. '
  'element: from 1, of the old model. What only one model has, a label or '
  'a component, has NULL for the other. Errors as of bayes_match.';
