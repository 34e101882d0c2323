# ALTER EXTENSION pg_bayes UPDATE: what is installed after it is what a fresh installation has, and
# objects and stored models that were there before go on and answer as they did.
#
# From every release that tests/data/released has the install script of, with the scripts of
# sql/updates, to today's version. And, as long as there was no release, or changes nothing, from
# today's version to one that this test makes, with a function more, another with other properties
# and another view: that a right script passes, and that this test finds what wrong ones forget.
#
# How long, for the runner:
# seconds: 15
use strict;
use warnings;
use File::Basename qw(basename);
use Server;
use Test::More;

my $server = Server->new(extension => 0);
chomp(my $share = `pg_config --sharedir`);
my $folder = $server->directory . "/tree$share/extension";
my ($today) = map { /^default_version = '(.*)'$/ ? $1 : () } lines("$folder/pg_bayes.control");
my $script = join '', lines("$folder/pg_bayes--$today.sql");

sub in_database {
    my ($database, $sql) = @_;
    local $server->{database} = $database;
    return $server->query($sql);
}
sub lines {
    my ($name) = @_;
    open(my $file, '<', $name) or die "$name: $!";
    return <$file>;
}
# A script of the extension, from one version to another or for an installation.
sub write_script {
    my ($versions, $text) = @_;
    open(my $file, '>', "$folder/pg_bayes--$versions.sql") or die $!;
    print {$file} $text;
    close $file or die $!;
}

