-- Hidden Markov models: every way to ask for options that cannot be, and what is said about it.
SELECT plan(108);
\ir ../lib/hmm_errors.sql

-- ---- options ----

SELECT is(complaint(format('SELECT hmm_fit(x, 2, %L) FROM words', options)),
  replace(said, '<families>', :'families'), 'names: ' || options) FROM (VALUES
  ('{"method": "collapsed"}', '22023 option "method" is "collapsed", but must be one of em, map, '
    'vi, svi, gibbs'),
  ('{"method": "baum-welch"}', '22023 option "method" is "baum-welch", but must be one of em, map, '
    'vi, svi, gibbs'),
  ('{"method": 1}', '22023 option "method" is 1, but must be one of em, map, vi, svi, gibbs'),
  ('{"metod": "em"}', '22023 unknown option "metod"'),
  ('{"k": 3}', '22023 unknown option "k"'),
  ('{"samples": 3}', '22023 unknown option "samples"'),
  ('{"likelihood": "normal"}', '22023 unknown option "likelihood"'),
  ('{"emission": "gaussian"}', '22023 option "emission" is "gaussian", but must be one of '
    '<families>'),
  ('{"emission": "normal"}', '22023 option "emission" is "normal", but the elements of the '
    'sequences are not numbers'),
  ('{"emission": ["poisson"]}', '22023 option "emission" is "poisson", but the elements of the '
    'sequences are not numbers'),
  ('{"emission": []}', '22023 option "emission" is an empty array, but must be one of <families>'),
  ('{"emission": 1}', '22023 option "emission" is 1, but must be one of <families>'),
  ('{"emission": ["categorical", "normal"]}',
    '22023 option "emission" is "categorical", but the elements of the sequences are not numbers'),
  ('{"categories": 3}', '22023 option "categories" does not apply to method vi with symbols'),
  ('{"covariance": "full"}', '22023 option "covariance" does not apply to method vi with symbols'),
  ('{"topology": "bakis"}', '22023 option "topology" is "bakis", but must be one of ergodic, '
    'left-to-right'),
  ('{"topology": true}', '22023 option "topology" is true, but must be one of ergodic, '
    'left-to-right'),
  ('{"missing": "skip"}', '22023 option "missing" is "skip", but must be one of marginalize, '
    'error'),
  ('{"on_error": "nul"}', '22023 option "on_error" is "nul", but must be one of error, null'),
  ('{"seed": -1}', '22023 option "seed" is -1, but must be a whole number of at least 0'),
  ('{"max_iter": -1}', '22023 option "max_iter" is -1, but must be a whole number from 0 to '
    '1000000'),
  ('{"max_iter": 1.5}', '22023 option "max_iter" is 1.5, but must be a whole number from 0 to '
    '1000000'),
  ('{"tol": -1}', '22023 option "tol" is -1, but must be a number from 0 to 1000000'),
  ('{"max_seconds": 0}', '22023 option "max_seconds" is 0, but must be a number greater than 0 and '
    'at most 1000000000'),
  ('{"restarts": 0}', '22023 option "restarts" is 0, but must be a whole number from 1 to 1000'),
  ('{"restarts": 1001}', '22023 option "restarts" is 1001, but must be a whole number from 1 to '
    '1000'),
  ('{"method": "em", "minimum": 0}', '22023 option "minimum" is 0, but must be a number from 1e-12 '
    'to 0.5'),
  ('{"method": "em", "minimum": 0.6}', '22023 option "minimum" is 0.6, but must be a number from '
    '1e-12 to 0.5'),
  ('{"method": "vi", "minimum": 0.1}', '22023 option "minimum" does not apply to method vi with '
    'symbols'),
  ('{"method": "em", "covariance_floor": 0.1}',
    '22023 option "covariance_floor" does not apply to method em with symbols'),
  ('{"method": "em", "prior": {"transition": 1}}',
    '22023 option "prior" does not apply to method em with symbols'),
  ('{"linear_response": 1}', '22023 option "linear_response" is 1, but must be true or false'),
  ('{"method": "svi", "linear_response": true}',
    '22023 option "linear_response" does not apply to method svi with symbols'),
  ('{"method": "em", "linear_response": true}',
    '22023 option "linear_response" does not apply to method em with symbols'),
  ('{"method": "em", "draws": 10}', '22023 option "draws" does not apply to method em with '
    'symbols'),
  ('{"method": "em", "batch_size": 10}', '22023 option "batch_size" does not apply to method em '
    'with symbols'),
  ('{"method": "svi", "batch_size": 0}', '22023 option "batch_size" is 0, but must be a whole '
    'number from 1 to 100000000'),
  ('{"method": "svi", "kappa": 2}', '22023 option "kappa" is 2, but must be a number from 0 to 1'),
  ('{"method": "svi", "t0": 0}', '22023 option "t0" is 0, but must be a number from 1 to '
    '1000000000'),
  ('{"method": "gibbs", "max_iter": 10}', '22023 option "max_iter" does not apply to method gibbs '
    'with symbols'),
  ('{"method": "gibbs", "restarts": 10}', '22023 option "restarts" does not apply to method gibbs '
    'with symbols'),
  ('{"method": "gibbs", "draws": 10, "warmup": 10}',
    '22023 option "warmup" is 10, but must be below option "draws", which is 10'),
  ('{"method": "gibbs", "draws": 100000000}',
    '54000 4 chains of 50000000 draws are too many'),
  ('{"init": "kmeans"}', '22023 option "init" is "kmeans", but must be an object with initial, '
    'transitions, and probabilities'),
  ('{"init": {"means": [1, 2]}}', '22023 option "init.means" does not apply to observations that '
    'are symbols'),
  ('{"init": {"start": [1, 2]}}', '22023 unknown option "init.start"'),
  ('{"init": {"initial": [0.5, 0.4]}}', '22023 option "init.initial" has numbers that sum to 0.9, '
    'but probabilities sum to 1'),
  ('{"init": {"initial": [1]}}', '22023 option "init.initial" is an array of 1 number, but must be '
    'an array of 2 numbers'),
  ('{"init": {"initial": [1.5, -0.5]}}', '22023 option "init.initial" contains -0.5, but must hold '
    'probabilities'),
  ('{"init": {"initial": 1}}', '22023 option "init.initial" is 1, but must be an array of 2 '
    'numbers'),
  ('{"init": {"transitions": [0.5, 0.5]}}', '22023 option "init.transitions" is an array of 2 '
    'numbers, but must be an array of 2 x 2 numbers'),
  ('{"init": {"transitions": [[0.5, 0.5], [0.5, 0.6]]}}',
    '22023 option "init.transitions" has numbers that sum to 1.1, but probabilities sum to 1'),
  ('{"init": {"transitions": [[1, 0], [0, "x"]]}}',
    '22023 option "init.transitions" is an array, but must be an array of 2 x 2 numbers'),
  ('{"init": {"transitions": [[0.5, 0.5], [1, 0]]}, "topology": "left-to-right"}',
    '22023 option "init.transitions" has a positive probability where option topology requires 0'),
  ('{"init": {"initial": [0.5, 0.5]}, "topology": "left-to-right"}',
    '22023 option "init.initial" has a positive probability where option topology requires 0'),
  ('{"init": {"probabilities": [{"a": 1}]}}',
    '22023 option "init.probabilities" is an array, but must be an array of 2 objects: the '
    'probabilities of symbols in every state'),
  ('{"init": {"probabilities": {"a": 1}}}', '22023 option "init.probabilities" is an object, but '
    'must be an array of 2 objects: the probabilities of symbols in every state'),
  ('{"init": {"probabilities": [{"a": 1}, 3]}}',
    '22023 option "init.probabilities" has 3 for state 2, but must hold objects {"symbol": '
    'probability, ...} whose probabilities sum to 1 at most'),
  ('{"init": {"probabilities": [{"a": 1}, {"a": 2}]}}',
    '22023 option "init.probabilities" contains 2, but must hold probabilities'),
  ('{"init": {"probabilities": [{"a": 1}, {"a": 0.7, "b": 0.4}]}}',
    '22023 option "init.probabilities" has probabilities that sum to 1.1 for state 2, but must '
    'hold objects {"symbol": probability, ...} whose probabilities sum to 1 at most'),
  ('{"init": {"probabilities": [{"a": 1}, {"a": "x"}]}}',
    '22023 option "init.probabilities" contains "x", but must hold probabilities'),
  ('{"init": {"probabilities": [{"a": 1}, {"z": 1}]}}',
    '22023 option "init.probabilities" names symbol "z", which occurs in no sequence'),
  ('{"prior": 3}', '22023 option "prior" is 3, but must be an object'),
  ('{"prior": {"alpha": 3}}', '22023 unknown option "prior.alpha"'),
  ('{"prior": {"initial": 0}}', '22023 option "prior.initial" contains 0.0, but must be greater '
    'than 0'),
  ('{"prior": {"initial": [1, 2, 3]}}', '22023 option "prior.initial" is an array of 3 numbers, '
    'but must be a number or an array of 2 numbers'),
  ('{"prior": {"initial": "x"}}', '22023 option "prior.initial" is "x", but must be a number or an '
    'array of numbers'),
  ('{"prior": {"transition": -1}}', '22023 option "prior.transition" contains -1.0, but must be '
    'greater than 0'),
  ('{"prior": {"transition": [1, 2]}}', '22023 option "prior.transition" is an array of 2 numbers, '
    'but must be a number or an array of 2 x 2 numbers'),
  ('{"prior": {"transition": [[1, 2], [0, 1]]}}',
    '22023 option "prior.transition" contains 0.0, but must be greater than 0'),
  ('{"method": "map", "prior": {"transition": 0.5}}',
    '22023 option "prior.transition" contains 0.5, but method map needs Dirichlet parameters of at '
    'least 1'),
  ('{"method": "map", "prior": {"category_alpha": 0.5}}',
    '22023 method map needs a prior with a mode, but that of element 1 (categorical) has none'),
  ('{"prior": {"category_alpha": 0}}', '22023 option "prior.category_alpha" contains 0.0, but must '
    'be greater than 0'),
  ('{"prior": {"category_alpha": [1, 2]}}', '22023 option "prior.category_alpha" is an array of 2 '
    'numbers, but must be a number or an array of 1 numbers, one for each categorical element'),
  ('{"prior": {"m": 0}}', '22023 unknown option "prior.m"'),
  ('[]', '22023 options must be a JSON object, but are of kind array of numbers'),
  ('"em"', '22023 options must be a JSON object, but are of kind string'),
  ('17', '22023 options must be a JSON object, but are of kind integer'),
  ('{"tol": 1e999}', '22003 number 1000000000000000000000000000000000000000... is too large for '
    'double precision')) AS c(options, said);
