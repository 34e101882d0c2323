# Models on their way through the world: pg_dump and pg_restore, COPY in text and binary, hostile
# bytes, restart and crash of the server, logical decoding, DROP and CREATE EXTENSION. What arrives
# is what left, to the last bit.
use strict;
use warnings;
use Server;
use Test::More;
use File::Temp qw(tempdir);
use Time::HiRes qw(sleep);

my $server = Server->new(data => 1, settings => {wal_level => 'logical',
    max_prepared_transactions => 2});
$server->query(<<'SQL');
SET client_min_messages = error;
CREATE TABLE models (name text PRIMARY KEY, model bayes_model, note text DEFAULT 'kept');
INSERT INTO models SELECT m || ' ' || c,
  gmm_fit(x, 2, jsonb_build_object('method', m, 'covariance', c, 'max_iter', 20)) FROM faithful,
  unnest('{em,map,vi,svi}'::text[]) m, unnest('{full,diagonal,spherical,tied}'::text[]) c
GROUP BY m, c;
INSERT INTO models SELECT 'large', gmm_fit(x, 5, '{"restarts": 1, "max_iter": 5}') FROM digits;
INSERT INTO models VALUES ('none', NULL);
CREATE TABLE scores AS SELECT name, id, bayes_log_density(model, x) AS density FROM faithful, models
WHERE name <> 'large' AND model IS NOT NULL;
CREATE VIEW components AS SELECT name, c.* FROM models,
  gmm_components(CASE WHEN name NOT LIKE 'topics %' THEN model END) AS c;
-- Models of which the terms are a part.
INSERT INTO models SELECT 'topics ' || m, lda_fit(words, 3, jsonb_build_object('method', m,
  'max_terms', 50) || CASE WHEN m IN ('gibbs', 'collapsed') THEN '{"draws": 20}'::jsonb
  ELSE '{"max_iter": 5}' END) FROM manual, unnest('{vi,em,svi,gibbs,collapsed}'::text[]) AS m
WHERE page LIKE 'spi-%' GROUP BY m;
CREATE TABLE pages (name text, page text, m bayes_model, words tsvector, shares float8[],
  topic int GENERATED ALWAYS AS (lda_predict(m, words)) STORED);
INSERT INTO pages SELECT name, page, model, words, lda_proportions(model, words)
FROM models, manual WHERE name LIKE 'topics %' AND page LIKE 'trigger%';
CREATE INDEX ON pages (((lda_proportions(m, words))[1]));
CREATE VIEW topics AS SELECT name, t.* FROM models,
  lda_topics(CASE WHEN name LIKE 'topics %' THEN model END, 7) AS t;
CREATE VIEW topics_found AS SELECT * FROM
  lda_topics($$SELECT words FROM manual WHERE page LIKE 'spi-%'$$, 2, '{"max_iter": 3}');
-- Models of which the keys of a table are a part.
CREATE TABLE factored (name text, m bayes_model, cells jsonb,
  weights float8[] GENERATED ALWAYS AS (nmf_transform(m, cells)) STORED);
INSERT INTO factored SELECT o->>'method', nmf_fit(page, lexeme, cardinality(positions), 3, o),
  '{"cursor": 2, "é": 1}'
FROM manual, unnest(words), unnest(ARRAY['{"method": "vi", "max_iter": 3}',
  '{"method": "em", "max_iter": 3}', '{"method": "squared", "max_iter": 3}']::jsonb[]) AS o
WHERE page LIKE 'spi-%' GROUP BY o;
CREATE TABLE rated AS SELECT pmf_fit(page, lexeme, cardinality(positions), 3,
  '{"draws": 8, "prior": {"hierarchical": true}}') AS m FROM manual, unnest(words)
WHERE page LIKE 'spi-%';
CREATE VIEW recommended AS SELECT r.* FROM rated, pmf_recommend(m, 'spi-spi-connect', 9) AS r;
CREATE VIEW factors AS SELECT name, f.* FROM factored, nmf_factors(m) AS f;
CREATE VIEW factors_found AS SELECT * FROM nmf_factorize('SELECT id, x FROM faithful', 1,
  '{"max_iter": 3}');
CREATE TABLE labelled (m bayes_model, x float8[],
  label int GENERATED ALWAYS AS (gmm_predict(m, x)) STORED, CHECK (bayes_log_density(m, x) < 1000));
