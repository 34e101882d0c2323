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
      'SELECT lda_predict($1, s)::float8 || lda_proportions($1, s) || lda_proportions_sd($1, s)'
    ELSE
      'SELECT ARRAY[%1$s_predict($1, s), %1$s_log_density($1, s)] || %1$s_probabilities($1, s)' END
    || ' FROM (SELECT %2$L::%3$s AS s) AS given', family, x, type)
  INTO numbers USING model;
  RETURN numbers;
END $$;
