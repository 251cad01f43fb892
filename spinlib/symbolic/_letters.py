"""The letters of the derivations, as symbols; :mod:`spinlib.symbolic` says what each means."""

import sympy as sp

beta, p, N, x = sp.symbols("beta p N x", positive=True)
q, q0, q1 = sp.symbols("q q0 q1", positive=True)
n, lam, q_hat, q0_hat, q1_hat = sp.symbols("n lambda qhat qhat0 qhat1", real=True)
J, S = sp.symbols("J S", real=True)