INSERT INTO labelled SELECT model, x FROM models, faithful WHERE name = 'vi full' AND id <= 20;
CREATE INDEX ON labelled (gmm_predict(m, x));
CREATE VIEW found AS
  SELECT component, weight FROM gmm_fit('SELECT x FROM faithful', 2, options => '{"seed": 3}');
CREATE TABLE queries (query bayes_query DEFAULT 'SELECT 1', CHECK (query::text <> ''));
INSERT INTO queries VALUES ('SELECT x FROM faithful -- é'), (NULL);
CREATE MATERIALIZED VIEW refit AS SELECT gmm_fit(x, 2, '{"method": "em"}') AS model FROM faithful;
CREATE TABLE tried AS SELECT gmm_select(x, '{1,2}', '{"models": true}') AS choices FROM faithful;
CREATE AGGREGATE my_sum(float8) (SFUNC = float8pl, STYPE = float8);
SQL
my $files = tempdir(CLEANUP => 1);
chmod 0755, $files;

# Everything that must survive, as text with all bits.
my $fingerprint = q{
  SELECT string_agg(name || coalesce(md5(_bayes_model_send(model)::text), 'NULL') || note,
           ' ' ORDER BY name) FROM models
  UNION ALL SELECT md5(string_agg(density::text, ' ' ORDER BY name, id)) FROM scores
  UNION ALL SELECT string_agg(label || md5(_bayes_model_send(m)::text), ' ' ORDER BY x)
    FROM labelled
  UNION ALL SELECT md5(string_agg(c::text, ' ' ORDER BY name, component)) FROM components AS c
  UNION ALL SELECT string_agg(k || bic::text || md5(_bayes_model_send(model)::text), ' ' ORDER BY k)
  FROM tried, unnest(choices)
  UNION ALL SELECT string_agg(topic || shares::text, ' ' ORDER BY name, page) FROM pages
  UNION ALL SELECT md5(string_agg(t::text, ' ' ORDER BY name, topic, rank)) FROM topics AS t
  UNION ALL SELECT md5(string_agg(t::text, ' ' ORDER BY topic, rank)) FROM topics_found AS t
  UNION ALL SELECT string_agg(md5(_bayes_model_send(m)::text) || weights::text, ' ' ORDER BY name)
  FROM factored
  UNION ALL SELECT md5(_bayes_model_send(m)::text) FROM rated
  UNION ALL SELECT md5(string_agg(r::text, ' ' ORDER BY key)) FROM recommended AS r
  UNION ALL SELECT md5(string_agg(f::text, ' ' ORDER BY name, side, key, factor)) FROM factors AS f
  UNION ALL SELECT md5(string_agg(f::text, ' ' ORDER BY side, key, factor)) FROM factors_found AS f
  UNION ALL SELECT count(*)::text FROM refit WHERE model IS NOT NULL
  UNION ALL SELECT md5(string_agg(f::text, ' ' ORDER BY component)) FROM found AS f
  UNION ALL SELECT string_agg(coalesce(query::text, 'NULL'), ' ' ORDER BY query::text) FROM queries
  UNION ALL SELECT sum(weight)::text FROM queries, gmm_fit(query, 1) WHERE query IS NOT NULL};
my $want = $server->query($fingerprint);
like($want, qr/large\w{32}kept.*none.*topics vi\w{32}/s, 'there is something to lose');

# ---- pg_dump ----

