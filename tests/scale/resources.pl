# What rows that are kept for a fit hold, where the fit fails and the error is caught: buffers,
# snapshots, files and memory are given back with the subtransaction, not with the transaction; and
# a fit where the rows are is as read-only as one that collects them.
#
# How long, for the runner:
# seconds: 10
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->new;
my $host = $server->host;
$server->query(<<"SQL");
CREATE EXTENSION pg_buffercache;
CREATE EXTENSION postgres_fdw;
CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '5432',
  dbname 'postgres', extensions 'pg_bayes');
CREATE USER MAPPING FOR postgres SERVER itself;
SQL
$server->query(<<'SQL');
CREATE TABLE read AS SELECT i FROM generate_series(1, 60) AS i;
CREATE FUNCTION numbers(int4range) RETURNS float4[] IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE x float8;
BEGIN
  SELECT sum(1 / (i - 40)) INTO x FROM public.read;
  RETURN '{1,2}';
END $$;
CREATE CAST (int4range AS float4[]) WITH FUNCTION numbers(int4range) AS IMPLICIT;
CREATE TABLE spans (i int, b boolean, r int4range) PARTITION BY RANGE (i);
CREATE TABLE spans_here PARTITION OF spans FOR VALUES FROM (0) TO (10);
CREATE TABLE spans_there AS SELECT i, i % 2 = 0 AS b, int4range(i, i + 2) AS r
FROM generate_series(1, 9) AS i;
INSERT INTO spans SELECT * FROM spans_there;
CREATE FOREIGN TABLE far_spans (i int, b boolean, r int4range) SERVER itself
  OPTIONS (table_name 'spans_there');

CREATE TABLE parted (i int, x float8[], b boolean, words text[]) PARTITION BY RANGE (i);
CREATE TABLE parted_here PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT i,
  ARRAY(SELECT abs(sin(i * j)) + i * j % 7 FROM generate_series(1, 8) AS j), i % 3 = 0,
  ARRAY(SELECT 't' || i * j % 501 FROM generate_series(1, 12) AS j)
FROM generate_series(1, 40000) AS i;
CREATE FOREIGN TABLE far (i int, x float8[], b boolean, words text[]) SERVER itself
  OPTIONS (table_name 'parted');
ANALYZE;
SQL

# A statement whose error is caught, with the SQLSTATE that it has.
sub caught {
    my ($statement) = @_;
    return "DO \$do\$ BEGIN PERFORM $statement; RAISE WARNING 'no error';
        EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'caught %', sqlstate; END \$do\$";
}

# ---- what a cast holds when it fails ----

my $session = $server->session;
my $pushed = '{"push_down": true}';
my %casts = (
    'gmm' => "gmm_model('SELECT r FROM %s', 1, '$pushed')",
    'logreg' => "logreg_model('SELECT b, r FROM %s', '$pushed')",
    'linreg' => "linreg_model('SELECT i, r FROM %s', '$pushed')",
    'nb' => "nb_model('SELECT b, r FROM %s', '$pushed')",
);
my $pins = "SELECT coalesce(sum(pinning_backends), 0) FROM pg_buffercache
    WHERE relfilenode = pg_relation_filenode('read')";
