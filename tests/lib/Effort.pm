# How much of its work a test file does here: the part of it that TEST_PART names ("2/4"; as a rule
# all), and how often it repeats what it repeats: TEST_EFFORT in the environment says which share of
# the full number, as it does for the unit tests; as a rule a quarter.
package Effort;
use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(effort parts is_part part_of);

sub effort {
    my ($full) = @_;
    my $count = int($full * ($ENV{TEST_EFFORT} // 0.25) + 0.5);
    return $count > 1 ? $count : 1;
}

my ($part, $parts) = split m{/}, $ENV{TEST_PART} // '1/1';

sub parts { $parts }

# Whether the thing of this number is for this part; they are dealt like cards, from 0.
sub is_part {
    my ($number) = @_;
    return $number % $parts == $part - 1;
}

# Of a list that the parts share out: those of this part.
sub part_of {
    my (@all) = @_;
    return @all[grep { is_part($_) } 0 .. $#all];
}

1;