# A database whose owner, no superuser, has installed a version in a schema of its own.
my $number = 0;
sub install {
    my ($version) = @_;
    my $name = 'update_' . ++$number;
    in_database('postgres', "CREATE DATABASE $name OWNER owner");
    in_database($name, "SET ROLE owner; CREATE SCHEMA bayes;
        CREATE EXTENSION pg_bayes SCHEMA bayes VERSION '$version'");
    in_database('postgres', "ALTER DATABASE $name SET search_path = public, bayes");
    return $name;
}
sub catalog {
    my ($database) = @_;
    my ($out, $err, $status) = $server->run('', 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d',
        $database, '-f', 'tests/lib/catalog.sql');
    die $err if $status != 0;
    return split /(?<=')\n(?=')/, $out;
}
# What only one of two lists has, shortened.
sub differences {
    my ($old, $new) = @_;
    my %old = map { $_ => 1 } @$old;
    my %new = map { $_ => 1 } @$new;
    return map { substr($_, 0, 120) } (map { "- $_" } grep { !$new{$_} } @$old),
        (map { "+ $_" } grep { !$old{$_} } @$new);
}
$server->query('CREATE ROLE owner; GRANT ALL ON SCHEMA public TO owner');

# ---- what users have, and what it says ----

my $uses = <<'SQL';
SET client_min_messages = error;
CREATE TABLE models (name text PRIMARY KEY, model bayes_model);
\copy models FROM 'tests/data/stored_models.copy' (FORMAT binary)
\copy models FROM 'tests/data/stored_topics.copy' (FORMAT binary)
\copy models FROM 'tests/data/stored_regressions.copy' (FORMAT binary)
CREATE INDEX ON models (model) WHERE name LIKE 'gmm %';
CREATE INDEX ON models USING hash (model);
CREATE INDEX by_label ON models (gmm_predict(model, '{3, 70}')) WHERE name LIKE 'gmm %';
CREATE VIEW components AS
  SELECT name, c.* FROM models, gmm_components(model) AS c WHERE name LIKE 'gmm %';
CREATE TABLE labelled (model bayes_model, x float8[],
  label int GENERATED ALWAYS AS (gmm_predict(model, x)) STORED);
INSERT INTO labelled (model, x) SELECT model, '{3.1,70}' FROM models WHERE name LIKE 'gmm vi %';
CREATE TABLE choices AS SELECT gmm_select(ARRAY[i % 7, i % 5]::float8[], '{1,2}',
  '{"restarts": 1, "max_iter": 5}') AS tried FROM generate_series(1, 40) AS i;
CREATE FUNCTION score(x float8[]) RETURNS float8 STABLE LANGUAGE sql
  AS $$SELECT bayes_log_density(model, x) FROM models WHERE name LIKE 'gmm em %' LIMIT 1$$;
CREATE VIEW running AS SELECT pid, family FROM bayes_progress;
SQL
my $answers = q{
  SELECT name, md5(model::text), (SELECT i::text FROM bayes_info(model) AS i)
  FROM models ORDER BY name COLLATE "C";
  SELECT md5(string_agg(c::text, ' ' ORDER BY name COLLATE "C", component)) FROM components AS c;
  SELECT md5(string_agg(l::text, ' ' ORDER BY l::text COLLATE "C")) FROM labelled AS l;
  SELECT md5(tried::text), score('{2, 60}') FROM choices;
  SELECT name, bayes_probabilities(model, '{3,71}') FROM models WHERE name LIKE 'gmm %'
  ORDER BY bayes_log_density(model, '{3, 70}'), name COLLATE "C";
  SELECT count(*) FROM running;
  SELECT count(*) FROM models AS a JOIN models AS b ON a.model = b.model};

# From one version to another; the catalog after it beside that of a fresh installation.
sub update {
    my ($from, $to) = @_;
    my $database = install($from);
    my ($out, $err, $status) = $server->run($uses, 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d',
        $database);
    is($err, '', "with $from models are stored and used");
    my $before = in_database($database, $answers);
    like($before, qr/gmm em/, 'and answer');
    in_database($database, "SET ROLE owner; ALTER EXTENSION pg_bayes UPDATE TO '$to'");
    is(in_database($database, $answers), $before,
        "after the update to $to they answer as before");
    in_database($database, 'REINDEX TABLE models');
    is(in_database($database, $answers), $before, 'with indexes built anew, too');
    return ([catalog(install($to))], [catalog($database)]);
}

# ---- from every release ----

# A release keeps its install script here, for the tests of those that follow.
for my $file (sort glob('tests/data/released/pg_bayes--*.sql')) {
    my ($version) = basename($file) =~ /^pg_bayes--(.*)\.sql$/;
    next if $version eq $today;
    write_script($version, join '', lines($file));
    my ($fresh, $updated) = update($version, $today);
    is_deeply([differences($fresh, $updated)], [], "$version becomes $today");
}

# ---- from today's version to the next ----

my ($next, $wrong) = ('9.9.9', '9.9.8');
my $added = <<'SQL';
CREATE FUNCTION bayes_next(model bayes_model) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'bayes_compact' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bayes_next(bayes_model) IS 'A function that the next version adds.';
CREATE VIEW bayes_fits AS SELECT pid, family FROM _bayes_progress();
SQL
my $changed = <<'SQL';
ALTER FUNCTION bayes_compact(bayes_model) COST 50;
COMMENT ON FUNCTION bayes_compact(bayes_model) IS 'Another comment.';
COMMENT ON COLUMN bayes_progress.pid IS 'Another comment.';
SQL
write_script($next, $script . $added . $changed);
write_script("$today--$next", $added . $changed);
my ($fresh, $updated) = update($today, $next);
cmp_ok(scalar(@$fresh), '>', 1500, 'the catalog has much to say');
is_deeply([differences($fresh, $updated)], [], 'the next version is that of a fresh installation');
isnt(scalar(differences([catalog(install($today))], $fresh)), 0, 'which is another than before');

# What a script forgets, one thing after the other.
my $case = 0;
for my $forgotten (split /(?<=;)\n/, $added . $changed) {
    my ($what) = $forgotten =~ /^(.{1,60})/;
    my $text = $added . $changed;
    $text =~ s/\Q$forgotten\E//;
    # A comment on what is not there is an error of its own.
    next if $forgotten =~ /^CREATE FUNCTION/;
    my $version = "$wrong." . ++$case;
    write_script($version, $script . $added . $changed);
    write_script("$today--$version", $text);
    my $database = install($today);
    in_database($database, "ALTER EXTENSION pg_bayes UPDATE TO '$version'");
    my @found = differences([catalog(install($version))], [catalog($database)]);
    ok(@found > 0, "a script without $what is found out") or diag("@found");
}

done_testing;
