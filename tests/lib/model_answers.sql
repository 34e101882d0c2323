-- What a model says, as numbers.
CREATE FUNCTION answers(model bayes_model, type text, x text) RETURNS float8[]
LANGUAGE plpgsql AS $$
DECLARE
  family text := (SELECT info.family FROM bayes_info(model) AS info);
  numbers float8[];
BEGIN
  EXECUTE format(CASE family
    WHEN 'hmm' THEN
      'SELECT hmm_log_likelihood($1, s) || hmm_decode($1, s)::float8[]
        || ARRAY(SELECT unnest(hmm_probabilities($1, s)))'
    WHEN 'lda' THEN
      'SELECT lda_predict($1, s)::float8 || lda_proportions($1, s)
         || (SELECT array_agg(sd ORDER BY topic) FROM lda_top_topics($1, s, 1000))'
    WHEN 'pmf' THEN
      'SELECT ARRAY(SELECT unnest(ARRAY[mean, sd]) FROM pmf_recommend($1, s, 100, true))
         || ARRAY(SELECT mean FROM pmf_recommend($1, s, 100))
         || ARRAY(SELECT mean FROM pmf_recommend($1, ''unheard'', 2, true))
         || ARRAY(SELECT similarity FROM pmf_similar($1, s, 2, ''row''))'
    WHEN 'linreg' THEN
      'SELECT ARRAY(SELECT unnest(ARRAY[p.mean, p.sd, upper, coalesce(mean_lower, 0)])
           FROM linreg_predict($1, s, 0.8) AS p)
         || ARRAY(SELECT coalesce(x, 0) FROM bayes_coefficients($1) AS c,
             unnest(ARRAY[c.mean, c.sd, lower]) AS x)
         || ARRAY(SELECT coalesce(n.value, 0) + upper FROM bayes_parameters($1, 0.5) AS n
             WHERE parameter = ''noise_variance'')'
    WHEN (CASE WHEN family IN ('glm', 'logreg', 'probit') THEN family END) THEN
      'SELECT ARRAY(SELECT unnest(ARRAY[p.mean, coalesce(p.sd, 0), coalesce(upper, 0)])
           FROM %1$s_predict($1, s, 0.8) AS p)
         || ARRAY(SELECT coalesce(x, 0) FROM bayes_coefficients($1) AS c,
             unnest(ARRAY[c.mean, c.sd, lower]) AS x)'
    WHEN 'nb' THEN
      'SELECT bayes_log_density($1, s)
         || ARRAY(SELECT probability FROM nb_probabilities($1, s) ORDER BY class COLLATE "C")
         || ARRAY(SELECT unnest(ARRAY[value, upper]) FROM nb_features($1))'
    WHEN 'nmf' THEN
      'SELECT nmf_transform($1, s) || ARRAY(SELECT mean FROM nmf_factors($1) AS r,
         nmf_factors($1) AS c, nmf_predict($1, r.key, c.key)
         WHERE r.side = ''row'' AND c.side = ''column'' AND r.factor = 1 AND c.factor = 1
         ORDER BY r.key COLLATE "C", c.key COLLATE "C" LIMIT 4)'
    WHEN 'dirichlet_categorical' THEN
      'SELECT ARRAY[bayes_evidence($1), bayes_log_density($1, s)]
         || ARRAY(SELECT unnest(ARRAY[count, mean, map, ml, lower, upper])
                  FROM dirichlet_categorical_probabilities($1))'
    WHEN (CASE WHEN family ~ '^(beta_b|gamma_p|normal_i)' THEN family END) THEN
      'SELECT ARRAY[bayes_evidence($1), bayes_log_density($1, s), bayes_mean($1), bayes_map($1),
         bayes_ml($1)] || ARRAY(SELECT unnest(ARRAY[value, sd, lower, upper])
                               FROM bayes_parameters($1))'
    ELSE
      'SELECT ARRAY[%1$s_predict($1, s), bayes_log_density($1, s)]
         || bayes_probabilities($1, s)' END
    || ' FROM (SELECT %2$L::%3$s AS s) AS given', family, x, type)
  INTO numbers USING model;
  RETURN numbers;
END $$;
