# A release: its version is the same wherever it must be named, its description for PGXN is valid,
# and its archive has all that a clone has.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use Test::More;

sub contents {
    my ($name) = @_;
    open(my $file, '<:raw', $name) or die "$name: $!";
    local $/;
    return scalar <$file>;
}
sub output {
    my (@command) = @_;
    open(my $pipe, '-|', @command) or die "$command[0]: $!";
    local $/;
    my $text = <$pipe> // '';
    close $pipe or die "@command failed\n";
    return $text;
}

my ($version) = contents('control/pg_bayes.control') =~ /^default_version = '(\d+\.\d+\.\d+)'$/m;
ok(defined $version, 'the control file has a version of three numbers');
my ($changes) = contents('CHANGELOG.md') =~ /^## (?!Unreleased$)(\S+)/m;
is($changes, $version, 'CHANGELOG.md begins with its changes, but for those of the next release');
my ($package) = contents('debian/changelog') =~ /^pg-bayes \((\S+)-\d+\) /;
is($package, $version, 'and so do those of the Debian package');
unlike(contents('META.json.in'), qr/\Q$version\E/, 'META.json is given it by make dist');

# ---- the PGXN meta spec, version 1.0 ----

my $string = sub { defined $_[0] && !ref $_[0] && $_[0] =~ /\S/ };
my $number = qr/(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:[A-Za-z][\w.-]*)?/;
my $semantic = sub { $string->($_[0]) && $_[0] =~ /^$number$/ };
my $range = sub {
    my ($text) = @_;
    return $string->($text) && ($text eq '0' || !grep { !/^(?:(?:<=?|>=?|==|!=)\s*)?$number$/ }
        split /\s*,\s*/, $text);
};
my $address = sub { $string->($_[0]) && $_[0] =~ m{^https?://[\w.-]+(?:/\S*)?$} };
my $term = sub { $string->($_[0]) && length $_[0] >= 2 && $_[0] !~ m{[\s/\\\x00-\x1f\x7f]} };
my $file = sub { $string->($_[0]) && $_[0] !~ m{^/|(?:^|/)\.\.(?:/|$)} };
my %licenses = map { $_ => 1 } qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd
    gfdl_1_2 gfdl_1_3 gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit mozilla_1_0 mozilla_1_1 openssl
    perl_5 postgresql qpl_1_0 ssleay sun zlib open_source restricted unrestricted unknown);

# A map with these keys, of which those with a + must be there; others begin with x_.
sub map_of {
    my (%keys) = @_;
    my %known = map { s/^\+//r => $keys{$_} } keys %keys;
    my @needed = map { /^\+(.*)/ ? $1 : () } keys %keys;
    return sub {
        my ($value) = @_;
        return ref $value eq 'HASH' && !grep({ !exists $value->{$_} } @needed)
            && !grep { !/^[xX]_/ && !($known{$_} && $known{$_}->($value->{$_})) } keys %$value;
    };
}
sub each_value {
    my ($key, $check) = @_;
    return sub {
        my ($value) = @_;
        return ref $value eq 'HASH' && %$value
            && !grep { !/^[xX]_/ && !($key->($_) && $check->($value->{$_})) } keys %$value;
    };
}
sub one_or_many {
    my ($check) = @_;
    return sub {
        my ($value) = @_;
        return ref $value eq 'ARRAY' ? @$value && !grep { !$check->($_) } @$value
            : $check->($value);
    };
}
my $prereqs = map_of(map { $_ => each_value($term, $range) }
    qw(requires recommends suggests conflicts));
my $valid = map_of(
    '+name' => $term, '+version' => $semantic, '+abstract' => $string, description => $string,
    '+maintainer' => one_or_many($string), '+license' => one_or_many(sub { $licenses{$_[0]} }),
    '+provides' => each_value($term, map_of('+file' => $file, '+version' => $semantic,
        abstract => $string, docfile => $file)),
    '+meta-spec' => map_of('+version' => sub { $_[0] eq '1.0.0' }, url => $address),
    generated_by => $string, tags => one_or_many(sub { $string->($_[0]) && length $_[0] < 256 }),
    release_status => sub { $_[0] =~ /^(?:stable|testing|unstable)$/ },
    prereqs => map_of(map { $_ => $prereqs } qw(configure build test runtime develop)),
    resources => map_of(homepage => $address, license => one_or_many($address),
        bugtracker => map_of(web => $address, mailto => sub { $_[0] =~ /^\S+\@\S+$/ }),
        repository => map_of(url => sub { $_[0] =~ m{^\w+://\S+$} }, web => $address,
            type => sub { $_[0] =~ /^[a-z]+$/ })));

my $template = contents('META.json.in') =~ s/\@VERSION\@/$version/gr;
ok($valid->(decode_json($template)), 'META.json is valid');
# The checks find what they should.
for my $wrong (['no name', sub { delete $_[0]{name} }],
    ['an unknown key', sub { $_[0]{resource} = {} }],
    ['a version of two numbers', sub { $_[0]{version} = '0.1' }],
    ['another license', sub { $_[0]{license} = 'PostgreSQL' }],
    ['a range without commas', sub {
        $_[0]{prereqs}{runtime}{requires}{PostgreSQL} = '>= 14 < 19' }],
    ['a file elsewhere', sub { $_[0]{provides}{pg_bayes}{file} = '../x.sql' }],
    ['an address without a scheme', sub { $_[0]{resources}{homepage} = 'pgxn.org' }]) {
    my $meta = decode_json($template);
    $wrong->[1]->($meta);
    ok(!$valid->($meta), "with $wrong->[0] it is not");
}
my $meta = decode_json($template);
is_deeply([$meta->{version}, map { $_->{version} } values %{$meta->{provides}}],
    [$version, $version], 'it names the version of what it provides');
my ($oldest, $beyond) =
    $meta->{prereqs}{runtime}{requires}{PostgreSQL} =~ /^>= (\d+)\.0\.0, < (\d+)\.0\.0$/;
is(contents('debian/pgversions'), "$oldest+\n", 'and the oldest PostgreSQL that is packaged for');
my $newest = $beyond - 1;
like(contents('docs/install.md'), qr/PostgreSQL $oldest to $newest /, 'which users are told of');

# ---- the archive ----

SKIP: {
    skip 'this is no clone', 7 unless -e '.git';
    my $directory = tempdir(CLEANUP => 1);
    output('tests/lib/dist', "$directory/$_") for 1, 2;
    my $name = "pg_bayes-$version";
    is(sha256_hex(contents("$directory/1/$name.$_")), sha256_hex(contents("$directory/2/$name.$_")),
        "the same commit makes the same $_ file") for qw(tar.gz zip);
    my @wanted = sort map { "$name/$_" } 'META.json', "build/pg_bayes--$version.sql",
        split /\n/, output(qw(git ls-tree -r --name-only HEAD));
    my @files = sort grep { !m{/$} } split /\n/, output('tar', '-tzf', "$directory/1/$name.tar.gz");
    is_deeply(\@files, \@wanted, 'it has the files of the commit, and two more');
    output('tar', '-xzf', "$directory/1/$name.tar.gz", '-C', $directory);
    my $tree = "$directory/$name";
    my $packed = decode_json(contents("$tree/META.json"));
    ok($valid->($packed), 'its META.json is valid');
    my ($provided) = values %{$packed->{provides}};
    is_deeply([grep { !-s "$tree/$_" } @{$provided}{qw(file docfile)}], [],
        'and names files that are there');
    is(contents("$tree/$provided->{file}"),
        output('sh', '-c', 'cd "$0" && awk -f sql/expand.awk sql/[0-9]*.sql', $tree),
        'the install script is the one that make builds');
    my $question = "cd \$0 && make -s -q build/pg_bayes--$version.sql && echo new";
    is(output('sh', '-c', $question, $tree), "new\n", 'and make takes it as it is');
}

done_testing;
