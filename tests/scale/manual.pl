# docs/scale.md: what it says to run on each server, run there; its fit is that of one table.
use strict;
use warnings;
use Server;
use Test::More;

open(my $file, '<', "$Server::root/docs/scale.md") or die "scale.md: $!";
my @blocks = join('', <$file>) =~ /^```sql no-run\n(.*?)^```/msg;
my ($there, $setup, $fit) = @blocks;  # then there are those for Citus
cmp_ok(scalar @blocks, '>=', 3, 'the page has what to run on which server');
like($there, qr/^-- on servers one and two$/m, 'the first is for those');
like($_, qr/^-- on the server of the fit$/m, 'the others for this') for $setup, $fit;

my %server = map { ($_ => Server->new(extension => 0)) } qw(one two here);
$server{$_}->query($there) for qw(one two);
for my $name (qw(one two)) {
    my $host = $server{$name}->host;
    $setup =~ s/host '$name\.example\.org'/host '$host'/ or die "no host of server $name";
}
$server{here}->query($setup);
my $rows = "SELECT date '2024-01-01' + i AS day, 30 + i % 2 * 200 + 20 * sin(i) AS seconds,
    1 + i % 2 * 7 + i % 3 AS pages, CASE i % 5 WHEN 0 THEN 'robot' ELSE 'phone' END AS device
  FROM generate_series(0, 1000) AS i";
# The role of the user mapping may only read.
$server{$_->[0]}->query("INSERT INTO visits SELECT * FROM ($rows) AS r
    WHERE extract(year FROM day) = $_->[1]") for [one => 2024], [two => 2025];
$server{here}->query("INSERT INTO visits SELECT * FROM ($rows) AS r
    WHERE extract(year FROM day) = 2026; CREATE TABLE all_visits AS $rows");
my $pushed = $server{here}->query($fit);
is(scalar(split /\n/, $pushed), 2, 'the fit has two components');
is($pushed, $server{here}->query($fit =~ s/FROM visits/FROM all_visits/r =~ s/true/false/r),
    'those of one table');

done_testing();