SELECT is(complaint(format('SELECT hmm_fit(n, 2, %L) FROM words', options)), said,
  'numbers: ' || options) FROM (VALUES
  ('{"init": {"probabilities": [{"a": 1}, {"z": 1}]}}',
    '22023 option "init.probabilities" does not apply to observations that are numbers'),
  ('{"init": {"means": [1, 2, 3]}}', '22023 option "init.means" is an array of 3 numbers, but must '
    'be an array of 2 x d numbers: an observation for every state'),
  ('{"init": {"means": [[1, 2], [3, 4]]}}', '22023 option "init.means" has 2 numbers for a state, '
    'but an observation has 1'),
  ('{"emission": "bernoulli"}', '22023 step 1 of sequence 1 is 0.8414709848078965, but must be 0 '
    'or 1'),
  ('{"emission": "poisson"}', '22023 step 1 of sequence 1 is 0.8414709848078965, but must be a '
    'whole number from 0 to 2^53'),
  ('{"emission": "exponential"}', '22023 step 4 of sequence 1 is -0.7568024953079282, but must be '
    'a number of at least 0'),
  ('{"emission": ["normal"], "covariance": "full"}',
    '22023 option "covariance" does not apply to method vi with these emissions'),
  ('{"categories": 2}', '22023 option "categories" does not apply to this emission'),
  ('{"method": "em", "covariance_floor": -1}',
    '22023 option "covariance_floor" is -1, but must be a number greater than 0 and at most 1'),
  ('{"method": "em", "minimum": 0.1}', '22023 option "minimum" does not apply to method em with '
    'multivariate normals'),
  ('{"prior": {"a": -1}}', '22023 option "prior.a" is -1, but must be a number greater than 0 and '
    'at most 1000000000'),
  ('{"prior": {"B": -1}}', '22023 option "prior.B" is not positive definite'),
  ('{"prior": {"m": [1, 2]}}', '22023 option "prior.m" has 2 numbers, but the rows have 1'),
  ('{"prior": {"category_alpha": 2}}', '22023 unknown option "prior.category_alpha"'),
  ('{"prior": {"type": "independent"}}', '22023 unknown option "prior.type"'),
  ('{"method": "map", "prior": {"a": 0.001}, "emission": ["normal"]}',
    '22023 method map needs a prior with a mode, but that of element 1 (normal) has none'),
  ('{"method": "map", "prior": {"shape": 0.5}, "emission": "exponential"}',
    '22023 step 4 of sequence 1 is -0.7568024953079282, but must be a number of at least 0'))
    AS c(options, said);
