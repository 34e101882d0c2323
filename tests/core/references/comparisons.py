#!/usr/bin/env python3
"""Prints P(A > B) and E[max(B - A, 0)] for pairs of posteriors, by mpmath, to 20 digits."""
from mpmath import beta, betainc, exp, inf, log, loggamma, mp, mpf, quad, sqrt, pi

mp.dps = 30


def beta_density(a, b):
    c = loggamma(a + b) - loggamma(a) - loggamma(b)
    return lambda x: exp(c + (a - 1) * log(x) + (b - 1) * log(1 - x)) if 0 < x < 1 else mpf(0)


def finite_sum(a1, b1, a2, b2):
    """P(A > B) of whole shapes: sum over i < a1 of B(a2 + i, b1 + b2) / ((b1 + i) B(1 + i, b1)
    B(a2, b2)) is P(B < A) read the other way round (Miller 2015)."""
    def log_b(a, b):
        return loggamma(a) + loggamma(b) - loggamma(a + b)
    total = mpf(0)
    for i in range(a1):
        total += exp(log_b(mpf(a2 + i), mpf(b1 + b2)) - log(mpf(b1 + i)) - log_b(mpf(1 + i), mpf(b1))
                     - log_b(mpf(a2), mpf(b2)))
    return total


for a1, b1, a2, b2 in [(3, 5, 4, 4), (1, 1, 2, 1), (121, 881, 141, 861), (20, 3, 900, 150),
                       (1000, 999000, 1100, 999000), (2, 30000, 3, 10)]:
    greater = finite_sum(a1, b1, a2, b2)
    # E[max(B - A, 0)] = E[B] P(B' > A) - E[A] P(B > A')
    loss = (mpf(a2) / (a2 + b2) * (1 - finite_sum(a1, b1, a2 + 1, b2))
            - mpf(a1) / (a1 + b1) * (1 - finite_sum(a1 + 1, b1, a2, b2)))
    print("{%d, %d, %d, %d, %s, %s}," % (a1, b1, a2, b2, mp.nstr(greater, 20), mp.nstr(loss, 20)))
