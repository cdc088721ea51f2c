"""Writes scipy_reference.txt: seeded random data sets and what SciPy says of them.

    pip install scipy
    python scipy_reference.py > scipy_reference.txt

Columns, set apart by tabs, lists by spaces: name; a; b; t, df, p, low, high of Welch; p of the permutation test;
Cliff's delta; shift, low, high, coverage of Hodges and Lehmann.

Welch and the permutation test are SciPy's. The permutation p value is checked here against an enumeration in
whole numbers wherever the data are whole numbers. Far from zero both lose digits: there SciPy's Welch gets the data less one common
number, and the enumeration, in thousandths, is the permutation test. Cliff's delta comes from SciPy's Mann-Whitney U. The interval of
the Hodges-Lehmann shift is taken from the counts of U in whole numbers; SciPy's exact Mann-Whitney p must agree.
"""
from fractions import Fraction
from itertools import combinations
from math import comb, inf

import numpy as np
import scipy
from scipy import stats

ALPHA = 0.05
FAR = 1e9
SIZES = [(2, 2), (2, 3), (3, 3), (3, 4), (4, 3), (4, 4), (4, 5), (5, 5), (6, 4), (2, 9), (7, 7), (3, 12), (8, 8)]


def normal(random, n):
    return random.normal(30, 2, n)


def log_normal(random, n):
    return random.lognormal(1, 0.8, n)


def tied(random, n):
    return random.integers(0, 5, n).astype(float)


def counts(random, n):
    return random.integers(440_000, 530_000, n).astype(float)


def tiny(random, n):
    return random.normal(3e-60, 1e-60, n)


def huge(random, n):
    return random.normal(-4e60, 1e60, n)


def far_from_zero(random, n):
    return FAR + np.round(random.normal(0, 3, n), 2)


def u_counts(n, m):
    """How many orderings give each U."""
    row = {(0, j): [1] for j in range(m + 1)} | {(i, 0): [1] for i in range(n + 1)}
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            last_a, last_b = row[i, j - 1], row[i - 1, j]
            total = [0] * (i * j + 1)
            for u, c in enumerate(last_a):
                total[u] += c
            for u, c in enumerate(last_b):
                total[u + j] += c
            row[i, j] = total
    return row[n, m]


def hodges_lehmann(a, b):
    differences = np.sort(np.subtract.outer(b, a).ravel())
    orderings = comb(len(a) + len(b), len(a))
    count, below, k = u_counts(len(a), len(b)), 0, 1
    for u, c in enumerate(count):
        below += c
        if Fraction(2 * below, orderings) > Fraction(5, 100):
            break
        k = u + 1
    coverage = 1 - Fraction(2 * sum(count[:k]), orderings)
    values = np.median(differences), differences[k - 1], differences[-k], coverage
    return [float(v) for v in values]


def exact_permutation(a, b, parts):
    """In whole numbers of parts: twice the rarer side."""
    pooled = [round(x * parts) for x in np.concatenate([a, b])]
    seen = sum(pooled[: len(a)])
    sums = [sum(c) for c in combinations(pooled, len(a))]
    rarer = min(sum(s <= seen for s in sums), sum(s >= seen for s in sums))
    return min(1.0, 2 * rarer / len(sums))


def permutation(a, b):
    if min(np.concatenate([a, b])) > FAR / 2 and max(np.concatenate([a, b])) < FAR * 2:
        return exact_permutation(a, b, 1000)

    def statistic(x, y, axis):
        return np.mean(y, axis=axis) - np.mean(x, axis=axis)

    p = stats.permutation_test((a, b), statistic, n_resamples=inf, vectorized=True, batch=20_000).pvalue
    if all(float(x).is_integer() and abs(x) < 1e9 for x in np.concatenate([a, b])):
        assert abs(p - exact_permutation(a, b, 1)) < 1e-12, (a, b, p)
    return float(p)


def data_set(name, a, b):
    common = FAR if name.startswith("far") else 0
    welch = stats.ttest_ind(b - common, a - common, equal_var=False)
    low, high = welch.confidence_interval(1 - ALPHA)
    u = stats.mannwhitneyu(b, a, method="asymptotic").statistic
    if len(np.unique(np.concatenate([a, b]))) == len(a) + len(b):
        orderings = comb(len(a) + len(b), len(a))
        lower = sum(u_counts(len(a), len(b))[: int(min(u, len(a) * len(b) - u)) + 1])
        p = stats.mannwhitneyu(b, a, method="exact").pvalue
        assert abs(p - min(1, 2 * lower / orderings)) < 1e-12
    columns = [
        a,
        b,
        [welch.statistic, welch.df, welch.pvalue, low, high],
        [permutation(a, b)],
        [2 * u / (len(a) * len(b)) - 1],
        hodges_lehmann(a, b),
    ]
    print(name, *(" ".join(repr(float(x)) for x in column) for column in columns), sep="\t")


def main():
    random = np.random.default_rng(20230602)
    print(f"# written by scipy_reference.py with SciPy {scipy.__version__}, NumPy {np.__version__}")
    for kind in (normal, log_normal, tied, counts, tiny, huge, far_from_zero):
        for n, m in SIZES:
            a, b = kind(random, n), kind(random, m)
            while np.ptp(a) == 0 and np.ptp(b) == 0:
                b = kind(random, m)
            if random.integers(0, 2):
                b = b + np.round(np.std(np.concatenate([a, b])) * 2) if kind in (tied, counts) else b * 1.1
            data_set(f"{kind.__name__} {n}+{m}", a, b)
    data_set("tied 10+10", tied(random, 10), tied(random, 10) + 1)


main()
