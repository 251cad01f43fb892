// What more than one live figure computes: spinlib's formulas again, without a document. tests/explore compares them with spinlib.
globalThis.explore ??= { figures: {}, physics: {} };

// Standard normal numbers from whole numbers, the same on every machine (sfc32; Box and Muller): z = normals(5, 0); z(); z()
explore.physics.normals = (...seed) => {
  let a = 0x9e3779b9, b = 0x243f6a88, c = 0xb7e15162, d = 1, spare = null;
  const uniform = () => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0; a = b ^ (b >>> 9); b = (c + (c << 3)) | 0; c = (((c << 21) | (c >>> 11)) + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  for (const part of seed) { a ^= part; b = (b + Math.imul(part, 0x85ebca6b)) | 0; for (let k = 0; k < 12; k++) uniform(); }
  const normal = () => {
    if (spare !== null) { const z = spare; spare = null; return z; }
    const r = Math.sqrt(-2 * Math.log(1 - uniform())), angle = 2 * Math.PI * uniform();
    spare = r * Math.sin(angle);
    return r * Math.cos(angle);
  };
  normal.uniform = uniform;
  return normal;
};

// P prompts of linear regression without noise: { u (P, D+1), query (P, D), y (P) } as icl.LinearTask(D, N).sample_features.
// Each prompt has a seed of its own and its tokens come in order: more or longer prompts keep what was there.
explore.physics.prompts = (D, N, P, seed) => {
  const data = { u: [], query: [], y: [] }, dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0) / Math.sqrt(D);
  for (let mu = 0; mu < P; mu++) {
    const z = explore.physics.normals(seed, mu), draw = () => Array.from({ length: D }, z), w = draw(), query = draw(), u = new Array(D + 1).fill(0);
    for (let n = 0; n < N; n++) {
      const x = draw(), y = dot(w, x);
      for (let i = 0; i < D; i++) u[i] += x[i] * y / N;
      u[D] += y * y / N;
    }
    data.u.push(u); data.query.push(query); data.y.push(dot(w, query));
  }
  return data;
};

// A = <s s^T>, h = <y s> and half = <y^2>/2 over the first P prompts, s_i the entries of u query^T row by row.
// The couplings are J = -A off the diagonal, the stiffness its diagonal plus the ridge: icl.to_spin_glass.
explore.physics.averages = ({ u, query, y }, P = y.length) => {
  const D = query[0].length, n = u[0].length * D, A = Array.from({ length: n }, () => new Float64Array(n)), h = new Float64Array(n), s = new Float64Array(n);
  let half = 0;
  for (let mu = 0; mu < P; mu++) {
    for (let i = 0; i < n; i++) s[i] = u[mu][Math.floor(i / D)] * query[mu][i % D];
    for (let i = 0; i < n; i++) {
      h[i] += y[mu] * s[i] / P;
      for (let j = 0; j <= i; j++) A[i][j] += s[i] * s[j] / P;
    }
    half += y[mu] ** 2 / 2 / P;
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) A[j][i] = A[i][j];
  return { A, h, half };
};

// The ground state: (A + ridge) sigma = h by Cholesky, as inference.ground_state.
explore.physics.groundState = ({ A, h }, ridge) => {
  const n = h.length, L = Array.from({ length: n }, () => new Float64Array(n)), x = Float64Array.from(h);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) {
    let rest = A[i][j] + (i === j ? ridge : 0);
    for (let k = 0; k < j; k++) rest -= L[i][k] * L[j][k];
    L[i][j] = i === j ? Math.sqrt(rest) : rest / L[j][j];
  }
  for (let i = 0; i < n; i++) { for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k]; x[i] /= L[i][i]; }
  for (let i = n - 1; i >= 0; i--) { for (let k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k]; x[i] /= L[i][i]; }
  return x;
};

// Error on new tasks of weights w (D+1 rows of D), prompts without noise: icl.population_error.
explore.physics.populationError = (w, D, N) => {
  let trace = 0, square = 0, label = 0;
  for (let i = 0; i < w.length; i++) {
    if (Math.floor(i / D) === i % D) trace += w[i];
    if (i < D * D) square += w[i] ** 2; else label += w[i] ** 2;
  }
  return 1 - 2 * trace / D + square * (1 + (D + 1) / N) / D + label * (1 + 2 / N) * (1 + 2 / D);
};
