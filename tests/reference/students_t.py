"""Writes students_t.txt: Student's t distribution to 17 digits, integrated with mpmath.

    pip install mpmath
    python students_t.py > students_t.txt

Rows: `p df t P(|T| >= t)` and `q df probability t`.
"""
from mpmath import betainc, exp, findroot, log1p, loggamma, mp, mpf, nstr, pi, quad, sqrt

mp.dps = 50


def density(df):
    scale = exp(loggamma((df + 1) / 2) - loggamma(df / 2)) / sqrt(df * pi)
    return lambda x: scale * exp(-(df + 1) / 2 * log1p(x * x / df))


def two_sided(t, df):
    if df <= 400:
        return betainc(df / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True)
    if t <= 2:
        return 1 - 2 * quad(density(df), [0, t])
    return 2 * quad(density(df), [t] + [t + mpf(2) ** k for k in range(-2, 6)])


def quantile(probability, df):
    def excess(x):
        return mpf(1) / 2 + quad(density(df), [0, x / 8, x / 4, x / 2, x]) - probability

    start = {0.8: 1, 0.975: 2.5, 0.995: 4, 0.99999: 8}[float(probability)]
    low = high = mpf(start)
    while excess(low) > 0:
        low /= 2
    while excess(high) < 0:
        high *= 2
    return findroot(excess, (low, high), solver="anderson", tol=1e-40)


print("# written by students_t.py")
for df in "1 1.5 3.0750242223335817 4 6 18.7 58 400 1999 2000 2500 1e5 1e7".split():
    for t in "1e-8 0.01 0.5 0.99 1.01 2 4.5 12 30".split():
        print("p", df, t, nstr(two_sided(mpf(t), mpf(df)), 17))
for df in "1 1.5 3.0750242223335817 6 58 1999 2500 1e5 1e7".split():
    for probability in "0.8 0.975 0.995 0.99999".split():
        # The number that a program reads, not the decimal fraction.
        print("q", df, probability, nstr(quantile(mpf(float(probability)), mpf(df)), 17))