for my $form (['plain', ['-Fp'], ['psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f']],
    ['custom', ['-Fc'], ['pg_restore', '--exit-on-error', '-d']],
    ['inserts', ['-Fp', '--inserts'], ['psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f']]) {
    my ($name, $dump, $restore) = @$form;
    my (undef, $errors, $status) = $server->run(undef, 'pg_dump', @$dump, '-f', "$files/$name",
        'postgres');
    is("$status$errors", '0', "pg_dump, $name");
    $server->query("CREATE DATABASE $name");
    my @command = $name eq 'custom' ? (@$restore, $name, "$files/$name")
        : (@$restore, "$files/$name", '-d', $name);
    (undef, $errors, $status) = $server->run(undef, @command);
    is("$status$errors", '0', 'and restored');
    local $server->{database} = $name;
    is($server->query($fingerprint), $want, 'to the last bit');
    is($server->query("SELECT count(*) FROM scores s JOIN models m USING (name)
          JOIN faithful f USING (id) WHERE bayes_log_density(m.model, f.x) <> s.density"), '0',
        'restored models score as before');
    is($server->query('SELECT count(*) > 0, count(*) FILTER (WHERE topic <> lda_predict(m, words)
          OR shares <> lda_proportions(m, words)) FROM pages'), 't|0',
        'and documents have the same topics');
}
open(my $file, '<', "$files/plain") or die "plain: $!";
my $script = join '', <$file>;
like($script, qr/^CREATE EXTENSION IF NOT EXISTS pg_bayes/m, 'the dump makes the extension');
unlike($script, qr/gmm_fit_transition|CREATE TYPE public\.bayes_model/,
    'and does not dump its members');

# ---- COPY ----

for my $format ('text', 'csv', 'binary') {
    my ($out, $errors) = $server->psql(undef, '-c',
        "\\copy models TO '$files/models.$format' (FORMAT $format)", '-c',
        'CREATE TABLE back (LIKE models)', '-c',
        "\\copy back FROM '$files/models.$format' (FORMAT $format)");
    is($errors, '', "COPY, $format");
    is($server->query('SELECT count(*) FROM models FULL JOIN back USING (name)
          WHERE _bayes_model_send(models.model) IS DISTINCT FROM
            _bayes_model_send(back.model)'), '0',
        'and back, to the last bit');
    $server->query('DROP TABLE back');
}

# ---- hostile bytes ----

# A file for COPY BINARY of one row with one column.
sub binary_copy {
    my ($bytes) = @_;
    return "PGCOPY\n\xff\r\n\0" . pack('NN', 0, 0) . pack('n', 1) . pack('N', length $bytes)
        . $bytes . pack('n', 0xffff);
}
$server->query('CREATE TABLE received (model bayes_model)');
my $session = $server->session;
sub receive {
    my ($bytes) = @_;
    open(my $out, '>:raw', "$files/hostile") or die "hostile: $!";
    print {$out} binary_copy($bytes);
    close $out;
    return $session->run("\\copy received FROM '$files/hostile' (FORMAT binary)");
}
my (%said, $sound);
my $tries = 0;
my $try = sub {
    my ($bytes) = @_;
    $tries++;
    my ($state) = receive($bytes) =~ /^ERROR:  (\w{5}):/m;
    $said{$state // 'received'}++;
};
srand(20260703);
for my $name ('topics gibbs', 'vi full') {
    $sound = pack 'H*',
        $server->query("SELECT encode(_bayes_model_send(model), 'hex') FROM models
          WHERE name = '$name'");
    is(receive($sound), '', "sound bytes are received: $name");
    $try->(substr($sound, 0, $_)) for 1 .. 30, map { int rand length $sound } 1 .. 60;
    for (1 .. 150) {
        my $bytes = $sound;
        substr($bytes, rand length $bytes, 1) = chr int rand 256 for 1 .. 1 + int rand 3;
        $try->($bytes) unless $bytes eq $sound;
    }
    $try->($sound . 'x');
    $try->(substr($sound, 0, 24) . join '', map { chr int rand 256 } 1 .. 500) for 1 .. 20;
}
$try->('');
$try->("\0" x $_) for 1, 24, 1000;
$try->(join '', map { chr int rand 256 } 1 .. 500) for 1 .. 20;
is_deeply([keys %said], ['22P03'], "hostile bytes: always 22P03 ($tries tries)")
    or diag(explain(\%said));
my $newer = $sound;
substr($newer, 4, 2) = pack 'v', 2;
like(receive($newer),
    qr/^ERROR:  22P03: unsupported bayes_model: its format is 2, but .* reads formats up to 1$/m,
    'a newer format is named');
is($session->run("SELECT family, components FROM received, bayes_info(model) ORDER BY family"),
    "gmm|2\nlda|3", 'the session goes on, with the sound models');

# ---- restart and crash ----

$session->close;
$server->query('BEGIN; UPDATE models SET note = note; COMMIT');
$server->ctl('restart');
is($server->query($fingerprint), $want, 'after a restart');
$server->query('CREATE TABLE late AS SELECT * FROM models');
$server->ctl('stop', '-m', 'immediate');
$server->ctl('start');
is($server->query($fingerprint), $want, 'after a crash');
is($server->query('SELECT count(*) FROM models JOIN late USING (name)
      WHERE _bayes_model_send(models.model) IS DISTINCT FROM _bayes_model_send(late.model)'), '0',
    'what was committed last is there too');

# ---- replication ----

$server->query("SELECT pg_create_logical_replication_slot('changes', 'test_decoding')");
$server->query("INSERT INTO late SELECT 'copy of ' || name, model FROM models
      WHERE name = 'em full'");
my $change = $server->query(
    "SELECT data FROM pg_logical_slot_get_changes('changes', NULL, NULL)
      WHERE data LIKE '%INSERT%'");
my ($text) = $change =~ /model\[bayes_model\]:'((?:[^']|'')*)'/;
is($server->query("SELECT _bayes_model_send('$text'::bayes_model) = _bayes_model_send(model)
      FROM models WHERE name = 'em full'"), 't', 'logical decoding carries a model');
$server->query("SELECT pg_drop_replication_slot('changes')");

# A subscriber without a key finds rows by comparing all columns.
my $main = $server->database;
my $connection = 'host=' . $server->host . " port=5432 user=postgres dbname=$main";
$server->query(<<"SQL");
CREATE TABLE keyless AS SELECT name, model, stats, 'SELECT 1'::bayes_query AS query
  FROM models, (SELECT linreg_stats(i, ARRAY[sin(i)]) AS stats FROM generate_series(1, 9) AS i) AS s
  WHERE model IS NOT NULL;
ALTER TABLE keyless REPLICA IDENTITY FULL;
CREATE PUBLICATION keyless FOR TABLE keyless;
CREATE DATABASE subscriber;
\\c subscriber
CREATE EXTENSION pg_bayes;
CREATE TABLE keyless (name text, model bayes_model, stats linreg_stats, query bayes_query);
\\c $main
SELECT pg_create_logical_replication_slot('keyless', 'pgoutput');
\\c subscriber
CREATE SUBSCRIPTION keyless CONNECTION '$connection' PUBLICATION keyless
  WITH (create_slot = false, slot_name = keyless);
SQL
# Waits for the subscriber: whether a query there gives true.
my $arrives = sub {
    my ($query) = @_;
    for (1 .. 300) {
        return 1 if $server->query("\\c subscriber\n$query") =~ /^t$/m;
        sleep 0.1;
    }
    return 0;
};
my $all = $server->query('SELECT count(*) FROM keyless');
ok($arrives->("SELECT count(*) = $all FROM keyless"), 'a subscriber gets models');
$server->query("UPDATE keyless SET name = 'changed' WHERE name = 'em full';
      DELETE FROM keyless WHERE name = 'vi full'");
ok($arrives->("SELECT count(*) = $all - 1 AND bool_or(name = 'changed') FROM keyless"),
    'and finds them by comparison under REPLICA IDENTITY FULL');
$server->query(<<"SQL");
\\c subscriber
ALTER SUBSCRIPTION keyless DISABLE;
ALTER SUBSCRIPTION keyless SET (slot_name = NONE);
DROP SUBSCRIPTION keyless;
\\c $main
-- The slot's process may take a moment to notice.
DO \$\$ BEGIN
  FOR i IN 1 .. 300 LOOP
    EXIT WHEN NOT (SELECT active FROM pg_replication_slots WHERE slot_name = 'keyless');
    PERFORM pg_sleep(0.1);
  END LOOP;
END \$\$;
SELECT pg_drop_replication_slot('keyless');
DROP PUBLICATION keyless;
DROP DATABASE subscriber WITH (FORCE);
DROP TABLE keyless;
SQL

# ---- prepared transactions, DROP EXTENSION ----

$server->query("BEGIN; INSERT INTO late SELECT 'prepared', gmm_fit(x, 2) FROM faithful;
      PREPARE TRANSACTION 'fit'");
$server->query("COMMIT PREPARED 'fit'");
is($server->query("SELECT count(*) FROM late, gmm_components(model) WHERE name = 'prepared'"), '2',
    'a fit in a prepared transaction');
my ($out, $errors) = $server->attempt('DROP EXTENSION pg_bayes');
like($errors, qr/2BP01/, 'the extension is in use');
$server->query('SET client_min_messages = error; DROP EXTENSION pg_bayes CASCADE');
is($server->query("SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = 'models'::regclass AND attnum > 0 AND NOT attisdropped"), 'name note',
    'DROP EXTENSION CASCADE takes the columns of its type');
is($server->query("CREATE EXTENSION pg_bayes; SELECT count(*)
      FROM (SELECT gmm_fit(x, 2) AS m FROM faithful) AS f, gmm_components(m)"), '2',
    'and it can be created again');
is_deeply([grep { /PANIC|TRAP|terminated by signal/ } split /\n/, $server->log], [],
    'no process of the server died');

done_testing;
