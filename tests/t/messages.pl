# What a fit says beside its result: WARNINGs for what did not go as wished, INFO lines on its
# progress.
use strict;
use warnings;
use Server;
use Test::More;
use Time::HiRes qw(time);

my $server = Server->shared;
my $session = $server->session;
$session->run('SET max_parallel_workers_per_gather = 0;
      CREATE TABLE rows AS SELECT ARRAY[sin(i), cos(2 * i), sin(3 * i + 1), sin(i * 0.1)] AS x
      FROM generate_series(1, 50000) AS i');

# ---- a fit that did not converge ----

my $hurried = q{'{"method": "em", "degenerate": "allow", "max_iter": 2, "tol": 1e-9,
    "init": [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]}'};
my %forms = (
    aggregate => "SELECT count(m) FROM (SELECT gmm_fit(x, 3, $hurried) AS m FROM rows) AS r",
    relation => "SELECT count(*) FROM gmm_fit('SELECT x FROM rows', 3, $hurried)",
    window => "SELECT count(c) FROM (SELECT gmm_cluster(x, 3, $hurried) OVER () AS c
          FROM rows) AS r",
    selection => "SELECT count(*) FROM gmm_select('SELECT x FROM rows', '{3}', $hurried)",
);
for my $form (sort keys %forms) {
    my $said = $session->run($forms{$form});
    like($said, qr/^WARNING:  \w{5}: gmm fit by em did not converge in 2 iterations$/m,
        "$form: a WARNING");
    my $last = 'The objective changed by \d\S* in the last iteration';
    like($said, qr/^DETAIL:  $last; option tol is \S+\.$/m,
        'with the last change and the tolerance');
    like($said, qr/^HINT:  Raise max_iter or tol/m, 'and what to do');
    my @warnings = $said =~ /^WARNING/mg;
    is(scalar @warnings, 1, 'once');
}
is($session->run("SELECT i.converged, i.iterations FROM (SELECT gmm_fit(x, 3, $hurried) AS m
      FROM rows) AS f, bayes_info(m) AS i") =~ s/^(?:WARNING|DETAIL|HINT|LOCATION).*\n//mgr, 'f|2',
    'the model knows it');
unlike($session->run('SELECT count(m) FROM (SELECT gmm_fit(x, 2) AS m FROM faithful) AS f'),
    qr/WARNING/, 'a fit that converges is silent');
my $said = $session->run(
    'SELECT count(m) FROM (SELECT id % 4, gmm_fit(x, 2,
      \'{"max_iter": 1, "tol": 1e-12, "restarts": 1}\') AS m FROM faithful GROUP BY 1) AS f');
my @warnings = $said =~ /^WARNING/mg;
is(scalar @warnings, 4, 'every group has its WARNING');

# ---- components that overlap ----

$session->run('CREATE TABLE overlapping AS SELECT gmm_fit(x, 3) AS model FROM faithful');
for my $reads ('bayes_parameters(model), bayes_parameters(model) AS again',
    'bayes_compare(model, model)') {
    $said = $session->run("SELECT count(*) FROM overlapping, $reads");
    like($said, qr/^NOTICE:  \w{5}: the rows do not tell the components of the model apart$/m,
        'a NOTICE for who reads intervals');
    like($said, qr/^HINT:  Method gibbs /m, 'and what to do');
    my @notices = $said =~ /^NOTICE/mg;
    is(scalar @notices, 1, 'once');
}
unlike($session->run('SELECT count(*) FROM overlapping, gmm_components(model)'), qr/NOTICE/,
    'and for nobody else');

# ---- columns that are hardly meant ----

$said = $session->run(q{SELECT count(m) FROM (SELECT bmm_fit(r, 2) AS m FROM (SELECT sin(id) AS x,
      'n' || id AS name, (id % 2)::int AS flag, id % 3 = 0 AS third, id % 3 AS some
      FROM faithful) AS r) AS f});
like($said, qr/^WARNING:  \w{5}: column "name" has a different label in every row$/m,
    'labels that name the rows');
like($said, qr/^NOTICE:  \w{5}: column "flag" contains only 0 and 1, but is modelled as normal$/m,
    'numbers that are 0 and 1');
my @remarks = $said =~ /^(?:WARNING|NOTICE):/mg;
is(scalar @remarks, 3, 'the others are silent, but for one of three whole numbers');
$said = $session->run(q{SELECT id % 2, bmm_fit(r, 1) IS NULL FROM faithful, LATERAL (SELECT
      sin(id) AS x, 1 AS one, 'a' AS label, id > 0 AS yes, NULLIF(7, id % 5) AS seven) AS r
      GROUP BY 1});
