-- Comparison of the components of two models.

CREATE FUNCTION bayes_match(old_model bayes_model, new_model bayes_model)
  RETURNS TABLE (old int, new int, overlap float8)
  AS 'MODULE_PATHNAME' @strict COST 10000 ROWS 10;
COMMENT IS 'Pairs the components (clusters, states, topics, factors) of two models of one family '
  'that correspond to each other at their point estimates: gmm, bmm, dpmm or hmm with the same '
  'columns, lda by the terms of topics, nmf by the columns'' shares of factors. overlap: the '
  'Bhattacharyya coefficient of the two densities, from 0 to 1 (equal densities). The pairing is '
  'the one with the largest sum of root(weight x weight) x overlap. Columns are matched by name, '
  'categories by label; the models may have different numbers of components: one without a partner '
  'has a row of its own, with the other number and overlap NULL. Rows are in the order of the old '
  'model; components that only the new model has come last. 42804 for models of different '
  'families, 22023 for different columns.';

CREATE FUNCTION bayes_compare(old_model bayes_model, new_model bayes_model)
  RETURNS TABLE (old int, new int, element int, column_name text, label text, parameter text,
    old_value float8, new_value float8, difference float8, sd float8, change_in_sd float8,
    distance float8)
  AS 'MODULE_PATHNAME' @strict COST 10000 ROWS 100;
COMMENT IS 'How the parameters of a model have changed: pairs the components of two models as '
  'bayes_match does, and compares every parameter of a pair, as in bayes_parameters (gmm, bmm, '
  'dpmm, hmm): weights, means, probabilities, ...; for topics (lda) and factors (nmf) the weight, '
  'and the probability or share of every term or column, without sd. difference: new_value - '
  'old_value; sd: root(sd^2 + sd^2) of the two posteriors, the standard deviation of the '
  'difference if they are independent, NULL if one of them has no posterior, or only the '
  'mean-field one, or one given the partition, or its components overlap too much for its rows '
  '(sd_method of bayes_parameters): such an sd is too small to detect changes; change_in_sd: '
  'difference / sd; distance: the Hellinger distance between the densities of the two components, '
  'root(1 - overlap), from 0, equal, to 1. element: from 1, of the old model. For a label or a '
  'component that only one model has, the values of the other model are NULL. Errors as for '
  'bayes_match.';
