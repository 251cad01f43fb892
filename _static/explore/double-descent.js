// The peak of double descent: error of small transformers against the number of their prompts, and a ridge that presses it down.
globalThis.explore ??= { figures: {}, physics: {} };
explore.physics['double-descent'] = {
  // eq-lc-curve for weights of two variances: theory.learning_curve(D, N, P, ridge) is error, theory.best_ridge is best.
  law(D, N) {
    const size = [(1 + (D + 1) / N) / D, (1 + 2 / D) * (1 + 2 / N)], c = 1 / (D * size[0]), n = D * (D + 1);
    const sum = f => D * D * f(size[0]) + D * f(size[1]);
    // The effective ridge, a root of a cubic: Newton's steps from the side on which they cannot go too far.
    const kappa = (P, ridge) => {
      if (ridge === 0 && P >= n) return 0;
      let k = ridge === 0 ? Math.min(...size) * (n - P) / (n + P) / 2 : ridge + sum(a => a) / P;
      for (let step = 0; step < 200; step++) {
        const by = ridge === 0 ? (P - sum(a => a / (a + k))) / sum(a => a / (a + k) ** 2)
          : (k - ridge - sum(a => a * k / (a + k)) / P) / (1 - sum(a => (a / (a + k)) ** 2) / P);
        k = Math.max(k - by, ridge);
        if (!(Math.abs(by) > 2e-16 * k)) break;
      }
      return k;
    };
    const atKappa = (P, k) => (1 - c + size[0] * c * c * D * (k / (size[0] + k)) ** 2) / (1 - sum(a => (a / (a + k)) ** 2) / P);
    const error = (P, ridge) => (ridge === 0 && P === n ? Infinity : atKappa(P, kappa(P, ridge)));
    const best = P => {                                            // golden section in ln(kappa - kappa of ridge 0)
      const low = kappa(P, 0), g = (Math.sqrt(5) - 1) / 2, f = u => atKappa(P, low + Math.exp(u));
      let [a, b] = [-12, 7], u = b - g * (b - a), v = a + g * (b - a), fu = f(u), fv = f(v);
      while (b - a > 1e-7) {
        if (fu < fv) { b = v; v = u; fv = fu; u = b - g * (b - a); fu = f(u); } else { a = u; u = v; fu = fv; v = a + g * (b - a); fv = f(v); }
      }
      const k = low + Math.exp((a + b) / 2);
      return { ridge: k * (1 - sum(w => w / (w + k)) / P), error: atKappa(P, k) };
    };
    return { n, floor: 1 - c, error, best };
  },
  // A training set that grows, and the exact ground state of its first P prompts at any ridge: inference.ground_state; without
  // ridge the state of least norm. With fewer prompts than weights it solves for the prompts (numbers of inner products).
  set(data, often = []) {
    const { u, query, y } = data, D = query[0].length, n = D * u[0].length, sums = [{ A: new Float64Array(n * n), h: new Float64Array(n) }];
    const s = u.map((row, mu) => Float64Array.from({ length: n }, (_, i) => row[Math.floor(i / D)] * query[mu][i % D]));
    const gram = new Float64Array(n * n);
    for (let i = 0; i < Math.min(n, s.length); i++) for (let j = 0; j <= i; j++) gram[n * i + j] = s[i].reduce((t, v, k) => t + v * s[j][k], 0);
    const solve = (M, add, b) => {                                 // (M + add) x = b by Cholesky; M lower, row after row of length n
      const size = b.length, L = new Float64Array(n * size), x = Float64Array.from(b);
      for (let i = 0; i < size; i++) for (let j = 0; j <= i; j++) {
        let t = M[n * i + j];
        for (let k = 0, p = n * i, q = n * j; k < j; k++) t -= L[p + k] * L[q + k];
        L[n * i + j] = i === j ? Math.sqrt(t + add) : t / L[n * j + j];
      }
      for (let i = 0; i < size; i++) { for (let k = 0; k < i; k++) x[i] -= L[n * i + k] * x[k]; x[i] /= L[n * i + i]; }
      for (let i = size - 1; i >= 0; i--) { for (let k = i + 1; k < size; k++) x[i] -= L[n * k + i] * x[k]; x[i] /= L[n * i + i]; }
      return x;
    };
    const first = P => {                                           // sums over the first P prompts; those over 10, 20, ... and often are kept
      if (sums[P]) return sums[P];
      let from = P;
      while (!sums[from]) from--;
      const now = { A: sums[from].A.slice(), h: sums[from].h.slice() };
      for (let mu = from; mu < P; mu++) {
        for (let i = 0; i < n; i++) { const v = s[mu][i]; now.h[i] += y[mu] * v; for (let j = 0; j <= i; j++) now.A[n * i + j] += v * s[mu][j]; }
        if ((mu + 1) % 10 === 0 || often.includes(mu + 1)) sums[mu + 1] = { A: now.A.slice(), h: now.h.slice() };
      }
      return now;
    };
    return (P, ridge) => {
      if (P >= n) { const { A, h } = first(P); return solve(A, ridge * P, h); }
      const z = solve(gram, ridge * P, y.slice(0, P)), w = new Float64Array(n);
      z.forEach((v, mu) => { for (let i = 0; i < n; i++) w[i] += v * s[mu][i]; });
      return w;
    };
  },
};
explore.figures['double-descent'] = {
  // The ridge is written times D; answer is the P that the reader has marked, or 0.
  state: { P: [14, 5, 300], ridge: [0, 0, 3], answer: [0, 0, 300] },
  draw({ el, state, save }) {
    const { html, svg, words, scale, path, tidy, axes, sentence, motion, handle, slider, button } = explore.kit, p = explore.physics, own = p['double-descent'];
    const D = 6, N = 30, SETS = 12, LOW = 5, HIGH = 300, TOP = 300, NONE = 1e-5, MOST = 3, law = own.law(D, N), n = law.n;
    const PLACES = [5, 8, 12, 17, 23, 29, 34, 38, 42, 46, 51, 58, 68, 85, 115, 160, 220, 300];
    const error = (P, x) => law.error(P, x / D), num = v => (v > 99.5 ? 'more than 100' : tidy(v, v < 9.95 ? 2 : 0));
    const short = x => (x < 0.001 ? x.toFixed(5).replace(/0+$/, '') : String(+x.toPrecision(2)));
    let sets = null, lowest, cloud = null, arrived = PLACES.length, pressed = state.ridge > 0, clock = 0;
    if (state.ridge > 0) state.answer ||= n;
    state.P = Math.round(state.P);
    const learn = () => {
      sets ??= Array.from({ length: SETS }, (_, k) => own.set(p.prompts(D, N, HIGH, 1100 + k), PLACES));
      lowest ??= PLACES.map(P => law.best(P).error);
      return PLACES.map(P => errors(P));
    };
    const errors = P => sets.map(set => p.populationError(set(P, state.ridge / D), D, N));
    const walk = P => { state.P = Math.round(Math.max(LOW, Math.min(HIGH, P))); save(); ask(); };
    const press = x => { state.ridge = x < NONE ? 0 : Math.min(MOST, x); pressed ||= state.ridge > 0; cloud = learn(); save(); ask(); };

    const say = sentence(el);
    const picture = el.appendChild(svg('svg', { role: 'group', 'aria-label': 'Error on new tasks against the number of training prompts, both logarithmic' }));
    const go = button('Train the transformers', () => {
      state.answer = state.P; arrived = clock = 0; cloud = learn(); save(); shape(); flag.node.focus({ preventScroll: true }); ask();
    }, { class: 'main orange' });
    const ridge = slider({ label: 'Ridge <i>λD</i>', name: 'Ridge times D', min: NONE, max: MOST, value: NONE, log: true, step: 0, format: x => (x <= NONE ? 'none' : short(x)), input: x => press(x <= NONE ? 0 : x) });
    const asks = el.appendChild(html('div', { class: 'bar' }, go)), after = html('div', { class: 'sliders' }, ridge.node);

    let width, x, y, box, narrow, dots, here, line, grey, flag, pill, mark, ball, knob;
    const shape = () => resize(width);
    const resize = now => {
      width = now; narrow = width < 560;
      box = [narrow ? 34 : 44, 30, width - 12, narrow ? 290 : 352];
      const [left, top, right, bottom] = box, seen = state.answer > 0;
      picture.setAttribute('width', width); picture.setAttribute('height', bottom + 72);
      x = scale([LOW * 0.92, HIGH * 1.06], [left, right], true); y = scale([0.14, TOP], [bottom, top], true);
      const across = (class_, e, text, end) => [svg('line', { class: class_, x1: left, x2: right, y1: y(e), y2: y(e) }), words(text, { x: end ? right : left + 7, y: y(e) - 6, 'text-anchor': end ? 'end' : 'start' })];
      picture.replaceChildren(
        axes(box, { x, y, xs: seen ? [5, 10, 20, n, 100, 200] : [5, 10, 20, 50, 100, 200], ys: [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200], yLabel: 'error on new tasks' }),
        words(narrow ? 'prompts *P*' : 'training prompts *P*', { x: right, y: bottom + 68, 'text-anchor': 'end', class: 'strong' }),
        svg('clipPath', { id: 'ex-peak' }, svg('rect', { x: left, y: top, width: right - left, height: bottom - top })),
        ...across('zero', 1, 'predict 0', true), ...across('floor', law.floor, 'infinitely many prompts', false));
      if (seen) picture.append(svg('path', { class: 'guess', d: `M${x(state.answer)},${bottom - 1}l6,-10h-12z` }));
      grey = svg('path', { class: 'grey' }); line = svg('path', { class: 'line' });
      dots = svg('g', { class: 'dots' }); here = svg('g', { class: 'dots here' });
      picture.append(dots, svg('g', { 'clip-path': 'url(#ex-peak)' }, grey, line), here);
      pill = words('', { 'text-anchor': 'middle', y: bottom + 40.5 }); ball = svg('circle', { class: 'ball', r: 7.5 });
      mark = svg('g', { class: seen ? 'flag' : 'flag ask' }, svg('rect', { x: -22, y: top, width: 44, height: bottom + 54 - top, fill: 'transparent' }), svg('line', { y1: seen ? top : top + 24, y2: bottom + 24 }),
        svg('text', { class: 'asked', y: top + 17, 'text-anchor': 'middle', text: seen ? '' : '?' }), svg('rect', { class: 'halo', x: -46, y: bottom + 18, width: 92, height: 36, rx: 18 }),
        svg('rect', { class: 'pill', x: -42, y: bottom + 22, width: 84, height: 28, rx: 14 }), svg('path', { class: 'arrows', d: `M-34,${bottom + 36}l6,-4.5v9zM34,${bottom + 36}l-6,-4.5v9z` }), pill, ball);
      const cap = svg('g', { class: 'cap' }, svg('circle', { r: 24, fill: 'transparent' }), svg('circle', { class: 'halo', r: 16 }), svg('g', { class: 'nod' }, svg('path', { d: 'M-12,3a12,12 0 0 1 24,0z' }), svg('path', { d: 'M0,13l6.5,-8h-13z' })));
      picture.append(mark);
      if (seen) { picture.append(cap); el.append(after); asks.remove(); }
      flag = handle(mark, picture, { label: 'Number of training prompts', move: px => walk(x.back(px)), keys: (dx, dy) => walk(state.P + dx + dy) });
      knob = handle(cap, picture, {
        label: 'The peak: press it down with a ridge',
        move: (px, py) => press(ridgeFor(y.back(py + 10))),
        keys: (dx, dy) => press(Number.isFinite(dy) ? Math.max(NONE, state.ridge) * 1.2 ** (dx - dy) * (state.ridge || dx - dy > 0 ? 1 : 0) : dy < 0 ? MOST : 0),
      });
      if (seen) cloud ??= learn();
      paint();
    };
    // The ridge, up to the best one, that holds the peak at this height.
    const ridgeFor = want => {
      const best = law.best(n);
      let a = Math.log(NONE) - 3, b = Math.log(best.ridge * D);
      if (want <= best.error) return best.ridge * D;
      if (want > error(n, NONE)) return 0;
      for (let k = 0; k < 50; k++) { const m = (a + b) / 2; if (error(n, Math.exp(m)) > want) a = m; else b = m; }
      return Math.exp(b);
    };
    const along = (() => { const near = Array.from({ length: 24 }, (_, k) => 0.02 * 1.28 ** k); return [...Array.from({ length: 140 }, (_, k) => LOW * (HIGH / LOW) ** (k / 139)), ...near.map(d => n - d), ...near.map(d => n + d)].filter(P => P >= LOW).sort((a, b) => a - b); })();
    const points = (P, list, r) => list.map(e => (e > TOP ? svg('path', { d: `M${x(P).toFixed(1)},${box[1] - 7}l4,6h-8z` }) : svg('circle', { cx: x(P).toFixed(1), cy: y(e).toFixed(1), r })));
    const paint = () => {
      const seen = state.answer > 0, done = seen && arrived === PLACES.length, { P } = state, at = e => y(Math.min(e, TOP * 1.5));
      mark.setAttribute('transform', `translate(${x(P).toFixed(1)},0)`);
      pill.replaceChildren(...words(`*P* = ${P}`).childNodes);
      for (const node of [line, ball, knob.node]) node.style.display = done ? '' : 'none';
      grey.style.display = done && pressed ? '' : 'none';
      flag.tell(P, `${P} prompts${done ? `, error ${error(P, state.ridge).toPrecision(3)}` : ''}`, LOW, HIGH);
      if (seen) {
        dots.replaceChildren(...PLACES.slice(0, arrived).flatMap((v, k) => points(v, cloud[k], narrow ? 1.9 : 2.3)));
        here.replaceChildren(...(done ? points(P, errors(P), narrow ? 2.8 : 3.4) : []));
        line.setAttribute('d', path(along.map(v => [x(v), at(error(v, state.ridge))])));
        grey.setAttribute('d', path(PLACES.map((v, k) => [x(v), y(lowest[k])])));
        ball.setAttribute('cy', Math.max(box[1], at(error(P, state.ridge))));
        knob.node.setAttribute('transform', `translate(${x(n).toFixed(1)},${(Math.max(box[1], at(error(n, state.ridge))) - 20).toFixed(1)})`);
        knob.node.classList.toggle('ask', done && !pressed);
        knob.tell(state.ridge, state.ridge ? `ridge times D ${state.ridge.toPrecision(2)}, error at the peak ${error(n, state.ridge).toPrecision(3)}` : 'no ridge', 0, MOST);
        ridge.set(Math.max(NONE, state.ridge));
      }
      const late = [error(HIGH, state.ridge), error(HIGH, 0), lowest?.[PLACES.length - 1]], cost = Math.abs(late[0] - late[1]) < 0.005 ? `remains ${num(late[1])}, as without ridge` : `is ${num(late[0])}, and ${num(late[1])} without ridge`;
      const hump = PLACES.some((v, k) => k > 6 && error(v, state.ridge) > error(PLACES[k - 1], state.ridge));
      say(!seen ? `Transformers with <i>D</i> = ${D} have ${n} weights, and each training prompt gives one equation for them. There is no ridge. <b>With how many prompts will the error on new tasks be largest?</b> Drag the mark there; it stands at ${P}.`
        : !done ? `${PLACES[Math.max(0, arrived - 1)]} prompts. Each dot is a transformer with its own training set. <b>More prompts arrive …</b>`
        : !pressed ? `${Math.abs(Math.log(state.answer / n)) < 0.13 ? `As you said, it` : `You said ${state.answer}. It`} <b>is largest at ${n} prompts, one for each weight.</b> With no freedom left, the weights must fit what is noise to them. <b>Press the peak down:</b> that takes a ridge. What will it cost elsewhere?`
        : !state.ridge ? `No ridge. With ${P} prompts the theory gives an error of ${num(error(P, 0))}. <b>Press the peak down.</b>`
        : late[0] > 1.3 * late[2] ? `Ridge ${short(state.ridge)}/<i>D</i>: <b class="wrong">too much.</b> It holds the weights back even where the prompts determine them. With ${HIGH} prompts the error is ${num(late[0])}; the best ridge there (grey) gives ${num(late[2])}.`
        : hump ? `Ridge ${short(state.ridge)}/<i>D</i>: at ${n} prompts the error is down to <b class="theory">${num(error(n, state.ridge))}</b>. At ${HIGH} prompts it ${cost}. There is still a hump: <b>press on.</b>`
        : `Ridge ${short(state.ridge)}/<i>D</i>: <b>no peak is left,</b> and from a dozen prompts on the error only falls. At ${HIGH} prompts it ${cost}. Grey: the best ridge at each <i>P</i>.`, !seen || done);
    };
    const advance = dt => {
      if (arrived < PLACES.length) arrived = Math.min(PLACES.length, Math.floor((clock += dt) / 180));
      return arrived < PLACES.length;
    };
    const ask = motion(el, advance, paint);
    return {
      resize, still: () => { Object.assign(state, { P: n, ridge: 0.001, answer: n }); arrived = PLACES.length; pressed = true; cloud = learn(); shape(); },
      probe: () => ({ theory: error(state.P, state.ridge), errors: sets && errors(state.P), arrived, pressed, dots: dots.childElementCount }),
    };
  },
};
