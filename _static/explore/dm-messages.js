// Belief propagation on nine spins and four to seven factors, against the list of all 512 states (chapter disorder_and_messages).
// Squares are flipped, fields are turned, three more squares close loops.
globalThis.explore ??= { figures: {}, physics: {} };

// scopes: the three spins of each factor; t: tanh(beta J) of each; field: beta h of each spin. A factor weighs 1 + t s s s, a field e^{beta h s}:
// so ln Z leaves out ln cosh(beta J), the same for messages and list.
{
  const SIZE = 0.8, answer = (t, m, k) => t * m[(k + 1) % 3] * m[(k + 2) % 3];
  // Mean of each spin from its field and the answers u of its factors (eq-dm-tanh, nobody left out).
  const means = (scopes, field, u) => {
    const total = Float64Array.from(field);
    scopes.forEach((scope, a) => scope.forEach((i, k) => { total[i] += Math.atanh(u[a][k]); }));
    return total.map(Math.tanh);
  };
  // All messages at once: every spin tells its factors (m), every factor answers (u). As loopy_bp of the chapter.
  const sweep = (scopes, t, field, u) => {
    const total = Float64Array.from(field);
    scopes.forEach((scope, a) => scope.forEach((i, k) => { total[i] += Math.atanh(u[a][k]); }));
    const m = scopes.map((scope, a) => scope.map((i, k) => Math.tanh(total[i] - Math.atanh(u[a][k]))));
    return { m, u: m.map((row, a) => row.map((_, k) => answer(t[a], row, k))) };
  };
  const change = (one, two) => Math.max(0, ...one.flatMap((row, a) => row.map((v, k) => Math.abs(v - two[a][k]))));
  const silence = scopes => scopes.map(() => [0, 0, 0]);
  const rest = (scopes, t, field, u = silence(scopes), most = 2000) => {
    for (let k = 1; k <= most; k++) {
      const next = sweep(scopes, t, field, u), moved = change(next.u, u);
      u = next.u;
      if (moved < 1e-13) return { ...next, sweeps: k, means: means(scopes, field, u), logZ: bethe(scopes, t, field, next) };
    }
    return null;                                                 // the messages do not converge
  };
  // eq-dm-bethe: ln z of the spins, minus twice that of the factors.
  const bethe = (scopes, t, field, { m, u }) => {
    let sum = 0;
    for (let i = 0; i < field.length; i++) {
      let up = Math.exp(field[i]), down = Math.exp(-field[i]);
      scopes.forEach((scope, a) => scope.forEach((j, k) => { if (j === i) { up *= 1 + u[a][k]; down *= 1 - u[a][k]; } }));
      sum += Math.log(up + down);
    }
    scopes.forEach((_, a) => { sum -= 2 * Math.log(1 + t[a] * m[a][0] * m[a][1] * m[a][2]); });
    return sum;
  };
  // The list of all states: mean spins and ln Z.
  const list = (scopes, t, field) => {
    const n = field.length, up = new Float64Array(n);
    let Z = 0;
    for (let state = 0; state < 1 << n; state++) {
      let weight = 1, exponent = 0;
      for (let i = 0; i < n; i++) exponent += state >> i & 1 ? field[i] : -field[i];
      scopes.forEach(([i, j, k], a) => { weight *= 1 + t[a] * ((state >> i ^ state >> j ^ state >> k) & 1 ? 1 : -1); });
      weight *= Math.exp(exponent);
      Z += weight;
      for (let i = 0; i < n; i++) if (state >> i & 1) up[i] += weight;
    }
    return { means: up.map(w => 2 * w / Z - 1), logZ: Math.log(Z) };
  };
  explore.physics['dm-messages'] = { SIZE, means, sweep, change, silence, rest, bethe, list };
}

