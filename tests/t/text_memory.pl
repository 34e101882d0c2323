# Texts that are no model, by the ten megabytes: reading them takes a small multiple of their size,
# and an idle backend does not keep it.
#
# How long, for the runner:
# seconds: 15
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->shared;
$server->query(<<'SQL');
CREATE FUNCTION refused(text text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
  PERFORM text::bayes_model;
  RETURN false;
EXCEPTION WHEN invalid_text_representation THEN
  RETURN true;
END $$;
SQL

# Twelve million bytes each. A server that makes such a text and passes it on has four copies of it
# in memory at one time, and the numbers of the first take four times its size.
my %texts = (
    numbers => q{'[' || repeat('1,', 6000000) || '1]'},
    'arrays of numbers' => q{'[' || repeat('[1],', 3000000) || '[1]]'},
    'empty arrays' => q{'[' || repeat('[],', 4000000) || '[]]'},
    mixtures => q{'[' || repeat('1,[],', 2400000) || '1]'},
    names => q{'[' || repeat('"a",', 3000000) || '1]'},
    'numbers in what begins as a model' =>
        q{'{"pg_bayes": {"format": 1}, "family": "gmm", "means": [' || repeat('1,', 6000000)
          || '1]}'},
    'no JSON' => q{repeat('a', 12000000)},
);
for my $name (sort keys %texts) {
    my $session = $server->session;
    $session->run("SELECT refused('{}')");
    my $before = $session->private_kb;
    my $rise = $session->peak_rise("DO \$\$ BEGIN
      IF NOT refused($texts{$name}) THEN RAISE 'taken for a model'; END IF; END \$\$");
    my $kept = ($session->private_kb - $before) / 1024;
    diag(sprintf '%s: memory rose by %.0f MB, %.0f MB were kept', $name, $rise // 0, $kept);
    SKIP: {
        skip 'the peak of a process cannot be reset here', 1 unless defined $rise;
        cmp_ok($rise, '<', 240, "$name: memory stays within twenty times the text");
    }
    # The C library keeps up to 64 MB for later, of the server's own copies too.
    cmp_ok($kept, '<', 100, 'and is given back');
}

# Half a megabyte of labels, whose sums would be 12 million numbers, but are not there.
{
    my $session = $server->session;
    $session->run('SELECT NULL::linreg_stats');
    my $rise = $session->peak_rise(<<'SQL');
DO $$ BEGIN
  PERFORM jsonb_build_object('linreg_stats', '{"format": 1}'::jsonb, 'rows', 4990, 'skipped', 0,
    'dimension', 1, 'row_columns', jsonb_build_array(jsonb_build_object('name', 'a', 'kind',
    'label', 'labels', jsonb_agg(repeat('l', 90) || 10000 + i))), 'label_rows', jsonb_agg(1),
    'sums', '[]'::jsonb, 'rests', '[]'::jsonb)::text::linreg_stats
    FROM generate_series(1, 4990) AS i;
  RAISE 'taken for statistics';
EXCEPTION WHEN invalid_text_representation THEN
  IF SQLERRM NOT LIKE '%must be an array of % numbers' THEN RAISE; END IF;
END $$
SQL
    SKIP: {
        skip 'the peak of a process cannot be reset here', 1 unless defined $rise;
        cmp_ok($rise, '<', 40, 'statistics without sums take no room for them');
    }
}

# What a function that returns rows takes of memory goes with its rows, not with the statement.
# (PostgreSQL itself keeps up to a kilobyte of each call.)
{
    my $session = $server->session;
    $session->run('CREATE TABLE line AS SELECT linreg_fit(i, i % 7) AS model
          FROM generate_series(1, 30) AS i');
    my $rise = $session->peak_rise("SELECT count(*) FROM line, generate_series(1, 100000) AS g,
          LATERAL bayes_contrast(model, jsonb_build_object('x1', g))");
    SKIP: {
        skip 'the peak of a process cannot be reset here', 1 unless defined $rise;
        cmp_ok($rise, '<', 130, 'calls for every row of a statement do not add up');
    }
}

done_testing;
