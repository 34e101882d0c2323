# pg_upgrade: stored models, those of earlier formats too, and what is made of them (indexes, views,
# generated columns) arrive in a new cluster, and go on working there.
#
# How long, for the runner:
# seconds: 12
use strict;
use warnings;
use Server;
use Test::More;

my $server = Server->new(data => 1);
plan skip_all => 'pg_upgrade is not installed' unless -x $server->directory . '/bin/pg_upgrade';

# Values of all forms: plain, compressed, out of line; in arrays and records; models of other
# versions, in their bytes.
my ($said, $errors) = $server->psql(<<'SQL');
SET client_min_messages = error;
CREATE TABLE models (name text PRIMARY KEY, model bayes_model);
\copy models FROM 'tests/data/stored_models.copy' (FORMAT binary)
INSERT INTO models SELECT 'large', gmm_fit(x, 5, '{"restarts": 1, "max_iter": 5}') FROM digits;
-- What is larger than a page's third has no room in a btree.
CREATE UNIQUE INDEX by_model ON models (model) WHERE name <> 'large';
CREATE INDEX by_hash ON models USING hash (model);
CREATE INDEX by_expression ON models (gmm_predict(model, '{3, 70}'))
  WHERE name LIKE 'gmm %';
CREATE TABLE tried AS SELECT gmm_select(x, '{1,2}', '{"models": true}') AS choices FROM faithful;
CREATE TABLE labelled (model bayes_model, x float8[],
  label int GENERATED ALWAYS AS (gmm_predict(model, x)) STORED);
INSERT INTO labelled (model, x)
  SELECT model, x FROM models, faithful WHERE name LIKE 'gmm vi %' AND id <= 5;
CREATE MATERIALIZED VIEW components AS
  SELECT name, c.* FROM models, gmm_components(model) AS c WHERE name LIKE 'gmm %';
CREATE UNIQUE INDEX ON components (name, component);
CREATE VIEW found AS SELECT component, weight FROM gmm_fit('SELECT x FROM faithful', 2);
CREATE TABLE queries (query bayes_query DEFAULT 'SELECT x FROM faithful');
INSERT INTO queries VALUES (DEFAULT);
SQL
is($errors, '', 'there is something to upgrade');

my $fingerprint = q{
  SELECT md5(string_agg(name || coalesce(_bayes_model_send(model)::text, ''), ' ' ORDER BY name))
  FROM models
  UNION ALL SELECT md5(string_agg(k || _bayes_model_send(model)::text, ' ' ORDER BY k))
  FROM tried, unnest(choices)
  UNION ALL SELECT md5(string_agg(l::text, ' ' ORDER BY l::text)) FROM labelled AS l
  UNION ALL SELECT md5(string_agg(c::text, ' ' ORDER BY name, component)) FROM components AS c
  UNION ALL SELECT md5(string_agg(f::text, ' ' ORDER BY component)) FROM found AS f
  UNION ALL SELECT md5(string_agg(g::text, ' ' ORDER BY component)) FROM queries,
    gmm_fit(query, 2) AS g};
my $before = $server->query($fingerprint);
like($before, qr/^(?:\w{32}\n){5}\w{32}$/, 'and to compare');
my $system = $server->query('SELECT system_identifier FROM pg_control_system()');

$server->upgrade;
isnt($server->query('SELECT system_identifier FROM pg_control_system()'), $system,
    'this is another cluster');
is($server->query($fingerprint), $before, 'all is there, to the last bit');

# ---- indexes: they are copied, not built again ----

$server->query('ANALYZE models');
for my $case (['by_model', 'DROP INDEX by_hash;', "name <> 'large'"],
    ['by_hash', 'DROP INDEX by_model;', 'model IS NOT NULL']) {
    my ($index, $first, $which) = @$case;
    my $session = $server->session;
    $session->run("BEGIN; $first SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
          SET LOCAL enable_mergejoin = off; SET LOCAL enable_bitmapscan = off");
    my $sql = "SELECT count(*) FROM models AS a JOIN models AS b ON a.model = b.model
          WHERE a.$which AND b.$which";
    like($session->run("EXPLAIN $sql"), qr/Index (?:Only )?Scan using $index/, "$index is used");
    is($session->run($sql), $session->run("SELECT count(*) FROM models AS b WHERE $which"),
        'and finds every model');
    $session->run('ROLLBACK');
}
my $sql = q{SELECT count(*) FROM models WHERE name LIKE 'gmm %'
      AND gmm_predict(model, '{3, 70}') < 9};
like($server->query("SET enable_seqscan = off; EXPLAIN $sql"), qr/by_expression/,
    'an index over an expression is used');
is($server->query("SET enable_seqscan = off; $sql"), $server->query($sql), 'and is right');

# ---- life goes on ----

$server->query('REINDEX TABLE models; REFRESH MATERIALIZED VIEW CONCURRENTLY components');
is($server->query($fingerprint), $before, 'built again, nothing differs');
is($server->query(q{INSERT INTO models SELECT 'new', gmm_fit(x, 2, '{"restarts": 1}')
      FROM faithful;
      SELECT count(*) FROM models, gmm_components(model) WHERE name = 'new'}), '2',
    'and new models are fitted');
is_deeply([grep { /PANIC|TRAP|terminated by signal/ } split /\n/, $server->log], [],
    'no process of the server died');

done_testing;
