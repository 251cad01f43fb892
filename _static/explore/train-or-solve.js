// Train it, or solve it: the weights of a small linear-attention transformer in training, and the ground state of its glass.
globalThis.explore ??= { figures: {}, physics: {} };
explore.physics['train-or-solve'] = {
  // Energy of a state and its gradient; energy + half is the training loss: SpinGlass.energy, SpinGlass.gradient, icl.training_loss.
  gradient({ A, h }, ridge, w, slope = new Float64Array(w.length)) {
    let energy = 0;
    for (let i = 0; i < w.length; i++) {
      let sum = ridge * w[i];
      for (let j = 0; j < w.length; j++) sum += A[i][j] * w[j];
      slope[i] = sum - h[i];
      energy += w[i] * (sum / 2 - h[i]);
    }
    return { energy, slope };
  },
  // Adam as in torch: step(gradient, rate) moves w; the weight that a hand holds stays.
  adam(w) {
    const m = new Float64Array(w.length), v = new Float64Array(w.length);
    let t = 0;
    return (slope, rate = 0.01, held = -1) => {
      t++;
      for (let i = 0; i < w.length; i++) {
        m[i] = 0.9 * m[i] + 0.1 * slope[i];
        v[i] = 0.999 * v[i] + 0.001 * slope[i] ** 2;
        if (i !== held) w[i] -= rate * m[i] / (1 - 0.9 ** t) / (Math.sqrt(v[i] / (1 - 0.999 ** t)) + 1e-8);
      }
    };
  },
  // Training: Adam, whose rate falls by a third whenever the steepest slope of 100 steps is not smaller than 1000 steps ago.
  // At a fixed rate Adam may circle around the minimum for ever. slope is that of w at every call of step(held), which moves w.
  training(w, slope) {
    const step = explore.physics['train-or-solve'].adam(w);
    const before = new Array(10).fill(Infinity);
    let rate = 0.01, t = 0, most = 0;
    return held => {
      step(slope, rate, held);
      for (let i = 0; i < w.length; i++) if (i !== held) most = Math.max(most, Math.abs(slope[i]));
      if (++t % 100 === 0) { if (most > 0.99 * before.shift()) rate *= 2 / 3; before.push(most); most = 0; }
    };
  },
  best: (D, N) => (D + 1) / (N + D + 1),                          // error of the best weights, those of infinitely many prompts
  diagonal: (D, N, ridge) => 1 / (1 + (D + 1) / N + ridge * D),   // and their diagonal, icl.best_weights: all other entries are 0
};
explore.figures['train-or-solve'] = {
  state: { P: [60, 1, 500], N: [30, 5, 100], ridge: [0.01, 0.003, 1], set: [5, 1, 999], start: [2, 1, 999], show: ['', 'solved', 'trained', 'both'] },
  draw({ el, state, save }) {
    const { html, svg, words, scale, path, tidy, axes, sentence, motion, handle, slider, button, calm } = explore.kit;
    const p = explore.physics, own = p['train-or-solve'], D = 4, n = D * (D + 1), MOST = 500, LOW = -0.85, HIGH = 1.25;
    const two = i => `${1 + Math.floor(i / D)}${1 + i % D}`;

    // The transformer, its glass and its training
    let data, sums, sigma, lowest, w, from, step, steps, losses, arriving = 0, held = -1, picked = -1, touched = false;
    let solved = /solved|both/.test(state.show), running = false, time = 0;
    const slope = new Float64Array(n);
    const loss = () => own.gradient(sums, state.ridge, w, slope).energy + sums.half;
    const again = () => { step = own.training(w, slope); steps = 0; losses = [loss()]; from = w.slice(); };
    const glass = () => {
      sums = p.averages(data, arriving || state.P);
      sigma = p.groundState(sums, state.ridge);
      lowest = own.gradient(sums, state.ridge, sigma).energy + sums.half;
      again();
    };
    const draw = () => { data = p.prompts(D, state.N, MOST, state.set); };
    const begin = () => { const z = p.normals(state.start); w = Float64Array.from({ length: n }, () => Math.max(-0.8, Math.min(1.2, 0.1 + 0.42 * z()))); };
    const train = () => { step(held); steps++; losses.push(loss()); };
    const rests = size => slope.every((v, i) => i === held || Math.abs(v) < size);
    const distance = () => w.reduce((far, v, i) => Math.max(far, Math.abs(v - sigma[i])), 0);
    const keep = () => { state.show = running ? (solved ? 'both' : 'trained') : solved ? 'solved' : ''; save(); };

    // What can be done
    const say = sentence(el);
    const go = button('Train the transformer', () => {
      if (running && rests(1e-6)) { state.start = state.start % 999 + 1; begin(); }
      running = true; again(); keep(); ask();
    }, { class: 'main orange' });
    const solve = button('Solve the glass', () => {
      const start = performance.now();
      for (let k = 0; k < 20; k++) p.groundState(sums, state.ridge);
      time = (performance.now() - start) / 20;
      solved = true; keep(); ask();
    }, { class: 'main' });
    const fresh = button('New prompts', () => { state.set = state.set % 999 + 1; draw(); arriving = calm.matches ? 0 : 1; glass(); keep(); ask(); }, { class: 'quiet' });
    const reset = button('Start again', () => { solved = running = touched = false; begin(); again(); keep(); ask(); }, { class: 'quiet' });
    const set = key => value => { state[key] = value; arriving = 0; if (key === 'N') draw(); glass(); save(); ask(); };
    const sliders = html('div', { class: 'sliders' },
      slider({ label: 'Prompts <i>P</i>', name: 'Training prompts, P', min: 1, max: MOST, value: state.P, log: true, input: set('P') }).node,
      slider({ label: 'Examples in each <i>N</i>', name: 'Examples in each prompt, N', min: 5, max: 100, step: 5, value: state.N, input: set('N') }).node,
      slider({ label: 'Ridge <i>λ</i>', name: 'Ridge, lambda', min: 0.003, max: 1, value: state.ridge, log: true, step: 0, round: v => +v.toPrecision(2), input: set('ridge') }).node);
    const main = svg('svg', { role: 'group', 'aria-label': 'The weights and their spins in twenty columns; below them the fields and couplings of the glass' });
    const left = svg('svg', { role: 'img', 'aria-label': 'Training loss against the steps, and the energy of the ground state' });
    const right = svg('svg', { role: 'img', 'aria-label': 'Error on new tasks: of the weights, and of the ground state' });
    const views = html('div', { class: 'views' }, main, html('div', { class: 'side' },
      html('div', {}, html('h4', { text: 'Loss = energy of the glass' }), left), html('div', {}, html('h4', { text: 'Error on tasks never seen' }), right), sliders));
    el.append(html('div', { class: 'bar' }, go, solve, fresh, reset), views);

    // Drawing
    let x, y, cw, X, Y, E, part = {}, cells, knob, narrow;
    const resize = width => {
      narrow = width < 560;
      views.classList.toggle('narrow', narrow);
      const full = Math.floor(narrow ? width : (width - 29) * 0.65), side = Math.floor(narrow ? width : (width - 29) * 0.35), x0 = 34, x1 = full - 2, top = 20, foot = top + (narrow ? 168 : 196);
      cw = (x1 - x0) / n;
      x = i => x0 + cw * (i + 0.5);
      y = scale([LOW, HIGH], [foot, top]);
      const strip = foot + 20, deep = strip + 15, height = deep + cw * n / 2 + 2, add = (name, node) => main.appendChild(part[name] = node);
      explore.kit.set(main, { width: full, height }).replaceChildren();
      for (let a = 0; a <= D; a++) {
        if (a % 2 === 0) main.append(svg('rect', { class: 'band', x: x0 + cw * D * a, y: top - 4, width: cw * D, height: foot - top + 8 }));
        main.append(words(a === D ? (narrow ? 'label' : 'label row') : a || narrow ? `row ${a + 1}` : 'row 1 of *W*', { x: x0 + cw * D * (a + 0.5), y: 11, 'text-anchor': 'middle' }));
      }
      for (const v of [-0.5, 0, 0.5, 1]) main.append(svg('line', { class: v ? 'grid' : 'axis', x1: x0, x2: x1, y1: y(v), y2: y(v) }), words(tidy(v, 1), { x: x0 - 6, y: y(v) + 4, 'text-anchor': 'end' }));
      const row = (tag, attributes) => Array.from({ length: n }, (_, i) => main.appendChild(svg(tag, attributes(i))));
      part.tails = row('line', i => ({ class: 'tail', x1: x(i), x2: x(i) }));
      add('dashes', svg('path', { class: 'dash' }));
      part.rings = row('circle', i => ({ class: 'ring', cx: x(i), r: narrow ? 6 : 7.2 }));
      part.dots = row('circle', i => ({ class: 'dot', cx: x(i), r: narrow ? 4.2 : 4.6 }));
      add('hint', svg('g', {}, svg('path', { class: 'hint', d: 'M0,-30l6,8h-12zM0,30l6,-8h-12z' })));
      // the glass: fields in a row, couplings in a triangle
      part.fields = row('rect', i => ({ x: x(i) - cw / 2 + 0.5, y: strip, width: cw - 1, height: 10 }));
      main.append(words('*h*', { class: 'strong', x: x0 - 8, y: strip + 10, 'text-anchor': 'end' }));
      const triangle = add('triangle', svg('g', {}, svg('path', { class: 'band', d: `M${x(0)},${deep}H${x(n - 1)}L${(x(0) + x(n - 1)) / 2},${deep + cw * (n - 1) / 2}z` })));
      cells = [];
      for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) {
        const cx = (x(i) + x(j)) / 2, cy = deep + cw * (i - j) / 2, r = cw / 2 - 0.35;
        cells.push({ i, j, node: triangle.appendChild(svg('path', { d: `M${cx - r},${cy}L${cx},${cy - r}L${cx + r},${cy}L${cx},${cy + r}z` })) });
      }
      triangle.addEventListener('pointerover', event => tell(cells.find(c => c.node === event.target)));
      triangle.addEventListener('pointerleave', () => tell());
      const kx = x0 - 22, key = (name, text, up) => [svg('rect', { class: name, x: kx, y: height - up - 9, width: 10, height: 10 }), words(text, { x: kx + 14, y: height - up })];
      main.append(words('couplings *J*', { class: 'strong', x: kx, y: height - 44 }), ...key('plus', 'pull together', 26), ...key('minus', 'push apart', 10));
      add('told', svg('g'));
      // the stage: every column can be pulled
      const stage = add('stage', svg('rect', { class: 'stage', x: x0, y: top - 4, width: x1 - x0, height: foot - top + 8, style: 'touch-action: pan-y' }));
      add('focus', svg('rect', { class: 'focus', y: top - 4, width: cw, height: foot - top + 8, rx: 3 }));
      const column = px => Math.max(0, Math.min(n - 1, Math.floor((px - x0) / cw))), hover = i => { if (held < 0) pick(i); };
      knob = handle(stage, main, { label: 'A weight: left and right choose it, up and down pull it, Enter lets go',
        near: (px, py) => [-1, 0, 1].some(k => { const i = column(px) + k; return i >= 0 && i < n && Math.hypot(x(i) - px, y(w[i]) - py) < 26; }),
        start: (px, py) => hold([column(px) - 1, column(px), column(px) + 1].filter(i => i >= 0 && i < n && Math.abs(x(i) - px) < Math.max(cw / 2, 12)).sort((i, j) => Math.hypot(x(i) - px, y(w[i]) - py) - Math.hypot(x(j) - px, y(w[j]) - py))[0] ?? column(px)),
        move: (px, py) => pull(y.back(py)), end: release,
        keys: (dx, dy) => {
          if (dx) { release(); pick((Math.max(0, picked) + dx + n) % n); ask(); return; }
          if (held < 0) hold(Math.max(0, picked));
          pull(w[held] + (Math.abs(dy) > 10 ? Math.sign(dy) * 9 : 0.05 * dy));
        } });
      stage.addEventListener('keydown', event => { if (event.key === 'Enter' || event.key === 'Escape') release(); });
      stage.addEventListener('pointermove', event => hover(column(event.clientX - main.getBoundingClientRect().left)));
      stage.addEventListener('pointerleave', () => hover(-1));
      stage.addEventListener('focus', () => { if (picked < 0) pick(0); });
      stage.addEventListener('blur', () => { release(); pick(-1); });
      // the loss
      const tall = narrow ? 110 : 124;
      explore.kit.set(left, { width: side, height: tall });
      X = [8, side - 8]; Y = [tall - 18, 8];
      left.replaceChildren(part.under = svg('rect', { class: 'under', x: X[0], width: X[1] - X[0] }), axes([X[0], Y[1], X[1], Y[0]], {}), words('steps', { x: X[1], y: tall - 4, 'text-anchor': 'end' }),
        part.curve = svg('path', { class: 'curve' }), part.ground = svg('line', { class: 'ground', x1: X[0], x2: X[1] }), part.groundText = words('ground state', { class: 'theory', x: X[1], 'text-anchor': 'end' }), part.now = svg('circle', { class: 'dot', r: 4.6 }));
      // the error
      explore.kit.set(right, { width: side, height: 50 });
      E = scale([0.04, 7], [8, side - 8], true);
      right.replaceChildren(svg('line', { class: 'axis', x1: 8, x2: side - 8, y1: 26, y2: 26 }), words('blind guess', { x: E(1), y: 12, 'text-anchor': 'middle' }));
      for (const v of [0.05, 0.2, 1, 5]) right.append(svg('line', { class: 'axis', x1: E(v), x2: E(v), y1: 26, y2: 31 }), words(String(v), { x: E(v), y: 45, 'text-anchor': 'middle' }));
      right.append(part.best = svg('path', { class: 'best' }), part.bestText = words('best', { y: 12, 'text-anchor': 'middle' }), part.itsError = svg('circle', { class: 'ring', r: 7.2, cy: 26 }), part.myError = svg('circle', { class: 'dot', r: 4.6, cy: 26 }));
      paint();
    };
    const hold = i => { held = i; touched = true; pick(i); if (running) again(); };
    const pull = value => { w[held] = Math.max(LOW, Math.min(HIGH, value)); if (!running) again(); ask(); };
    const release = () => { if (held >= 0) { held = -1; again(); ask(); } };
    const pick = i => {
      picked = i;
      part.triangle.classList.toggle('picked', i >= 0);
      for (const c of cells) c.node.classList.toggle('on', c.i === i || c.j === i);
      part.focus.setAttribute('x', i >= 0 ? x(i) - cw / 2 : -100);
    };
    const tell = cell => {
      part.told.replaceChildren();
      const at = { x: +main.getAttribute('width') - 2, 'text-anchor': 'end' }, h = +main.getAttribute('height');
      if (cell) part.told.append(words(`*W*_{${two(cell.j)}} and *W*_{${two(cell.i)}}`, { ...at, y: h - 26 }), words(`*J* = ${tidy(-sums.A[cell.i][cell.j], 3)}`, { ...at, y: h - 10, class: 'strong' }));
    };
    const shade = (node, value) => {
      node.classList.toggle('plus', value > 0); node.classList.toggle('minus', value <= 0);
      node.setAttribute('fill-opacity', Math.min(1, (Math.abs(value) / 0.34) ** 0.65).toFixed(3));
    };
    let shaded = null;
    const paint = () => {
      const far = distance(), here = losses[steps], show = (node, yes) => { node.style.display = yes ? '' : 'none'; };
      if (shaded !== sums || cells.sums !== sums) {
        for (const c of cells) shade(c.node, -sums.A[c.i][c.j]);
        part.fields.forEach((node, i) => shade(node, sums.h[i]));
        shaded = cells.sums = sums;
      }
      for (let i = 0; i < n; i++) {
        part.dots[i].setAttribute('cy', y(w[i]));
        part.rings[i].setAttribute('cy', y(sigma[i])); show(part.rings[i], solved);
        part.tails[i].setAttribute('y1', y(w[i])); part.tails[i].setAttribute('y2', y(running ? from[i] : w[i]));
      }
      const dash = y(own.diagonal(D, state.N, state.ridge));
      part.dashes.setAttribute('d', solved ? Array.from({ length: D }, (_, m) => `M${x(m * D + m) - cw * 0.46},${dash}h${cw * 0.92}`).join('') : '');
      show(part.hint, solved && running && far < 1e-6 && !touched);
      part.hint.setAttribute('transform', `translate(${x(7)},${y(w[7])})`);
      if (picked >= 0) knob.tell(w[picked], `W ${two(picked).split('').join(' ')}: ${tidy(w[picked])}`, LOW, HIGH);
      // loss and error
      const high = Math.max(lowest + 0.3, losses[0], here), long = scale([0, Math.max(300, steps * 1.02)], X), tall = scale([lowest - 0.3 * (high - lowest), high], Y), every = Math.max(1, Math.floor(steps / 240));
      part.curve.setAttribute('d', path([...losses.map((v, k) => [long(k), tall(v)]).filter((_, k) => k % every === 0), [long(steps), tall(here)]]));
      explore.kit.set(part.now, { cx: long(steps), cy: tall(here) });
      explore.kit.set(part.ground, { y1: tall(lowest), y2: tall(lowest) });
      explore.kit.set(part.under, { y: tall(lowest), height: Y[0] - tall(lowest) });
      part.groundText.setAttribute('y', tall(lowest) + 15);
      for (const node of [part.ground, part.under, part.groundText, part.itsError]) show(node, solved);
      const mine = p.populationError(w, D, state.N), its = p.populationError(sigma, D, state.N), best = own.best(D, state.N);
      part.best.setAttribute('d', `M${E(best)},22l5,-6h-10z`);
      part.bestText.setAttribute('x', Math.max(14, E(best)));
      part.myError.setAttribute('cx', E(Math.min(7, mine))); part.itsError.setAttribute('cx', E(Math.min(7, its)));
      // words
      const rolling = running && !rests(1e-9), count = steps.toLocaleString('en'), prompts = `${state.P} prompt${state.P > 1 ? 's' : ''}`;
      let text;
      if (held >= 0 && running) text = `You hold <i>W</i><sub>${two(held)}</sub>, and <b>the others give way</b>, because its couplings pull at them. Now let go.`;
      else if (arriving) text = `Prompt ${Math.round(arriving)} of ${state.P} arrives. <b>Each one adds to every field and every coupling.</b>`;
      else if (!running && !solved) text = `${state.P > 1 ? `These ${prompts} train` : 'This one prompt trains'} the 20 weights of a transformer, and couple${state.P > 1 ? '' : 's'} the 20 spins of a glass. <b>Train the one and solve the other: will they agree?</b>`;
      else if (!running) text = `The rings are the <b class="theory">ground state</b> of the glass: one linear system${time ? `, solved in ${time < 0.1 ? 'less than 0.1' : tidy(time, 1)} ms` : ''}. Nothing has been trained. <b>Will training end there?</b>`;
      else if (rolling && far > 1e-6) text = `Step ${count}: the <b class="training">weights</b> roll down the loss of ${prompts}. ` + (solved ? `${w.filter((v, i) => Math.abs(v - sigma[i]) < 0.02).length} of 20 have reached their <b class="theory">spins</b>.` : '<b>Where will they come to rest?</b>');
      else if (!solved) text = `At rest after ${count} steps. Now <b>solve the glass</b> that the same prompts define: where is its ground state?`;
      else text = `Every weight has come to rest on its spin, to within ${far < 1e-12 ? '10<sup>−12</sup>' : `10<sup>−${Math.floor(-Math.log10(far))}</sup>`}. <b>Training ends in the ground state of a spin glass.</b> Pull a weight and let it go, or train from another start.`;
      say(text, held < 0 && !rolling && !arriving);
      go.textContent = running && !rolling ? 'Train from another start' : 'Train the transformer';
    };
    const advance = dt => {
      if (arriving) {
        arriving = Math.min(state.P, arriving + Math.max(1, Math.ceil(state.P * dt / 1200)));
        if (arriving === state.P) arriving = 0;
        glass();
        return arriving > 0 || running;
      }
      for (let k = Math.min(60, Math.max(1, Math.round((1 + steps / 150) * dt / 16))); running && k > 0; k--) train();
      return running && !rests(1e-11);
    };
    const ask = motion(el, advance, paint);

    draw(); begin(); glass();
    if (/trained|both/.test(state.show)) { running = true; while (steps < 20_000 && !rests(1e-11)) train(); }
    return {
      resize,
      still: () => { solved = running = touched = true; begin(); again(); while (steps < 110) train(); paint(); },
      probe: () => ({ w: [...w], sigma: [...sigma], steps, distance: distance(), solved, running }),
    };
  },
};