SELECT is(complaint(format('SELECT hmm_fit(v, 2, %L) FROM words', options)),
  replace(said, '<families>', :'families'), 'vectors: ' || options) FROM (VALUES
  ('{"init": {"means": [1, 2]}}', '22023 option "init.means" has 1 numbers for a state, but an '
    'observation has 3'),
  ('{"init": {"means": [[1, 2], [3, 4]]}}', '22023 option "init.means" has 2 numbers for a state, '
    'but an observation has 3'),
  ('{"init": {"means": [[1, 2, 0.5], [3, 4, 2]]}, "method": "em", "emission": ["normal", "normal", '
    '"bernoulli"]}', '22023 option "init.means" contains 2.0 for state 2, which cannot be the mean '
    'of element 3'),
  ('{"emission": "poisson"}', '22023 element 1 of step 1 of sequence 1 is 0.8414709848078965, but '
    'must be a whole number from 0 to 2^53'),
  ('{"emission": ["normal", "normal"]}', '22023 option "emission" has 2 entries, but '
    'observations have 3 elements'),
  ('{"emission": ["normal", "normal", "poison"]}',
    '22023 option "emission" is "poison", but must be one of <families>'),
  ('{"emission": ["bernoulli", "normal", "normal"]}',
    '22023 element 1 of step 1 of sequence 1 is 0.8414709848078965, but must be 0 or 1'),
  ('{"emission": ["normal", "normal", "categorical"], "categories": [2]}',
    '22023 option "categories" has 1 numbers, but the rows have 3 elements'),
  ('{"covariance": "oblique"}', '22023 option "covariance" is "oblique", but must be one of full, '
    'diagonal, spherical, tied'),
  ('{"prior": {"a": 1}}', '22023 option "prior.a" is 1.0, but must be above 2'),
  ('{"prior": {"B": [[1, 2], [2, 1]]}}', '22023 option "prior.B" is an array of 2 x 2 numbers, but '
    'must be a number or an array of 3 x 3 numbers'),
  ('{"prior": {"B": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}}',
    '22023 option "prior.B" is not positive definite')) AS c(options, said);

SELECT * FROM finish();