explore.figures['dm-messages'] = {
  state: { a: [1, -1, 1], b: [-1, -1, 1], c: [1, -1, 1], d: [1, -1, 1], e: [0, -1, 1], f: [0, -1, 1], g: [0, -1, 1], h0: [0, -.95, .95], h1: [.5, -.95, .95], h2: [1 / 3, -.95, .95], h3: [.6, -.95, .95], h4: [.5, -.95, .95], h5: [-.5, -.95, .95], h6: [.8, -.95, .95], h7: [.5, -.95, .95], h8: [.6, -.95, .95] },
  draw({ el, state, save }) {
    const SCOPES = { a: [0, 1, 2], b: [0, 3, 4], c: [0, 5, 6], d: [2, 7, 8], e: [1, 3, 7], f: [2, 5, 8], g: [0, 4, 6] };
    const NAMES = [...'abcdefg'], LOOPS = [...'efg'], SIGNS = { a: 1, b: -1, c: 1, d: 1, e: 0, f: 0, g: 0 };
    const PLACES = { 0: [0, 0], a: [-1.35, .1], 1: [-1.75, 1.45], 2: [-2.55, -.75], d: [-3.9, -.45], 7: [-4.45, .95], 8: [-4.7, -1.65],
      b: [1.25, .8], 3: [1, 2.1], 4: [2.75, 1.15], c: [1.25, -.8], 5: [1, -2.1], 6: [2.75, -1.15], e: [-2, 2.75], f: [-1.9, -2.3], g: [3.3, 0] };
    const MOST = .95;                                              // of a field by itself
    const { html, svg, words, path, tidy, sentence, motion, handle, button, calm, scale } = explore.kit, p = explore.physics['dm-messages'];
    const spins = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    for (const a of NAMES) state[a] = Math.round(state[a]) || (a < 'e' ? SIGNS[a] : 0);

    // ---- the model: what the reader has set, the messages on their way, the truth
    let on, scopes, t, field, u, m, next, part = 1, sweeps = 0, moving = false, truth, last = null, guess = '', picked = -1, touched = 0, done = false, wrongSeen = false, lost = false;
    const shown = { m: {}, u: {} };                              // what the drawing shows of each message, by factor
    const model = () => {
      on = NAMES.filter(a => state[a]);
      scopes = on.map(a => SCOPES[a]);
      t = on.map(a => p.SIZE * state[a]);
      field = spins.map(i => Math.atanh(state[`h${i}`]));
      truth = p.list(scopes, t, field);
    };
    const kept = () => on.map(a => shown.u[a] ?? [0, 0, 0]);
    // a message set out again: after every change the old messages stay on their lines until new ones come
    const go = (fresh = false) => {
      model();
      if (fresh) for (const a of NAMES) { shown.m[a] = [0, 0, 0]; shown.u[a] = [0, 0, 0]; }
      for (const a of NAMES) if (!state[a]) delete shown.u[a];
      u = kept().map(row => [...row]); m = on.map(a => [...(shown.m[a] ?? [0, 0, 0])]);
      sweeps = 0; part = 1; next = null; moving = true; lost = false;
      ask();
    };
    const alone = a => {                                         // the largest error with this loop and no other
      const names = NAMES.filter(b => b === a || (state[b] && b < 'e')), s = names.map(b => SCOPES[b]), tt = names.map(b => p.SIZE * (b === a ? state[b] || -1 : state[b]));
      const found = p.rest(s, tt, field), exact = p.list(s, tt, field).means;
      return found ? Math.max(...spins.map(i => Math.abs(found.means[i] - exact[i]))) : NaN;
    };
    const STEP = 620;                                            // ms of a sweep
    const advance = dt => {
      if (!moving) return false;
      part += dt / (calm.matches ? 1 : sweeps > 8 ? STEP / 4 : STEP);
      if (part >= 1) {
        if (next) { u = next.u; m = next.m; sweeps++; }
        next = p.sweep(scopes, t, field, u);
        part = 0;
        const moved = Math.max(p.change(next.u, u), p.change(next.m, m));
        if (moved < 2e-3) {                                      // what is left cannot be seen
          const end = p.rest(scopes, t, field, u);
          if (end) { u = end.u; m = end.m; last = end; next = null; moving = false; settle(); }
        } else if (sweeps > 150) { moving = false; lost = true; next = null; last = null; settle(); }
      }
      on.forEach((a, r) => {
        const one = Math.min(1, part * 2), two = Math.max(0, part * 2 - 1);
        shown.m[a] = m[r].map((v, k) => (next ? v + (next.m[r][k] - v) * one : v));
        shown.u[a] = u[r].map((v, k) => (next ? v + (next.u[r][k] - v) * two : v));
      });
      return moving;
    };
    const now = () => p.means(scopes, field, kept());
    const loops = () => LOOPS.filter(a => state[a]);
    const settle = () => { if (loops().length) done = true; };

    // ---- controls
    const say = sentence(el);
    const close = a => { guess ||= a; state[a] = state[a] ? 0 : -1; touched++; save(); go(); };
    const choices = Object.fromEntries(LOOPS.map(a => [a, button(`Loop ${a}`, () => close(a))]));
    const bar = html('div', { class: 'bar' }, ...Object.values(choices), button('Replay', () => go(true), { class: 'quiet' }),
      button('Reset', () => { Object.assign(state, Object.fromEntries(Object.entries(explore.figures['dm-messages'].state).map(([k, [v]]) => [k, v]))); guess = ''; done = wrongSeen = false; touched = 0; save(); go(true); }, { class: 'quiet' }));
    const drawing = svg('svg', { role: 'group', 'aria-label': 'Nine spins and their factors' }), told = html('p', { class: 'told' });
    const compare = svg('svg', { role: 'img', 'aria-label': 'Mean of each spin: messages and list' });
    el.append(bar, drawing, told, compare);

    // ---- drawing
    let width, narrow, X, Y, R, wedges, discs, squares, columns, cy;
    const resize = w => {
      width = w; narrow = w < 560;
      const unit = w / 9.1, tall = narrow ? 1.32 : 1.02, top = narrow ? 26 : 30;
      R = narrow ? 17 : 23;
      X = v => (v + 5.25) * unit; Y = v => top + (2.75 - v) * unit * tall;
      const height = Y(-2.3) + top + (narrow ? 4 : 0);
      drawing.setAttribute('width', w); drawing.setAttribute('height', height);
      const at = n => [X(PLACES[n][0]), Y(PLACES[n][1])];
      wedges = []; discs = []; squares = {};
      const lines = svg('g'), arrows = svg('g', { class: 'arrows' }), nodes = svg('g');
      drawing.replaceChildren(lines, arrows, nodes);
      for (const a of NAMES) {
        for (const [k, i] of SCOPES[a].entries()) {
          const A = at(a), B = at(i), far = Math.hypot(B[0] - A[0], B[1] - A[1]), d = [(B[0] - A[0]) / far, (B[1] - A[1]) / far], side = [d[1], -d[0]];
          const line = lines.appendChild(svg('line', { x1: A[0], y1: A[1], x2: B[0], y2: B[1] }));
          const from = (narrow ? 11 : 15), to = far - R - (narrow ? 8 : 10), lane = narrow ? 3.4 : 4.6;
          for (const kind of ['m', 'u']) {                       // m: from the spin to the factor; u: the answer
            const [s, e, sg] = kind === 'm' ? [to, from, 1] : [from, to, -1];
            const point = (along, off) => [A[0] + d[0] * along + side[0] * sg * (lane + off), A[1] + d[1] * along + side[1] * sg * (lane + off)];
            const wedge = arrows.appendChild(svg('path'));
            const text = arrows.appendChild(svg('text', { class: 'number', x: (point((s + e) / 2, narrow ? 10 : 13))[0], y: point((s + e) / 2, narrow ? 10 : 13)[1] + 4, 'text-anchor': 'middle' }));
            wedges.push({ a, k, i, kind, s, e, point, wedge, text, line, was: '' });
          }
        }
      }
      for (const a of NAMES) {
        const [x, y] = at(a), r = narrow ? 9 : 11.5, g = svg('g', { class: 'factor', tabindex: 0, role: 'button', transform: `translate(${x},${y})` },
          svg('rect', { x: -22, y: -22, width: 44, height: 44, fill: 'transparent' }), svg('rect', { class: 'halo', x: -r - 5, y: -r - 5, width: 2 * r + 10, height: 2 * r + 10, rx: 6 }),
          svg('rect', { class: 'body', x: -r, y: -r, width: 2 * r, height: 2 * r, rx: 2.5 }), svg('text', { class: 'name', y: 4.5, 'text-anchor': 'middle', text: a }));
        const hit = () => { if (a < 'e') { state[a] = -state[a]; touched++; save(); go(); } else if (!state[a]) close(a); else { state[a] = -state[a]; touched++; save(); go(); } };
        g.addEventListener('click', hit);
        g.addEventListener('keydown', event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); hit(); } });
        squares[a] = g;
        nodes.append(g);
      }
      for (const i of spins) {
        const [x, y] = at(i), ring = R + (narrow ? 5 : 6.5), g = svg('g', { class: 'spin', transform: `translate(${x},${y})` });
        const half = sg => `M${-R},0A${R},${R} 0 0 ${sg > 0 ? 1 : 0} ${R},0z`;
        const parts = { paper: svg('circle', { class: 'paper', r: R }), top: svg('path', { d: half(1) }), low: svg('path', { d: half(-1) }), edge: svg('circle', { class: 'edge', r: R }), cut: svg('line', { class: 'cut', x1: -R, x2: R }),
          one: svg('text', { class: 'mean', 'text-anchor': 'middle', y: 4.5 }), up: svg('text', { class: 'mean', 'text-anchor': 'middle', y: narrow ? -3.5 : -5 }), down: svg('text', { class: 'mean', 'text-anchor': 'middle', y: narrow ? 12 : 15 }),
          arc: svg('path', { class: 'dial' }), zero: svg('line', { class: 'zero', y1: -ring - 3, y2: -ring + 3 }) };
        const knob = svg('g', { class: 'knob' }, svg('circle', { r: narrow ? 18 : 16, fill: 'transparent' }), svg('circle', { class: 'halo', r: narrow ? 9 : 10 }), svg('circle', { class: 'grip', r: narrow ? 5.5 : 6 }));
        const outside = { 0: [-.3, 1.3], 1: [-1.3, -.1], 2: [1.25, .85], 3: [-1.3, 0], 4: [-.7, -1.2], 5: [1.3, .3], 6: [-.75, 1.25], 7: [-1.05, -1.05], 8: [.2, 1.3] }[i];
        const label = svg('g', { class: 'label', transform: `translate(${outside[0] * (R + (narrow ? 7 : 12))},${outside[1] * (R + (narrow ? 8 : 10))})` });
        g.append(...Object.values(parts), label, knob);
        nodes.append(g);
        const lever = handle(knob, drawing, { label: `Field of spin ${i}`,
          move: (px, py) => { const turn = Math.atan2(px - x, y - py) / TURN; if (Math.abs(turn) < 1.18) set(i, turn); },
          keys: (dx, dy) => set(i, Number.isFinite(dy) ? Math.round((state[`h${i}`] + .1 * (dx + Math.sign(dy) * (Math.abs(dy) > 1 ? 3 : Math.abs(dy)))) * 20) / 20 : Math.sign(dy) * MOST) });
        knob.addEventListener('focus', () => { if (knob.matches(':focus-visible')) pick(i); });
        knob.addEventListener('blur', () => pick(-1));
        g.addEventListener('pointerenter', () => pick(i));
        g.addEventListener('pointerleave', () => { if (!knob.classList.contains('held')) pick(-1); });
        discs.push({ g, parts, knob, label, ring, lever, x, y });
      }
      // the nine means side by side
      const left = narrow ? 26 : 34, cw = (w - left - (narrow ? 4 : 150)) / 9, h = narrow ? 84 : 92;
      compare.setAttribute('width', w); compare.setAttribute('height', h + 22);
      cy = scale([-1, 1], [h, 8]);
      compare.replaceChildren(...[-1, 0, 1].flatMap(v => [svg('line', { class: v ? 'grid' : 'axis', x1: left, x2: left + 9 * cw, y1: cy(v), y2: cy(v) }), words(tidy(v, 0), { x: left - 6, y: cy(v) + 4, 'text-anchor': 'end' })]));
      columns = spins.map(i => {
        const x = left + (i + .5) * cw;
        compare.append(words(`*σ*_{${i}}`, { x, y: h + 18, 'text-anchor': 'middle' }));
        const gap = svg('line', { class: 'gap', x1: x, x2: x }), ring = svg('circle', { class: 'truth', cx: x, r: narrow ? 6 : 7 }), dot = svg('circle', { class: 'dot', cx: x, r: narrow ? 4 : 4.6 });
        compare.append(gap, ring, dot);
        return { gap, ring, dot };
      });
      if (!narrow) {
        const x = w - 126;
        compare.append(svg('circle', { class: 'dot', cx: x, cy: 14, r: 4.6 }), words('messages', { x: x + 14, y: 18 }), svg('circle', { class: 'truth', cx: x, cy: 62, r: 7 }), words('all 512 states', { x: x + 14, y: 66 }));
        columns.logs = [36, 84].map(y => compare.appendChild(svg('g', { transform: `translate(${x + 14},${y})` })));
      }
      paint();
    };
    // ln Z of the chapter's weights: 3 and 1/3 of a factor, (1, r) or (r, 1) of a field
    const constant = () => on.length * Math.log(5 / 3) + field.reduce((sum, h) => sum + Math.abs(h), 0);
    const TURN = 2.5;                                            // radians of a field that fixes its spin
    const set = (i, value) => { state[`h${i}`] = Math.max(-MOST, Math.min(MOST, Math.abs(value) < .03 ? 0 : +value.toPrecision(3))); touched++; picked = i; save(); go(); };
    const pick = i => { picked = i; paint(); };
    const hue = v => (v < 0 ? 'var(--minus)' : 'var(--plus)');
    const odds = value => { const r = (1 + value) / (1 - value); return r >= 1 ? `(1, ${short(r)})` : `(${short(1 / r)}, 1)`; };
    const short = r => (Math.abs(r - Math.round(r)) < .02 ? String(Math.round(r)) : r.toFixed(1));
    const paint = () => {
      const mean = now(), exact = truth.means, live = moving && next;
      for (const w of wedges) {
        const row = shown[w.kind][w.a], off = !state[w.a], v = off || !row ? 0 : row[w.k], r = on.indexOf(w.a);
        const changes = live && !off && Math.abs(next[w.kind][r][w.k] - (w.kind === 'm' ? m : u)[r][w.k]) > 2e-3 && (w.kind === 'm' ? part < .5 : part >= .5);
        const half = Math.abs(v) * (narrow ? 4.6 : 7.5) + (Math.abs(v) > 1e-3 ? .5 : 0);
        w.wedge.setAttribute('d', half ? path([w.point(w.s, -Math.min(half, 3)), w.point(w.s, half), w.point(w.e, 0)], 'z') : '');
        w.wedge.setAttribute('class', changes ? 'new' : picked >= 0 && w.i !== picked ? 'dim' : '');
        w.wedge.setAttribute('fill', hue(v));
        w.line.setAttribute('class', off ? 'absent' : '');
        const number = !narrow && !off && picked === w.i ? tidy(v) : '';
        if (w.text.textContent !== number) w.text.textContent = number;
      }
      for (const a of NAMES) {
        const g = squares[a], s = state[a];
        g.setAttribute('class', `factor ${s ? (s > 0 ? 'plus' : 'minus') : 'absent'}`);
        g.setAttribute('aria-label', s ? `Factor ${a} on spins ${SCOPES[a].join(', ')} wants the product ${s > 0 ? 'plus' : 'minus'} 1: flip it` : `Close a loop with factor ${a} on spins ${SCOPES[a].join(', ')}`);
      }
      for (const i of spins) {
        const { parts, knob, label, ring, lever } = discs[i], value = state[`h${i}`], apart = Math.abs(mean[i] - exact[i]) > .005 && !(loops().length === 0 && live);
        for (const [node, v] of [[parts.top, mean[i]], [parts.low, apart ? exact[i] : mean[i]]]) { node.setAttribute('fill', hue(v)); node.setAttribute('fill-opacity', (.58 * Math.abs(v)).toFixed(3)); }
        parts.cut.style.display = apart ? '' : 'none';
        parts.edge.setAttribute('class', Math.abs(mean[i] - exact[i]) > .05 && !live ? 'edge off' : 'edge');
        const text = v => (narrow ? tidy(v).replace('0.', '.') : tidy(v));
        parts.one.textContent = apart ? '' : text(mean[i]); parts.up.textContent = apart ? text(mean[i]) : ''; parts.down.textContent = apart ? text(exact[i]) : '';
        const turn = value * TURN, x = ring * Math.sin(turn), y = -ring * Math.cos(turn);
        parts.arc.setAttribute('d', `M0,${-ring}A${ring},${ring} 0 ${Math.abs(turn) > Math.PI ? 1 : 0} ${value < 0 ? 0 : 1} ${x.toFixed(2)},${y.toFixed(2)}`);
        parts.arc.style.stroke = hue(value);
        knob.setAttribute('transform', `translate(${x.toFixed(2)},${y.toFixed(2)})`);
        knob.style.setProperty('--c', value ? hue(value) : 'var(--soft)');
        lever.tell(value, `weights ${odds(value)}, mean of spin ${i} ${tidy(mean[i])}`, -MOST, MOST);
        label.replaceChildren(words(narrow ? `*σ*_{${i}}` : `*σ*_{${i}}`, { 'text-anchor': 'middle', y: narrow ? 4 : value ? -2 : 4 }));
        if (!narrow && value) label.append(svg('text', { class: 'odds', 'text-anchor': 'middle', y: 12, text: odds(value) }));
        const { gap, ring: circle, dot } = columns[i];
        circle.setAttribute('cy', cy(exact[i])); dot.setAttribute('cy', cy(mean[i]));
        gap.setAttribute('y1', cy(mean[i])); gap.setAttribute('y2', cy(exact[i]));
      }
      if (columns.logs) {
        const rows = [last && !moving ? tidy(last.logZ + constant(), 3) : '\u2026', tidy(truth.logZ + constant(), 3)];
        columns.logs.forEach((g, k) => g.replaceChildren(words(`ln *Z* = ${rows[k]}`)));
      }
      for (const a of LOOPS) {
        choices[a].setAttribute('aria-pressed', !!state[a]);
      }
      tell(mean);
      speak(mean, exact);
    };
    // under the drawing: what the spin under the pointer has heard, multiplied
    const tell = mean => {
      let text = '<span class="key"><span class="swatch plus"></span>+1</span> <span class="key"><span class="swatch minus"></span>−1</span> A wedge is a message, as wide as the mean that it carries. A knob turns a field. In a circle, the mean spin' + (loops().length ? ': by messages, and below it by the list.' : '.');
      if (picked >= 0) {
        const r = v => (1 + v) / (1 - v), heard = [];
        if (state[`h${picked}`]) heard.push(`${r(state[`h${picked}`]).toFixed(2)}<small> field</small>`);
        on.forEach(a => { const k = SCOPES[a].indexOf(picked); if (k >= 0) heard.push(`${r(shown.u[a][k]).toFixed(2)}<small> ${a}</small>`); });
        text = `<i>σ</i><sub>${picked}</sub> multiplies the odds that it hears: ${heard.join(' × ')} = ${r(mean[picked]).toFixed(2)}, a mean of ${tidy(mean[picked])}.`;
      }
      if (told.dataset.text !== text) { told.dataset.text = text; told.innerHTML = text; }
    };
    const speak = (mean, exact) => {
      const count = loops().length, errors = spins.map(i => Math.abs(mean[i] - exact[i])), worst = errors.indexOf(Math.max(...errors)), sure = spins.filter(i => Math.abs(mean[i]) > Math.abs(exact[i]) + 1e-9).length;
      const spin = i => `<i>σ</i><sub>${i}</sub>`, ask = '<b>Three dashed squares would close loops. Which one, by itself, misleads the messages most?</b>';
      let text, settled = !moving;
      if (lost) text = 'The messages <b>do not come to rest</b>: they run in circles, and nothing can be read from them.';
      else if (!count) {
        if (moving) text = touched ? 'The rings, the list of all states, have moved at once. <b class="message">The messages</b> need a step for every line.' : '<b class="message">Messages</b> cross the tree, every spin telling its factors what it believes, every factor answering. Does it end at the truth?';
        else if (!touched) text = `Every mean found by <b class="message">messages</b> lies in its ring, the list of all 512 states. <b>Flip a square, turn a knob: can you get a dot out of its ring?</b>`;
        else text = `Exact again, whatever the squares and fields: this is a tree. ${ask}`;
      } else if (moving) text = `${guess && !done ? `You chose ${guess}. ` : ''}The loop is closed, and every message comes back to its sender as an echo.`;
      else if (count === 1 && guess && !wrongSeen) {
        const all = Object.fromEntries(LOOPS.map(a => [a, alone(a)])), best = LOOPS.reduce((x, y) => (all[x] >= all[y] ? x : y)), here = loops()[0];
        text = `<b>${here === best ? `Yes, ${here} misleads most.` : `No, it is ${best}.`}</b> With ${here} closed, the messages say ${tidy(mean[worst])} at ${spin(worst)}, and the list ${tidy(exact[worst])}. Largest error of each loop by itself: ${LOOPS.map(a => `${a} ${all[a].toFixed(2)}`).join(', ')}. <b>Close more, flip signs: can a mean get the wrong sign?</b>`;
      } else {
        const turned = spins.filter(i => mean[i] * exact[i] < 0 && errors[i] > .01);
        if (turned.length) { wrongSeen = true; text = `<b class="wrong">Wrong sign:</b> at ${spin(turned[0])} the messages say ${tidy(mean[turned[0]])}, and the truth is ${tidy(exact[turned[0]])}. They came to rest all the same: nothing in them gives the error away.`; }
        else text = `At rest, and wrong: too sure at ${sure} of 9 spins, too timid at ${spins.filter(i => Math.abs(mean[i]) < Math.abs(exact[i]) - 1e-9).length}; the largest error is ${errors[worst].toFixed(2)}, at ${spin(worst)}. ${wrongSeen ? 'Nothing in the messages gives it away.' : '<b>Can a mean get the wrong sign?</b>'}`;
      }
      say(text, settled);
    };
    const ask = motion(el, advance, () => width && paint());

    go(true);
    return {
      resize,
      still: () => { for (const a of LOOPS) state[a] = 0; go(true); while (moving) advance(500); picked = 0; paint(); },
      probe: () => ({ means: [...now()], exact: [...truth.means], moving, guess, sweeps, state: { ...state }, logZ: last && last.logZ + constant(), truth: truth.logZ + constant() }),
    };
  },
};