is(join(' ', $said =~ /^WARNING:  \w{5}: column "(\w+)" has the same value in every row$/mg),
    'one label yes seven', 'columns that are constant, once for all groups');
unlike($session->run(q{SELECT bmm_fit(r, 1) IS NULL FROM (SELECT sin(id) AS x, 'n' || id AS name,
      id % 2 AS one FROM faithful WHERE id < 10) AS r}), qr/column/,
    'nine rows say little of a column');

# ---- columns without names ----

for my $fit ('gmm_fit(%s, 1)', 'bmm_fit(%s, 1)', 'nb_fit(id %% 2, %s)', 'linreg_fit(x[1], %s)',
    'dpmm_fit(%s, \'{"draws": 20, "chains": 1}\')', 'logreg_fit(x[1] > 3, %s)',
    'probit_fit(x[1] > 3, %s)', 'hmm_fit(ARRAY[%s], 1)') {
    my $fits = sub {
        return $session->run(sprintf "SELECT count(m) FROM (SELECT id %% 3, $fit AS m FROM faithful,
            LATERAL (SELECT sin(id) AS a, cos(id * id) AS b) AS r GROUP BY 1) AS f", $_[0]);
    };
    my @notices = $fits->('ROW(a, b)') =~
        /^NOTICE:  \w{5}: columns of records have no names and are matched by position: f1, f2,/mg;
    is(scalar @notices, 1, "$fit says once that columns have no names");
    unlike($fits->($_), qr/have no names/, "$fit of $_: nothing to say")
        for 'r', $fit =~ /hmm/ ? () : 'ARRAY[a, b]';
}

