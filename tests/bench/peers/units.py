"""Logarithms of skewed columns: the one rule for the units of columns that benchmarks of questions
to a model have, the same for all sets."""
import math
import statistics


def is_skewed(values):
    """Whether values, None where not known, are all positive and their skewness is above 1."""
    known = [value for value in values if value is not None]
    if len(known) < 2 or min(known) <= 0 or min(known) == max(known):
        return False
    mean, sd = statistics.mean(known), statistics.pstdev(known)
    return statistics.mean(((value - mean) / sd) ** 3 for value in known) > 1


def to_units(values, skewed):
    return [value if value is None or not log else math.log(value)
            for value, log in zip(values, skewed)]


def from_units(values, skewed):
    return [math.exp(value) if log else value for value, log in zip(values, skewed)]
