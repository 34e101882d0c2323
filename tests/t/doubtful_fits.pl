# What fits say whose results depend on more than their rows: on a scale that these do not have, or
# on the prior alone; and of columns of a query that are hardly meant, or left out.
use strict;
use warnings;
use Server;
use Test::More;

my $session = Server->shared->session;

# ---- what has no scale, or is hardly determined ----

for my $case (['dpmm_fit(r)', 'id = 1'], ['nb_fit(id % 2, r)', 'true'],
    ['bmm_fit(r, 1)', 'id < 5']) {
    my ($fit, $where) = @$case;
    my $said = $session->run(qq{SELECT $fit IS NULL FROM (SELECT id, r FROM faithful,
        LATERAL (SELECT 0.003 AS k, x[1] AS y) AS r WHERE $where) AS f});
    like($said, qr/^NOTICE:  \w{5}: column "k" has the same value in every row$/m,
        "$fit: a constant column");
    like($said, qr/^DETAIL:  .*its scale is taken to be 1, whatever its unit/m, 'has no scale');
}
like($session->run('SELECT linreg_fit(0.001, x) IS NULL FROM faithful'),
    qr/^WARNING:  \w{5}: the variance of the noise is taken to be 0$/m, 'a constant response');
like($session->run('SELECT linreg_fit(x[1], x[2]) FROM faithful WHERE id = 1'),
    qr/^WARNING:  \w{5}: linreg_fit gives no model: nothing tells the variance of the noise$/m,
    'one row');
for my $fit ('logreg', 'probit') {
    like($session->run(qq{SELECT ${fit}_fit(id % 3 = 0, r) IS NULL FROM (SELECT id, x[1] AS a,
          3 - 2 * x[1] AS b FROM faithful) AS r}),
        qr/^WARNING:  \w{5}: predictor "b" is a linear combination of earlier ones$/m,
        "$fit: collinear predictors");
    my $prior = $fit eq 'logreg' ? '{"c": 1e6, "c_intercept": 1e6}'
        : '{"lambda": 1e-6, "lambda_intercept": 1e-6}';
    like($session->run(qq{SELECT ${fit}_fit(x[1] > 3, x, '{"prior": $prior}') IS NULL
          FROM faithful}), qr/^WARNING:  \w{5}: the rows hardly determine the coefficient/m,
        "$fit: separation under a nearly flat prior");
    unlike($session->run("SELECT ${fit}_fit(x[1] > 3, x) IS NULL FROM faithful"), qr/WARNING/,
        'not under the default prior');
}
like($session->run(q{SELECT glm_fit((x[2] * x[1])::int, x[1], '{"response": "poisson"}') IS NULL
        FROM faithful}), qr/^NOTICE:  \w{5}: the responses vary \S+ times as much as a Poisson/m,
    'counts that vary more than those of Poisson');
unlike($session->run(q{SELECT glm_fit((x[2] * x[1])::int, x[1],
        '{"response": "negative_binomial"}') IS NULL FROM faithful}), qr/NOTICE|WARNING/,
    'of which the negative binomial distribution knows');
unlike($session->run(q{SELECT glm_fit(poisson_quantile(0.0005 + id * 7919 % 1000 / 1000.0, 4), x,
        '{"response": "poisson"}') IS NULL FROM faithful}), qr/NOTICE|WARNING/, 'Poisson counts');
