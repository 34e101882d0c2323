# Names in rows that a model does not know: labels that are misspelt, columns that are called
# otherwise. A NOTICE, once in a statement, names the nearest that it knows.
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
my $session = $server->session;
$session->run(q{CREATE TABLE cars AS SELECT i AS id, (ARRAY['front', 'rear', '4WD'])[1 + i % 3] AS
      drive, CASE i % 3 WHEN 0 THEN 20 ELSE 30 END + i % 7 AS price, i % 2 = 0 AS used,
      (i % 3)::text AS wheels FROM generate_series(1, 90) AS i;
      CREATE TABLE models AS SELECT 'bmm' AS name, bmm_fit(r, 2) AS model
      FROM (SELECT drive, price FROM cars) AS r UNION ALL SELECT 'dpmm',
        dpmm_fit(r, '{"draws": 20}') FROM (SELECT drive, price FROM cars) AS r UNION ALL
      SELECT 'nb', nb_fit(used, r) FROM cars, LATERAL (SELECT drive, price) AS r UNION ALL
      SELECT 'hmm', hmm_fit(s, 2) FROM (SELECT array_agg(drive ORDER BY id) AS s FROM cars) AS c
      UNION ALL SELECT 'linreg', linreg_fit(price, r) FROM cars, LATERAL (SELECT drive) AS r
      UNION ALL SELECT 'words', nb_fit(used, jsonb_build_object('drive', drive)) FROM cars;
      CREATE TABLE new AS SELECT i, CASE WHEN i < 9 THEN '4wd' ELSE 'frnt' END AS drive, 25 AS price
      FROM generate_series(1, 20) AS i});

# The lines that a statement says, without their codes.
sub said {
    my $said = $session->run($_[0]);
    return join "\n", map { s/^NOTICE:  \w{5}: /NOTICE:  /r } grep { /^(?:NOTICE|DETAIL|HINT)/ }
        split /\n/, $said;
}
my $one = qq{NOTICE:  column "%s" has the label "4wd", which the model does not know
DETAIL:  It is no evidence; densities and probabilities of the label itself are those of one more }
    . qq{label without rows.
HINT:  The nearest of the 3 labels that the model knows is "4WD".};

for my $call ('bayes_conditional(model, r)', 'bayes_surprise(model, r)') {
    is(said("SELECT count(*) FROM models, new, LATERAL (SELECT drive) AS r, $call
          WHERE name = 'bmm'"), sprintf($one, 'drive'), "$call: once in a statement of many rows");
}
for my $name ('bmm', 'dpmm', 'nb') {
    for my $call ('bayes_predict(model, r)', 'bayes_probabilities(model, r)',
        'bayes_log_density(model, r)', 'bayes_log_density(model, r, r)', 'bayes_anomaly(model, r)',
        'bayes_similarity(model, r, r)', 'bayes_probability(model, r, r)',
        'bayes_condition(model, r)', 'bayes_sample(model, 1, 1, r)') {
        next if $call =~ /probability\(/ && $name eq 'dpmm';
        is(said("SELECT count(v) FROM (SELECT $call AS v FROM models, new, LATERAL (SELECT drive,
            NULL::int AS price) AS r WHERE name = '$name') AS x"), sprintf($one, 'drive'),
            "$call of $name");
    }
}
is(said("SELECT count(bayes_log_density(model, drive)) FROM models, new WHERE name = 'hmm'"),
    sprintf($one, 'symbol'), 'a symbol of a step');
is(said("SELECT count(linreg_predict(model, r)) FROM models, new, LATERAL (SELECT drive) AS r
      WHERE name = 'linreg'"), sprintf($one, 'drive'), 'a regression, which predicts NULL');
is(said("SELECT count(nb_predict(model, jsonb_build_object('drive', drive))) FROM models, new
      WHERE name = 'words'"), sprintf($one, 'drive') =~ s/column/feature/r, 'an object of names');
is(said("SELECT count(bayes_anomaly(model, r)) FROM models, (SELECT drive, price FROM cars) AS r
      WHERE name = 'bmm'"), '', 'known labels are not spoken of');
for my $call ('bayes_drift(model, r)', 'bayes_score(model, r)') {
    is(said("SELECT count(x) FROM (SELECT $call AS x FROM models, (SELECT drive, price FROM new)
          AS r WHERE name = 'bmm') AS s"), '', "$call counts them");
}
my @twice = said("SELECT bayes_anomaly(model, r), bayes_surprise(model, r) FROM models,
      new, LATERAL (SELECT drive) AS r WHERE name = 'bmm'") =~ /^NOTICE/mg;
is(scalar @twice, 1, 'two questions of one statement: once');

is(said("SELECT count(x) FROM (SELECT hmm_decode(model, '{front,4wd,rear}'::text[]) AS x
      FROM models, generate_series(1, 3) WHERE name = 'hmm') AS s"),
    sprintf($one, 'drive') =~ s/column "drive"/a step/r, 'a symbol of a sequence');
is(said("SELECT count(x) FROM (SELECT hmm_filter(model, d) OVER (ORDER BY d) AS x
      FROM models, unnest('{front,4wd}'::text[]) AS d WHERE name = 'hmm') AS s"),
    sprintf($one, 'drive') =~ s/column "drive"/a step/r, 'or of steps one by one');

# Columns that records lack.
my $absent = qq{NOTICE:  rows have no column "drive", which counts as NULL
DETAIL:  They have a column "drve", which the model does not know.
HINT:  Columns are matched by name; additional columns are ignored.};
for my $call ('bayes_conditional(model, r)', 'bayes_log_density(model, r)',
    'bayes_probabilities(model, r)', 'bayes_score(model, r)', 'bayes_drift(model, r)') {
    is(said("SELECT count(v) FROM (SELECT $call AS v FROM models, (SELECT 'rear' AS drve, 25
          AS price FROM generate_series(1, 3)) AS r WHERE name = 'bmm') AS x"), $absent,
        $call);
}
is(said("SELECT count(bayes_log_density(model, r)) FROM models, (SELECT 25 AS price, 1 AS id) AS r
      WHERE name = 'bmm'"), '', 'a column that is left out is no misspelling');
like($session->run("SELECT linreg_predict(model, r) FROM models, (SELECT 25 AS price) AS r
      WHERE name = 'linreg'"), qr/^ERROR:  \w{5}: rows have no column "drive"$/m,
    'a regression needs its predictors');
like($session->run(q{SELECT bayes_log_density(m, r)
      FROM (SELECT bmm_fit(r, 1, '{"missing": "skip"}') AS m FROM (SELECT drive, price
      FROM cars) AS r) AS f, (SELECT 25 AS price) AS r}),
    qr/^ERROR:  \w{5}: rows have no column "drive"$/m, 'and so does a model that skips NULLs');

done_testing;