$said = $session->run(q{SELECT count(*) FROM hmm_decode('SELECT id % 5, ''n'' || id AS name,
      (id % 2)::int AS flag, id FROM faithful ORDER BY 1, id', 1)});
like($said, qr/^WARNING:  \w{5}: column "name" has a different label in every row$/m,
    'in steps of sequences too');
like($said, qr/^NOTICE:  \w{5}: column "flag" contains only 0 and 1, but is modelled as normal$/m,
    'and numbers that are 0 and 1');
like($said, qr/^HINT:  .*\{"emission": "bernoulli"\}/m, 'with the option of sequences');
like($session->run(q{SELECT count(*) FROM hmm_decode('SELECT id, x[1] AS x FROM faithful', 1)}),
    qr/^WARNING:  \w{5}: all 272 sequences have one step$/m, 'what names rows, not sequences');

# ---- a fit at the edge ----

for my $case (['gmm', '{"method": "em", "restarts": 3}', 'covariance_floor'],
    ['bmm', '{"method": "em", "restarts": 3, "likelihood": "normal"}', 'minimum']) {
    my ($family, $options, $bound) = @$case;
    my $fit = qq{SELECT f.degenerate FROM (SELECT ${family}_fit(x, 2, '$options') AS m
          FROM (SELECT x FROM acidity UNION ALL VALUES (ARRAY[1e3])) AS r) AS r,
          bayes_info(m) AS f};
    my $said = $session->run($fit);
    my $what = 'is degenerate: component 2 is at the bound of option';
    like($said, qr/^WARNING:  \w{5}: $family fit by em $what $bound or has too few rows$/m,
        "$family: a component of one row is told");
    like($said, qr/^HINT:  .*method map or vi.* or a larger $bound; "degenerate": "allow"/m,
        'with what to do');
    like($said, qr/^\{2\}$/m, 'and the model knows it');
    unlike($session->run($fit =~ s/"restarts"/"degenerate": "allow", "restarts"/r), qr/WARNING/,
        'nothing is said where it is allowed');
}
$said = $session->run(q{SELECT degenerate
      FROM gmm_select('SELECT x FROM acidity', '{3,4}', '{"method": "em"}')});
is($said, "f\nf", 'of the lakes there are four groups without any of one row');

# ---- what nothing is known of ----

for my $method ('em', 'map') {
    my $said = $session->run(qq{SELECT bool_and(t.probability BETWEEN 0.49 AND 0.51)
          FROM (SELECT hmm_fit('{a,b}'::text[], 2, '{"method": "$method"}') AS m
            FROM generate_series(1, 20)) AS f, hmm_transitions(m) AS t,
            hmm_emissions(m) AS e
          WHERE t.from_state = e.state AND e.symbol = 'b' AND e.probability > 0.5});
    like($said, qr/^WARNING:  \w{5}: transitions from state \d are unknown/m,
        "$method: a state that nothing follows is told");
    like($said, qr/^t$/m, 'its transitions are equal');
}
$said = $session->run(q{SELECT k
      FROM bmm_select('SELECT i % 2 = 0 AS x FROM generate_series(1, 9) i', '{1,5}')});
like($said, qr/^NOTICE:  \w{5}: k = 5 is left out: k is 5, but there are only 2 distinct rows$/m,
    'a k that is impossible is told');

# ---- numbers that are hardly measurements ----

$session->run(q{CREATE TABLE visits AS SELECT i AS customer_id, i AS "ID", i % 7 AS store_id,
      (i * 7919) % 501 AS code, 1 + i % 3 AS freq, 1 + i % 4 AS "N", sin(i) AS a, cos(i) AS b,
      i % 9 AS visits, 1e9 * i AS far, i % 400 AS pairs FROM generate_series(1, 500) AS i});
for my $case (['customer_id', 'Its name suggests that it identifies the row, or something else'],
    ['"ID"', 'Its name suggests that it identifies the row'],
    ['store_id', 'Its name suggests that it identifies the row'],
    ['freq', 'Its name suggests that it is the number of times that the row counts'],
    ['"N"', 'Its name suggests that it is the number'],
    ['code', 'It has a different whole number in every row'],
    ['visits', 'It has few different values, all of them whole numbers'], ['far'], ['pairs'],
    ['nullif(code, 3) AS gaps'], ['b'], ['round(b::numeric, 1) AS valid']) {
    my ($column, $why) = @$case;
    my ($name) = $column =~ /AS (\w+)/ ? $1 : $column =~ s/"//gr;
    for my $fit ("count(*) FROM gmm_fit('SELECT a, $column FROM visits', 1)",
        "gmm_fit(r, 1) IS NULL FROM (SELECT a, $column FROM visits) AS r",
        "bmm_fit(r, 1, '{\"method\": \"em\"}') IS NULL FROM (SELECT a, $column FROM visits) AS r",
        "count(c) FROM (SELECT dpmm_cluster(r, '{\"method\": \"vi\", \"restarts\": 1}') OVER () AS c
         FROM (SELECT a, $column FROM visits) AS r) AS s") {
        my $said = $session->run("SET client_min_messages = notice; SELECT $fit");
        defined $why
            ? like($said, qr/^NOTICE:  .*: column "$name" is taken as a number\nDETAIL:  $why/m,
                "$fit: told")
            : unlike($said, qr/is taken as a number/, "$fit: nothing to say");
    }
}
# Of predictors names alone tell.
for my $fit ('linreg_fit(b, r)', 'logreg_fit(b > 0, r)', 'probit_fit(b > 0, r)',
    'nb_fit(b > 0, r)') {
    my $told = "SET client_min_messages = notice; SELECT $fit IS NULL
          FROM visits, LATERAL (SELECT a, %s) AS r";
    like($session->run(sprintf $told, 'customer_id'),
        qr/^NOTICE:  .*: column "customer_id" is taken as a number\nDETAIL:  Its name/m,
        "$fit: a name of rows");
    unlike($session->run(sprintf $told, 'freq, code'), qr/is taken as a number/,
        "$fit: measurements");
}
for my $quiet (
    "gmm_fit(r, 1) IS NULL FROM (SELECT a, code FROM visits WHERE customer_id <= 199) AS r",
    q{bmm_fit(r, 1, '{"likelihood": {"store_id": "poisson"}}') IS NULL
      FROM (SELECT a, store_id FROM visits) AS r},
    q{bmm_fit(r, 1, '{"likelihood": "poisson"}') IS NULL FROM
      (SELECT store_id, freq FROM visits) AS r},
    q{bmm_fit(r, 1) IS NULL FROM (SELECT store_id::text AS store_id, a FROM visits) AS r},
    q{count(*) FROM gmm_fit('SELECT a, customer_id, freq FROM visits', 1,
      '{"id": "customer_id", "weight": "freq"}')},
    q{gmm_fit(r, m) IS NULL FROM (SELECT gmm_fit(ARRAY[a, freq], 1) AS m FROM visits) AS f,
      (SELECT a, freq FROM visits) AS r GROUP BY m},
    'gmm_fit(ARRAY[a, freq], 1) IS NULL FROM visits') {
    unlike($session->run("SELECT $quiet"), qr/is taken as a number/, "$quiet: nothing to say");
}
# Of a large table enough rows are examined to tell amounts from the numbers of its rows: here the
# first 4,096 amounts all differ.
for my $case (['i * 7919 % 900001', 1], ['hashint8extended(i, 2) & 8388607', 0]) {
    my ($number, $told) = @$case;
    $said = $session->run("SELECT gmm_fit(r, 1, '{\"method\": \"em\"}') IS NULL
          FROM (SELECT $number AS x FROM generate_series(1::bigint, 900000) AS i) AS r");
    is(scalar($said =~ /in every row, as an identifier would/), $told ? 1 : '', "$number: $told");
}
$said = $session->run('SELECT count(m) FROM (SELECT gmm_fit(r, 1) AS m
      FROM (SELECT a, freq, store_id FROM visits) AS r GROUP BY r.store_id) AS f');
@warnings = $said =~ /^NOTICE:  \w{5}: column "(\w+)" is taken as a number$/mg;
is_deeply([sort @warnings], ['freq', 'store_id'], 'once for all groups');

# ---- the best of those tried ----

for my $case (['gmm', '1,2', '{}', 'elbo', 2], ['gmm', '2,1,2', '{"method": "em"}', 'bic', 2],
    ['bmm', '1,2', '{"method": "em", "likelihood": "normal"}', 'bic', 2], ['gmm', '1,2,5', '{}'],
    ['gmm', '2', '{}'], ['gmm', '1,2', '{"method": "gibbs", "draws": 10}']) {
    my ($family, $ks, $options, $criterion, $best) = @$case;
    for my $form ("count(*) FROM ${family}_select('SELECT x FROM faithful', '{$ks}', '$options')",
        "${family}_select(x, '{$ks}', '$options') IS NOT NULL FROM faithful") {
        my $said = $session->run("SELECT $form");
        my $what = "$form: the largest k";
        defined $best
            ? like($said, qr/^NOTICE:  .*the best k by $criterion is $best, the largest tried$/m,
                $what)
            : unlike($said, qr/the largest tried/, "not $what");
    }
}
$said = $session->run(q{SELECT k FROM nmf_select('SELECT id, x FROM digits', '{1,4}',
      '{"max_iter": 30}')});
like($said, qr/^NOTICE:  \w{5}: the best k by objective is/m, 'of factors');
$said = $session->run(q{SELECT hmm_select(s, '{1,2}') IS NOT NULL
      FROM (SELECT array_agg(waiting ORDER BY id) AS s FROM faithful) AS f});
like($said, qr/^NOTICE:  \w{5}: the best k by elbo is 2, the largest tried$/m, 'of states');
$said = $session->run(q{SELECT count(m) FROM (SELECT bmm_select(ARRAY[x[1] > 3, x[2] > 70], '{1,2}',
      '{"method": "em"}') AS m FROM faithful, generate_series(1, 3) AS g GROUP BY g) AS f});
my @best = $said =~ /^NOTICE:  \w{5}: the best k by \w+ is 2, the largest tried$/mg;
is(scalar @best, 1, 'said once of all groups');

# ---- documents ----

my $documents = q{SELECT count(m) FROM (SELECT lda_fit(d, 1) AS m
      FROM (VALUES (to_tsvector('simple', repeat('word ', 300))), ('b:1'), ('c:16383'),
      (array_to_tsvector('{word}'))) AS v(d) WHERE d <> 'c:16383' OR %s) AS f};
$said = $session->run(sprintf $documents, 'true');
like($said, qr/^WARNING:  \w{5}: 2 of 4 documents have terms whose counts may be too small/m,
    'positions that PostgreSQL left out are told');
like($said, qr/^DETAIL:  .*255 positions of a lexeme, and no positions beyond 16383\.$/m,
    'and why');
like($said, qr/^HINT:  Give such documents as text\[\], as jsonb of counts, or as rows/m,
    'and what to do');
@warnings = $session->run(sprintf $documents, 'false') =~ /^(WARNING.*)/mg;
is(scalar @warnings, 1, 'once');
like($warnings[0], qr/: 1 of 3 documents/, 'for those that have them');
my $model = q{(SELECT lda_fit(ARRAY['a', 'b'], 1, '{"tol": 1}') AS model) AS f};
$said = $session->run("SELECT lda_predict(model, x) FROM $model,
      (VALUES ('{x,y}'::text[]), ('{z}'), ('{}'), ('{a}')) AS v(x)");
@warnings = $said =~ /^(WARNING.*)/mg;
is(scalar @warnings, 1, 'documents without any term that a model knows: one WARNING');
like($warnings[0], qr/: the model knows none of the document's terms$/, 'says so');
like($said, qr/^DETAIL:  The first unknown term is "x"; one term of the model is "a"\./m,
    'names some');
unlike($session->run("SELECT lda_predict(model, x) FROM $model,
      (VALUES ('{a,y}'::text[]), ('{}')) AS v(x)"), qr/WARNING/, 'others are scored in silence');

# ---- chains of mh_sample ----

$session->run(q{CREATE FUNCTION bell(x float8[]) RETURNS float8 IMMUTABLE
      RETURN normal_log_pdf(x[1])});
my $chains = q{SELECT i, count(*) FROM generate_series(1, 3) AS i, LATERAL mh_sample(
      'bell(float8[])', ARRAY[i::float8], '{"draws": 2000, "scale": %s, "adapt": false}')
      GROUP BY i};
unlike($session->run(sprintf $chains, 2.4), qr/WARNING/, 'chains that converge are silent');
$said = $session->run(sprintf $chains, 1e-9);
is(join('; ', sort $said =~ /^WARNING:  \w{5}: (.*)$/mg),
    'a chain of mh_sample accepted too many proposals; the chains of mh_sample disagree',
    'others have their WARNINGs, once a statement');
like($said, qr/^DETAIL:  After its warmup, chain \d of 4 accepted [\d.]{2,4} % of its proposals\./m,
    'which chain, and what it accepted, in a few digits');
like($said, qr/^HINT:  Raise option scale, or leave out option adapt\.$/m, 'and what to do');
$said = $session->run(sprintf $chains, 1e6);
like($said, qr/^WARNING:  \w{5}: a chain of mh_sample accepted too few proposals$/m,
    'if they accept too few as well');
like($said, qr/^HINT:  Reduce option scale, or/m, 'with other advice');
$session->run(q{CREATE FUNCTION two_bells(x float8[]) RETURNS float8 IMMUTABLE
      RETURN greatest(normal_log_pdf(x[1], -50), normal_log_pdf(x[1], 50) - 5)});
$said = $session->run(q{SELECT count(*) FROM mh_sample('two_bells(float8[])', '{{-50},{50}}',
      '{"chains": 2, "draws": 2000}')});
is(join('; ', $said =~ /^WARNING:  \w{5}: (.*)$/mg), 'the chains of mh_sample disagree',
    'chains of two modes');
like($said, qr/^DETAIL:  R-hat of (?:the log density|x\[\d\]) is \d/m, 'and by how much');

# A term of the start model that no document of a fit by em had.
$said = $session->run(q{SELECT lda_predict(model, '{a}'::text[]) FROM (SELECT lda_fit('{b}'::text[],
      first.model) AS model FROM (SELECT lda_fit('{a,b}'::text[], 1, '{"method": "em"}') AS model)
      AS first GROUP BY first.model) AS f});
like($said, qr/^WARNING: .* the model knows none of the document's terms$/m,
    'a term of probability 0 is one that the model does not know');
like($said, qr/^DETAIL:  The first unknown term is "a"; one term of the model is "b"\./m,
    'and not one that is shown as its own');

like($session->run("SELECT count(m) FROM (SELECT lda_fit(ARRAY[chr(97 + i % 5), chr(98 + i % 7)], 2,
      '{\"max_iter\": 1}') AS m FROM generate_series(1, 50) AS i) AS f"),
    qr/^DETAIL:  .* option tol is 0\.0001 for each token\.$/m, 'the tolerance of topic models');

# Chains of topic models, which end in different modes; a fit of documents that fails.
$said = $session->run(q{SELECT components FROM (SELECT lda_fit(ARRAY(SELECT chr(97
      + (i * i + id * (i % 3)) % 20) FROM generate_series(1, 40) AS i), 5,
      '{"method": "collapsed", "chains": 4, "draws": 20}') AS m FROM generate_series(1, 60) AS id)
      AS f, bayes_info(m)});
like($said, qr/^WARNING:  \w{5}: .*chains/m, 'chains of topics that disagree') or diag($said);
like($said, qr/^HINT:  /m, 'with what to do');
$said = $session->run(q{SELECT lda_fit(x, 2, '{"min_documents": 3, "on_error": "null"}') IS NULL
      FROM (VALUES ('{a,b}'::text[]), ('{c}')) AS v(x)});
like($said, qr/^WARNING:  \w{5}: no model: none of the 3 terms of the documents is left$/m,
    'documents without a term that counts, and NULL instead of an error');
like($said, qr/^t$/m, 'and the query goes on');

# ---- tables ----

my $factors = q{(SELECT nmf_fit('r', 'a', 1, 1) AS model) AS f};
$said = $session->run("SELECT nmf_transform(model, x) FROM $factors,
      (VALUES ('{\"x\": 1, \"y\": 2}'::jsonb), ('{\"z\": 1}'), ('{}'), ('{\"a\": 2}')) AS v(x)");
@warnings = $said =~ /^(WARNING.*)/mg;
is(scalar @warnings, 1, 'rows without any column that a model knows: one WARNING');
like($warnings[0], qr/: the model knows none of the columns of the cells$/, 'says so');
like($said, qr/^DETAIL:  The first unknown key is "x"; one key of the model is "a"\./m,
    'names some');
unlike($session->run("SELECT nmf_transform(model, x) FROM $factors,
      (VALUES ('{\"a\": 1, \"y\": 2}'::jsonb), ('{}')) AS v(x)"), qr/WARNING/,
    'others are transformed in silence');
$said = $session->run(q{SELECT nmf_fit(r, c, v, 1, '{"on_error": "null"}') IS NULL
      FROM (VALUES ('a', 'x', 1e308), ('a', 'x', 1e308)) AS v(r, c, v)});
like($said, qr/^WARNING:  \w{5}: no model: the sum of the numbers of row "a" and column "x" /m,
    'a table that cannot be put together, and NULL instead of an error');
like($said, qr/^t$/m, 'and the query goes on');

# ---- a fit that is out of time ----

my $start = time;
$said = $session->run(
    q{SELECT i.converged FROM (SELECT gmm_fit(x, 20,
      '{"max_seconds": 0.3, "tol": 0, "max_iter": 1000000, "restarts": 1000}') AS m FROM rows) AS f,
      bayes_info(m) AS i});
cmp_ok(time - $start, '<', 30, 'max_seconds ends a fit that would not end');
like($said, qr/^f$/m, 'as one that did not converge');
@warnings = map { s/^WARNING:  \w{5}: //r =~ s/\d+ iterations?/N iterations/r }
    $said =~ /^(WARNING:.*)/mg;
is_deeply(\@warnings, ['gmm fit by vi is unfinished: max_seconds ended it after N iterations'],
    'with a WARNING that says why');
like($said, qr/^HINT:  Raise max_seconds; bayes_trace/m, 'and what to do');
$said = $session->run(q{SELECT i.draws > 0, i.stopped FROM (SELECT gmm_fit(x, 20,
  '{"method": "gibbs", "max_seconds": 0.3, "draws": 100000}') AS m FROM rows) AS f,
  bayes_info(m) AS i});
@warnings = map { s/^WARNING:  \w{5}: //r =~ s/\d+ draws?/N draws/r } $said =~ /^(WARNING:.*)/mg;
is_deeply(\@warnings,
    ['gmm fit by gibbs is unfinished: max_seconds ended it after N draws of each chain'],
    'a sampler too');
like($said, qr/^DETAIL:  Each chain was to make 50000 draws\.$/m, 'with the draws that it planned');
like($said, qr/^t\|max_seconds$/m, 'and has some');

# ---- on_error = null ----

$said = $session->run(q{SELECT gmm_fit(x, 300, '{"on_error": "null"}') IS NULL FROM faithful});
like($said, qr/^WARNING:  \w{5}: no model: k is 300, but there are only 256 distinct rows$/m,
    'an error that gives NULL is told as a WARNING');
like($said, qr/^t$/m, 'and the query goes on');

# ---- symbols that no model knows ----

$session->run(q{CREATE TABLE letters AS SELECT hmm_fit(x, 2, '{"tol": 1e6}') AS model
      FROM (VALUES ('{a,b,a,a,b}'::text[])) AS v(x)});
my $score = 'SELECT count(hmm_log_likelihood(model, x)) FROM letters, (VALUES ';
$said = $session->run("$score ('{z,y,NULL}'::text[]), ('{q}')) AS v(x)");
@warnings = $said =~ /^WARNING:  \w{5}: the model knows none of the symbols of a sequence$/mg;
is(scalar @warnings, 1, 'a WARNING, once in a statement');
like($said, qr/^DETAIL:  The first unknown symbol is "z"; one symbol of the model is "[ab]"/m,
    'that shows a symbol of both');
unlike($session->run("$score ('{z,a}'::text[]), ('{NULL}'), ('{}')) AS v(x)"), qr/WARNING/,
    'nothing if one is known, or all are missing');
my $by = 'OVER (PARTITION BY s ORDER BY t), s FROM letters, (VALUES ';
$said = $session->run("SELECT count(d) FROM (SELECT hmm_decode(model, x) $by
      (1, 1, 'z'), (1, 2, NULL), (2, 1, 'q')) AS v(s, t, x)) AS w(d)");
@warnings = $said =~ /^WARNING:  \w{5}: the model knows none of the symbols of a sequence$/mg;
is(scalar @warnings, 1, 'as of partitions');
unlike($session->run("SELECT count(d) FROM (SELECT hmm_probabilities(model, x) $by
      (1, 1, 'z'), (1, 2, 'a'), (2, 1, NULL)) AS v(s, t, x)) AS w(d)"), qr/WARNING/,
    'nothing there either');

# ---- progress ----

my $fit = q{SELECT count(m)
      FROM (SELECT gmm_fit(x, 6, '{"method": "em", "max_iter": 30, "tol": 0, "restarts": 2}') AS m
      FROM rows) AS r};
unlike($session->run($fit), qr/^INFO/m, 'no progress unless asked for');
$said = $session->run("SET pg_bayes.progress = on; $fit");
my @lines = $said =~ /^INFO:  (.*)$/mg;
cmp_ok(scalar @lines, '>=', 1, 'pg_bayes.progress = on: progress');
my $number = qr/-?\d\S*?/;
my $place = qr{em: restart \d+/\d+, iteration \d+/30, objective $number(?:, change $number)?};
my $times = qr{\d+\.\d s, this restart at most \d+\.\d s more};
is_deeply([grep { !m{^(?:\w{5}: )?$place, $times$} } @lines], [],
    'method, restart, iteration, objective, change and time left') or diag(join "\n", @lines);
my @iterations = map { m{iteration (\d+)/} ? $1 : () } grep { m{restart 1/} } @lines;
is_deeply(\@iterations, [sort { $a <=> $b } @iterations], 'iterations go up');
like($session->run("SELECT count(*) FROM gmm_fit('SELECT x FROM rows', 6,
      '{\"method\": \"em\", \"max_iter\": 30, \"tol\": 0, \"restarts\": 2}')"), qr/^INFO/m,
    'in a relation');
like($session->run("SELECT count(c)
      FROM (SELECT gmm_cluster(x, 6,
      '{\"method\": \"em\", \"max_iter\": 30, \"tol\": 0, \"restarts\": 2}') OVER () AS c
      FROM rows) AS r"), qr/^INFO/m, 'and in a window');

$said = $session->run("SELECT length(lda_fit(ARRAY[chr(97 + i % 9), chr(97 + i % 7)], 2, o)::text)
      FROM generate_series(1, 500) AS i, (VALUES
      ('{\"max_iter\": 5, \"tol\": 0, \"restarts\": 2}'::jsonb),
      ('{\"method\": \"gibbs\", \"draws\": 20}')) AS v(o) GROUP BY o");
like($said, qr{^INFO:  .*vi: restart 2/2, iteration \d/5, objective $number, change $number}m,
    'of topic models');
like($said, qr{^INFO:  .*gibbs: }m, 'and of their samplers');
$said = $session->run("SELECT length(nmf_fit(i % 50, i % 7, i, 2, '{\"max_iter\": 5, \"tol\": 0}')
      ::text) FROM generate_series(1, 500) AS i");
like($said, qr{^INFO:  .*vi: restart 1/\d+, iteration \d/5, objective $number, change $number}m,
    'and of factorizations');
$said = $session->run("SELECT length(pmf_fit(i % 50, i / 50, i % 7, 2, '{\"draws\": 20}')::text)
      FROM generate_series(1, 500) AS i");
like($said, qr{^INFO:  .*gibbs: }m, 'of ratings too');

# ---- settings ----

is($session->run("SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings
      WHERE name LIKE 'pg_bayes.%'"), 'pg_bayes.max_threads=64 pg_bayes.progress=on '
    . 'pg_bayes.threads=0', 'the settings there are');
is($session->run('SELECT count(*) FROM pg_settings WHERE name LIKE \'pg_bayes.%\'
      AND (short_desc = \'\' OR context <>
      CASE name WHEN \'pg_bayes.max_threads\' THEN \'superuser\' ELSE \'user\' END)'), '0',
    'anyone may change them but the limit, and each has a description');
chomp(my $processors = `nproc`);
is($session->run("SELECT boot_val FROM pg_settings WHERE name = 'pg_bayes.max_threads'"),
    $processors > 64 ? 64 : $processors, 'fits may use the processors that there are');

# Regressions: a response among the predictors, and rows of which none is complete.
my $binary = 'SELECT %s(y, r) IS NULL FROM (SELECT i %% 3 = 0 AS y, %s AS r
  FROM generate_series(1, 300) AS i) AS s';
for my $fit (qw(logreg_fit probit_fit)) {
    $said = $session->run(sprintf $binary, $fit,
        "ROW(i, CASE i % 3 WHEN 0 THEN 'yes' ELSE 'no' END)");
    like($said, qr/^WARNING:  \w{5}: column "f2" equals the response in every row$/m,
        "$fit: the response as labels");
    like($session->run(sprintf $binary, $fit, 'ARRAY[i, (i % 3 = 0)::int]'),
        qr/^WARNING:  \w{5}: element 2 equals the response/m, 'or in an array');
    unlike($session->run(sprintf $binary, $fit, 'ROW(i, i % 5 = 0)'), qr/WARNING/,
        'another predictor is none');
    like($session->run(sprintf $binary, $fit, 'ROW(i, NULL::float8)'),
        qr/^WARNING:  \w{5}: ${fit} gives no model: no row is complete$/m, 'no complete row');
    like($session->run(sprintf $binary, $fit, 'ROW(i, 5)'),
        qr/^WARNING:  \w{5}: predictor "f2" is constant$/m, 'a constant predictor');
    unlike($session->run("SELECT $fit(i % 3 = 0, ARRAY[1, i % 5], '{\"intercept\": false}') IS NULL
          FROM generate_series(1, 300) AS i"), qr/WARNING/, 'which may stand for the intercept');
}
for my $row ('NULL::int, i', 'i, NULL::float8', 'i, i, NULL, NULL', 'i, i, NULL, 0') {
    like($session->run("SELECT linreg_fit($row) IS NULL FROM generate_series(1, 300) AS i"),
        qr/^WARNING:  \w{5}: linreg_fit gives no model: no row is complete$/m, "nor of $row");
}

my $numbers = 'SELECT %s IS NULL FROM (SELECT i, i %% 3 AS y, (i %% 3)::text AS t, i %% 3 = 0 AS b,
  i * 1.5 AS x FROM generate_series(1, 60) AS i) AS s, LATERAL (SELECT %s) AS r';
like($session->run(sprintf $numbers, 'linreg_fit(y, r)', 'x, y::numeric AS z'),
    qr/^WARNING:  \w{5}: column "z" equals the response in every row$/m,
    'linreg_fit: the response among the predictors');
like($session->run(sprintf $numbers, 'linreg_fit(y, ARRAY[x, y])', '1'),
    qr/^WARNING:  \w{5}: element 2 equals the response/m, 'or in an array');
unlike($session->run(sprintf $numbers, 'linreg_fit(y, r)', 'x, 2 * y AS z'), qr/WARNING/,
    'twice the response is not the response');
for (['y', 'x, y AS z'], ['y', 'x, t AS z'], ['t', 'y AS z'], ['b', 'x, b AS z'],
    ['b', 'x, b::int AS z'], ['b::int', 'b AS z']) {
    my ($label, $columns) = @$_;
    for my $options ('{}', '{"covariance": "full"}') {
        next if $options ne '{}' && $columns !~ /^x/;
        like($session->run(sprintf $numbers, "nb_fit($label, r, '$options')", $columns),
            qr/^WARNING:  \w{5}: column "z" equals the label in every row$/m,
            "nb_fit: label $label is among $columns, $options");
    }
}
like($session->run(sprintf $numbers, q(nb_fit(y, r, '{"likelihood": {"z": "categorical"}}')),
    'x, y AS z'), qr/column "z" equals the label/, 'as categories');
like($session->run(sprintf $numbers, q(nb_fit(b, jsonb_build_object('x', i, 'z', b))), '1'),
    qr/column "z" equals the label/, 'in an object');
for ('x, y + 1 AS z', 'CASE WHEN i > 3 THEN y END AS z', 't || i / 60 AS z', 'b AS z',
    'x, NULLIF(t, \'0\') AS z') {
    unlike($session->run(sprintf $numbers, 'nb_fit(y, r)', $_), qr/equals the label/,
        "nb_fit: $_ is not the label");
}
unlike($session->run(sprintf $numbers, 'nb_fit(b, r)', 'x, NULLIF(b, false) AS z'),
    qr/equals the label/, 'nor is what is true or NULL');

done_testing;