like($session->run(q{SELECT glm_fit(CASE WHEN i % 3 > 0 THEN poisson_quantile(0.0005
        + i * 7919 % 1000 / 1000.0, 6) ELSE 0 END, '{}'::float8[], '{"response":
        "negative_binomial"}') IS NULL FROM generate_series(1, 2000) AS i}),
    qr/^NOTICE:  \w{5}: 670 responses are 0, but the model expects 4\d\d$/m, 'too many zeros');
unlike($session->run(q{SELECT glm_fit(poisson_quantile(0.0005 + i * 7919 % 1000 / 1000.0, 1),
        '{}'::float8[], '{"response": "poisson"}') IS NULL FROM generate_series(1, 2000) AS i}),
    qr/NOTICE|WARNING/, 'as many as Poisson expects');
like($session->run(q{SELECT glm_fit(0, x, '{"response": "poisson"}') IS NULL FROM faithful}),
    qr/^WARNING:  \w{5}: the rows hardly determine the coefficient/m, 'counts that are all 0');
like($session->run(q{SELECT glm_fit((9 * x[1])::int, x[2], '{"response": "negative_binomial"}')
        IS NULL FROM faithful WHERE id <= 4}),
    qr/^WARNING:  \w{5}: 4 rows are few for 2 coefficients and a dispersion$/m,
    'counts that their coefficients follow');
unlike($session->run(q{SELECT glm_fit((9 * x[1])::int, x[2], '{"response": "negative_binomial"}')
        IS NULL FROM faithful WHERE id <= 5}), qr/WARNING/, 'counts that have a dispersion');
like($session->run('SELECT gamma_poisson_fit((x[2] * x[1])::int) IS NULL FROM faithful'),
    qr/^NOTICE:  \w{5}: counts vary more than those of a Poisson distribution$/m, 'overdispersion');
unlike($session->run('SELECT gamma_poisson_fit(19 + id % 9) IS NULL FROM faithful'),
    qr/NOTICE/, 'which the Poisson distribution has not');

# ---- numbers that are hardly measurements ----

for my $rows (93, 40) {
    my $said = $session->run(qq{SELECT gmm_fit(r, 1) IS NULL FROM (SELECT i * 7 % 6 AS passengers,
        sin(i) AS a FROM generate_series(1, $rows) AS i) AS r});
    my $notice = qr/column "passengers" is taken as a number/;
    $rows > 60 ? like($said, $notice, 'few values, each of them many times')
        : unlike($said, $notice, 'but not where rows are few');
}

# ---- the columns of a query ----

# Functions that return something for each row take its first column as the row's name.
my $few = '{"draws": 20, "chains": 1}';
for my $case (["dpmm_cluster('SELECT waiting, id FROM faithful LIMIT 20', '$few')", 'row'],
    ["dpmm_similarity('SELECT waiting, id FROM faithful LIMIT 20', '$few')", 'row'],
    ["hmm_fit('SELECT 1.5 AS waiting, eruptions FROM faithful', 2)", 'sequence']) {
    my ($call, $what) = @$case;
    like($session->run("SELECT count(*) FROM $call"),
        qr/^NOTICE:  \w{5}: column "waiting" of the query is taken as the name of the $what$/m,
        "$call: a name that may be a measurement");
}
for my $call ("dpmm_cluster('SELECT id, waiting FROM faithful LIMIT 20', '$few')",
    "dpmm_cluster('SELECT waiting, id FROM faithful LIMIT 20',
        '{\"id\": \"waiting\", \"draws\": 20, \"chains\": 1}')",
    "dpmm_fit('SELECT waiting FROM faithful LIMIT 20', '$few')") {
    unlike($session->run("SELECT count(*) FROM $call"), qr/taken as the name/,
        "$call: a name that is one, or none");
}
like($session->run("SELECT count(*) FROM dpmm_fit('SELECT id, waiting FROM faithful LIMIT 20',
      '$few')"), qr/^NOTICE:  \w{5}: column "id" is taken as a number$/m,
    'components have no names of rows');

# In the other families a NULL is a number that is not known.
for my $case (['{}', 1], ['{"absent": "missing"}', 0]) {
    my ($options, $told) = @$case;
    my $said = $session->run(qq{SELECT nmf_fit(x, 1, '$options') IS NULL FROM
        (VALUES ('{1,2,NULL}'::float8[]), ('{2,NULL,1}'), ('{3,4,5}')) AS v(x)});
    my $notice = qr/^NOTICE:  \w{5}: numbers of 2 cells of the table are NULL, and count as 0$/m;
    $told ? like($said, $notice, 'NULLs that are zeros')
        : unlike($said, $notice, 'NULLs that are unknown');
}

for my $case (['linreg', 'id, x[1] AS a'], ['linreg', 'x[1] AS user_id, x[2] AS a'],
    ['nb', 'id, x[1] AS a']) {
    my ($family, $columns) = @$case;
    like($session->run("SELECT count(*) FROM ${family}_fit('SELECT $columns FROM faithful')"),
        qr/^NOTICE:  \w{5}: column "\w*id" is taken as the (?:response|class)$/m,
        "$family of $columns: hardly the response");
}
for my $case (['linreg', 'x[1]'], ['logreg', 'x[1] > 3'], ['probit', 'x[1] > 3'],
    ['nb', 'NULLIF(id % 3, 0)']) {
    my ($family, $response) = @$case;
    my $query = "SELECT $response AS y, NULLIF(x[2], 62) AS a FROM faithful";
    like($session->run("SELECT count(*) FROM ${family}_fit('$query')"),
        qr/^NOTICE:  \w{5}: \d+ of 272 rows are left out$/m, "$family: rows with NULLs");
    unlike($session->run("SELECT count(*) FROM ${family}_fit('SELECT * FROM ($query) AS q
        WHERE y IS NOT NULL AND a IS NOT NULL')"), qr/left out/, 'none without');
}
unlike($session->run(q{SELECT count(m) FROM (SELECT bmm_fit(r, 2, '{"likelihood": {"flag":
      "bernoulli"}}') AS m FROM (SELECT (id % 2)::int AS flag, sin(id) AS x
      FROM faithful) AS r) AS f}),
    qr/NOTICE/, 'nor is there anything to say where a likelihood is given');

done_testing;