for my $table (qw(spans far_spans)) {
    for my $name (sort keys %casts) {
        my $what = "$name of $table";
        my $statement = sprintf $casts{$name}, $table;
        my $said = $session->run('BEGIN; ' . join ';', (caught($statement)) x 3);
        is(join(' ', $said =~ /caught (\w+)|WARNING/g), join(' ', ('22012') x 3),
            "$what: the error of the cast") or diag $said;
        is($server->query($pins), 0, '... no buffer is pinned');
        is($server->query("SELECT count(*) FROM pg_stat_activity
            WHERE state = 'idle in transaction' AND backend_xmin IS NOT NULL
            AND application_name <> 'postgres_fdw'"), 0, '... no snapshot is held');
        is($session->run('COMMIT'), '', '... nothing is left for the commit to release');
    }
}

# ---- files that cannot be written ----

my %spilled = (
    'rows' => "gmm_model('SELECT x FROM %s', 3, '$pushed')",
    'responses' => "logreg_model('SELECT b, x FROM %s', '$pushed')",
    'documents' => "lda_model('SELECT words FROM %s', 3, '$pushed')",
    'tables' => "nmf_model('SELECT i, x FROM %s', 3, '$pushed')",
    'sequences' => "hmm_model('SELECT i, x FROM %s', 2, '$pushed')",
);
$server->query("ALTER ROLE postgres SET maintenance_work_mem = '1MB';
    ALTER ROLE postgres SET temp_file_limit = '512kB'");
my $limited = $server->session;
my $contexts = "SELECT string_agg(name, ' ') FROM pg_backend_memory_contexts
    WHERE name LIKE 'pg_bayes%'";
for my $table (qw(parted far)) {
    for my $name (sort keys %spilled) {
        my $what = "$name of $table";
        my $statement = sprintf $spilled{$name}, $table;
        my $said = $limited->run('BEGIN; ' . join ';', (caught($statement)) x 2);
        is(join(' ', $said =~ /caught (\w+)|WARNING/g), '53400 53400',
            "$what: there is no room for the file") or diag $said;
        is(join(' ', $server->temporary_files), '', '... it is gone with the subtransaction');
        is($limited->run($contexts), '', '... and so is the memory');
        is($limited->run('COMMIT'), '', '... nothing is left for the commit to close');
    }
}
$server->query('ALTER ROLE postgres RESET ALL');
unlike($server->log, qr/leak|nonzero refcount|PANIC/, 'the log has no leaks');

# ---- keys of rows ----

# A limit for those of one table is one for those of several parts, before any key is sent.
$server->query(<<'SQL');
CREATE TABLE keyed (i int, x float8[]) PARTITION BY RANGE (i);
CREATE TABLE keyed_1 PARTITION OF keyed FOR VALUES FROM (0) TO (15000);
CREATE TABLE keyed_2 PARTITION OF keyed FOR VALUES FROM (15000) TO (30000);
INSERT INTO keyed SELECT i, ARRAY[i % 3, i % 5] FROM generate_series(0, 29999) AS i;
SQL
for my $columns ('i, x', 'x') {
    for my $push (qw(true false)) {
        my ($out, $err) = $server->attempt(
            "SELECT nmf_model('SELECT $columns FROM keyed', 1000, '{\"push_down\": $push}')");
        like("$out$err", qr/^ERROR:  54000: fitting a table of more than \d+ rows and columns/m,
            "more keys than there is memory for, SELECT $columns, push_down $push");
    }
}

# ---- what a query calls must not write ----

$server->query(<<'SQL');
CREATE TABLE written (a float8);
CREATE FUNCTION writes(a float8) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.written VALUES (a);
  RETURN a;
END $$;
CREATE FUNCTION hidden(a float8) RETURNS float8 IMMUTABLE LANGUAGE sql AS 'SELECT public.writes(a)';
CREATE FUNCTION written_numbers(numrange) RETURNS float4[] IMMUTABLE LANGUAGE sql AS
  'SELECT ARRAY[public.writes(1), 2]::float4[]';
CREATE CAST (numrange AS float4[]) WITH FUNCTION written_numbers(numrange) AS IMPLICIT;
CREATE TABLE ranges AS SELECT i, numrange(i, i + 2) AS r FROM generate_series(1, 9) AS i;
CREATE TABLE parted_ranges (i int, r numrange) PARTITION BY RANGE (i);
CREATE TABLE ranges_here PARTITION OF parted_ranges DEFAULT;
INSERT INTO parted_ranges SELECT * FROM ranges;
CREATE FOREIGN TABLE far_ranges (i int, r numrange) SERVER itself OPTIONS (table_name 'ranges');
SQL
my %writing = (
    'an expression' => 'SELECT hidden(i) FROM parted',
    'a function of a constant' => 'SELECT hidden(3), i FROM parted',
    'a condition' => 'SELECT i FROM parted WHERE hidden(i) > 5',
    'a cast' => 'SELECT r FROM parted_ranges',
    'a cast on another server' => 'SELECT r FROM far_ranges',
);
for my $name (sort keys %writing) {
    for my $push (qw(true false)) {
        my ($out, $err) = $server->attempt(
            "SELECT gmm_model('$writing{$name}', 1, '{\"push_down\": $push}')");
        like("$out$err", qr/^ERROR:  25006: cannot execute INSERT in a read-only transaction/m,
            "$name that writes, push_down $push");
        is($server->query('SELECT count(*) FROM written'), 0, '... writes nothing');
    }
}

done_testing();
