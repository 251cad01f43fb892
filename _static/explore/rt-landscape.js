// The energy of a query with two components, five patterns and a temperature (chapter retrieval): query, patterns and b are moved by hand.
globalThis.explore ??= { figures: {}, physics: {} };

// x: [x_1, x_2]; patterns: [[..], ..]; b: the factor of the scores.
{
  const dot = (a, c) => a[0] * c[0] + a[1] * c[1];
  const weights = (x, patterns, b) => {                          // p_mu of eq-rt-update
    const s = patterns.map(k => b * dot(x, k)), top = Math.max(...s), e = s.map(v => Math.exp(v - top)), sum = e.reduce((a, c) => a + c);
    return e.map(v => v / sum);
  };
  const update = (x, patterns, b) => weights(x, patterns, b).reduce((T, w, k) => [T[0] + w * patterns[k][0], T[1] + w * patterns[k][1]], [0, 0]);
  const energy = (x, patterns, b) => {                           // eq-rt-energy
    const s = patterns.map(k => b * dot(x, k)), top = Math.max(...s);
    return dot(x, x) / 2 - (top + Math.log(s.reduce((sum, v) => sum + Math.exp(v - top), 0))) / b;
  };
  const rest = (x, patterns, b, most = 2000) => {                // updates until nothing moves
    for (let k = 0; k < most; k++) { const T = update(x, patterns, b), moved = Math.hypot(T[0] - x[0], T[1] - x[1]); x = T; if (moved < 1e-9) break; }
    return x;
  };
  const apart = (points, far = .02) => points.reduce((found, x) => (found.some(y => Math.hypot(x[0] - y[0], x[1] - y[1]) < far) ? found : [...found, x]), []);
  // Where updates rest at one b, from the patterns, near their mean (which may be a pass), and what more is given.
  const valleys = (patterns, b, more = []) => {
    const near = [0, 1].map(i => patterns.reduce((sum, k) => sum + k[i], 0) / patterns.length + [.01, .007][i]);
    return apart([...patterns, near, ...more].map(x => rest(x, patterns, b, 600)));
  };
  // The same along b, from the coldest to the hottest: a valley is followed until it is lost.
  const branches = (patterns, bs) => { let last = []; return [...bs].sort((a, c) => c - a).map(b => ({ b, points: last = valleys(patterns, b, last) })); };
  explore.physics['rt-landscape'] = { weights, update, energy, rest, valleys, branches };
}

explore.figures['rt-landscape'] = {
  state: { b: [1.5, .1, 40], x: [1.407, -2, 2], y: [.141, -2, 2], a1: [.1, -1, 7.3], a2: [.6, -1, 7.3], a3: [1.1, -1, 7.3], a4: [2.7, -1, 7.3], a5: [4.3, -1, 7.3], show: ['', 'all'] },
  draw({ el, state, save }) {
    const FIVE = [0, 1, 2, 3, 4], LENGTH = Math.SQRT2, COLD = 40, HOT = .1;
    const { html, svg, words, scale, path, tidy, sentence, motion, handle, button, calm, set } = explore.kit, ph = explore.physics['rt-landscape'];
    const GRID = Array.from({ length: 121 }, (_, k) => HOT * (COLD / HOT) ** (k / 120));
    let patterns, tree, guess = state.show === 'all' ? 'shown' : '', known = new Set(), target = null, track = [], resting = false, one = 0, found = false, moved = false, since = 0;
    const x = () => [state.x, state.y];
    const study = (full = true) => {
      patterns = FIVE.map((_, k) => [LENGTH * Math.cos(state[`a${k + 1}`]), LENGTH * Math.sin(state[`a${k + 1}`])]);
      if (full) { tree = ph.branches(patterns, GRID); one = Math.max(0, ...tree.filter((t, k) => tree.slice(k).every(u => u.points.length === 1)).map(t => t.b)); }
    };
    const mean = () => [0, 1].map(i => patterns.reduce((sum, k) => sum + k[i], 0) / patterns.length);
    const own = () => patterns.findIndex(k => Math.hypot(k[0] - state.x, k[1] - state.y) < .05);
    const nearest = y => { const far = patterns.map(k => Math.hypot(k[0] - y[0], k[1] - y[1])), k = far.indexOf(Math.min(...far)); return [k, far[k]]; };

    // ---- the deed: one update, or updates until it rests
    const step = () => {
      const T = ph.update(x(), patterns, state.b);
      target = { from: x(), to: T, at: 0 };
      track.push(x());
    };
    const advance = dt => {
      if (!target) return false;
      target.at = calm.matches ? 1 : Math.min(1, target.at + dt / (resting ? Math.max(110, 700 - 130 * since) : 700));
      const u = target.at * target.at * (3 - 2 * target.at);
      [state.x, state.y] = [0, 1].map(i => target.from[i] + (target.to[i] - target.from[i]) * u);
      if (target.at < 1) return true;
      const moved = Math.hypot(...[0, 1].map(i => target.to[i] - target.from[i]));
      target = null; since++;
      if (resting && moved > 2e-3 && since < 60) { step(); return true; }
      if (resting) { [state.x, state.y] = ph.rest(x(), patterns, state.b); resting = false; }
      save();
      return false;
    };
    const commit = answer => { guess = answer; seen(); since = 0; step(); ask(); };
    // What the reader has come to know: where queries rest, at the temperatures that were visited.
    let before = null;
    const seen = () => {
      if (!guess) return;
      const k = Math.round(120 * Math.log(state.b / HOT) / Math.log(COLD / HOT)), from = before ?? k;
      for (let i = Math.min(k, from); i <= Math.max(k, from); i++) known.add(i);
      before = k;
      if (state.b <= one) found = true;
    };

    // ---- controls
    const say = sentence(el);
    const name = k => `<i>ξ</i><sup>${k + 1}</sup>`;
    const first = html('div', { class: 'bar' });
    const ANSWERS = [['own', 'ξ¹ itself'], ['some', 'A mean of ξ¹, ξ², ξ³'], ['all', 'The mean of all five']];
    first.append(...ANSWERS.map(([key, text]) => button(text, () => commit(key))));
    const bar = html('div', { class: 'bar' }, button('Update', () => { if (target) return; if (!guess) { guess = 'none'; seen(); } resting = false; since = 0; step(); ask(); }, { class: 'main' }),
      button('Until it rests', () => { if (target) return; if (!guess) { guess = 'none'; seen(); } resting = true; since = 0; step(); ask(); }),
      button('All temperatures', () => { if (!guess) guess = 'none'; GRID.forEach((_, k) => known.add(k)); found = true; state.show = 'all'; save(); paint(); }, { class: 'quiet' }),
      button('Reset', () => { for (const [key, [v]] of Object.entries(explore.figures['rt-landscape'].state)) state[key] = v; guess = ''; known.clear(); before = null; track = []; target = null; found = moved = false; study(); save(); paint(); }, { class: 'quiet' }));
    const canvas = html('canvas', { 'aria-hidden': 'true' }), drawing = svg('svg', { role: 'group', 'aria-label': 'The plane of the query: five patterns on a circle, the query, and lines of equal energy; beside it the resting places against b' });
    const stage = html('div', { class: 'stage' }, canvas, drawing);
    el.append(first, bar, stage);

    // ---- drawing
    let width, narrow, side, X, Y, B, box, parts, px;
    const resize = w => {
      width = w; narrow = w < 560;
      side = narrow ? Math.min(w, 350) : Math.floor(w * .56);
      const off = narrow ? Math.floor((w - side) / 2) : 0, top = narrow ? 0 : 0;
      X = scale([-2, 2], [off, off + side]); Y = scale([-2, 2], [top + side, top]);
      box = narrow ? [off, side + 46, off + side, side + 46 + 184] : [side + 66, 0, w - 36, side];          // of the temperatures
      B = narrow ? scale([HOT, COLD], [box[3], box[1]], true) : scale([HOT, COLD], [box[0], box[2]], true);
      const height = narrow ? box[3] + 10 : side + 44;
      set(drawing, { width: w, height });
      set(stage, { style: `height: ${height}px` });
      px = Math.round(side * Math.min(1.5, globalThis.devicePixelRatio || 1));
      canvas.width = canvas.height = px;
      set(canvas, { style: `left: ${off}px; width: ${side}px; height: ${side}px` });
      drawing.replaceChildren();
      const add = (tag, attributes, ...children) => drawing.appendChild(svg(tag, attributes, ...children));
      add('rect', { class: 'frame', x: off, y: top, width: side, height: side });
      add('circle', { class: 'circle', cx: X(0), cy: Y(0), r: X(LENGTH) - X(0) });
      // the temperatures
      for (const v of [.1, 1, 10]) narrow ? drawing.append(svg('line', { class: 'grid', x1: box[0], x2: box[2], y1: B(v), y2: B(v) }), words(String(v), { x: box[0] - 6, y: B(v) + 4, 'text-anchor': 'end' }))
        : drawing.append(svg('line', { class: 'grid', x1: B(v), x2: B(v), y1: box[1], y2: box[3] }), words(String(v), { x: B(v), y: box[3] + 16, 'text-anchor': v < 1 ? 'start' : 'middle' }));
      drawing.append(narrow ? words('resting places, from hot (below) to cold', { x: box[0], y: box[1] - 24, class: 'strong' }) : words('hot', { x: box[0], y: box[3] + 33 }), ...(narrow ? [] : [words('resting places at each *b*', { x: (box[0] + box[2]) / 2, y: box[3] + 33, 'text-anchor': 'middle', class: 'strong' }), words('cold', { x: box[2], y: box[3] + 33, 'text-anchor': 'end' })]));
      parts = { memory: add('g', {}), guides: add('g', {}), strings: add('g', {}), track: add('path', { class: 'track' }), rests: add('g', {}), centre: add('g', {}), arrow: add('g', {}) };
      // the level of b
      const level = add('g', { class: 'level' }), label = svg('text', { class: 'grip-text', 'text-anchor': 'middle', y: 4.5 });
      const long = narrow ? side : side;
      level.append(svg('rect', narrow ? { x: box[0], y: -16, width: long, height: 32, fill: 'transparent' } : { x: -18, y: box[1], width: 36, height: long + 30, fill: 'transparent' }),
        svg('line', narrow ? { x1: box[0], x2: box[2] } : { y1: box[1], y2: box[3] }),
        svg('g', { transform: narrow ? `translate(${box[0] + 34},0)` : `translate(0,${box[3] - 18})` }, svg('rect', { class: 'halo', x: -37, y: -17, width: 74, height: 34, rx: 17 }), svg('rect', { class: 'grip', x: -33, y: -13, width: 66, height: 26, rx: 13 }), label));
      parts.level = level; parts.label = label;
      const setB = v => { state.b = +Math.min(COLD, Math.max(HOT, v)).toPrecision(3); moved = true; seen(); save(); paint(); };
      parts.lever = handle(level, drawing, { label: 'Inverse temperature b', move: (mx, my) => setB(B.back(narrow ? my : mx)), keys: (dx, dy) => setB(Number.isFinite(dy) ? state.b * 1.06 ** (dx + dy) : dy > 0 ? COLD : HOT) });
      // patterns
      parts.patterns = FIVE.map((_, k) => {
        const g = add('g', { class: 'pattern' }, svg('circle', { r: 20, fill: 'transparent' }), svg('circle', { class: 'halo', r: 12 }), svg('circle', { class: 'disc' }), svg('circle', { class: 'body', r: 5.5 }));
        const text = add('text', { class: 'onmap strong' }, svg('tspan', { class: 'letter', text: 'ξ' }), svg('tspan', { class: 'foot', dy: '-.35em', text: String(k + 1) })), percent = add('text', { class: 'onmap' });
        const to = a => { state[`a${k + 1}`] = +((a + 8 * Math.PI) % (2 * Math.PI)).toPrecision(4); study(false); redo(); };
        const lever = handle(g, drawing, { label: `Pattern ${k + 1}`, move: (mx, my) => to(Math.atan2(Y(0) - my, mx - X(0))), end: () => { known.clear(); before = null; study(); seen(); save(); paint(); },
          keys: (dx, dy) => { if (!Number.isFinite(dy)) return; to(state[`a${k + 1}`] + .05 * (dx + dy)); known.clear(); before = null; study(); seen(); save(); paint(); } });
        return { g, text, percent, lever, disc: g.querySelector('.disc') };
      });
      const query = add('g', { class: 'query' }, svg('circle', { r: 22, fill: 'transparent' }), svg('circle', { class: 'halo', r: 14 }), svg('circle', { class: 'body', r: 8 }), svg('circle', { cx: -2.4, cy: -2.8, r: 2.1, fill: '#fff', 'fill-opacity': .6 }));
      const put = (v, w) => { target = null; resting = false; track = []; state.x = +Math.max(-2, Math.min(2, v)).toPrecision(4); state.y = +Math.max(-2, Math.min(2, w)).toPrecision(4); moved = true; save(); paint(); };
      parts.query = query;
      parts.xlever = handle(query, drawing, { label: 'Query x', move: (mx, my) => put(X.back(mx), Y.back(my)), keys: (dx, dy) => Number.isFinite(dy) && put(state.x + .05 * dx, state.y + .05 * dy) });
      paint();
    };
    const redo = () => paint();
    // Height as colour: valleys dark, hills light, a line at each step. On a coarse grid, then interpolated.
    const ground = () => {
      const n = 72, E = new Float64Array((n + 1) ** 2), at = k => -2 + 4 * k / n;
      for (let j = 0; j <= n; j++) for (let i = 0; i <= n; i++) E[j * (n + 1) + i] = ph.energy([at(i), -at(j)], patterns, state.b);
      const sorted = Float64Array.from(E).sort(), low = sorted[0], high = sorted[Math.floor(sorted.length * .93)], context = canvas.getContext('2d'), picture = context.createImageData(px, px), data = picture.data;
      const dim = document.documentElement.dataset.theme === 'dark' ? .82 : 1;
      for (let j = 0, m = 0; j < px; j++) for (let i = 0; i < px; i++, m += 4) {
        const u = (i + .5) / px * n, v = (j + .5) / px * n, a = Math.min(n - 1, Math.floor(u)), c = Math.min(n - 1, Math.floor(v)), fu = u - a, fv = v - c, k = c * (n + 1) + a;
        const e = (1 - fv) * ((1 - fu) * E[k] + fu * E[k + 1]) + fv * ((1 - fu) * E[k + n + 1] + fu * E[k + n + 2]);
        const h = Math.min(1, Math.round(Math.sqrt(Math.max(0, (e - low) / (high - low))) * 15) / 15);
        data[m] = dim * (30 + 222 * h ** .7); data[m + 1] = dim * (106 + 142 * h ** .65); data[m + 2] = dim * (158 + 80 * h ** .7); data[m + 3] = 255;
      }
      context.putImageData(picture, 0, 0);
    };
    let grounded = '';
    const paint = () => {
      if (!width) return;
      first.hidden = !!guess || own() < 0; bar.hidden = !first.hidden;
      const now = JSON.stringify([patterns, state.b, px, document.documentElement.dataset.theme]);
      if (now !== grounded) { grounded = now; ground(); }
      const q = x(), p = ph.weights(q, patterns, state.b), T = ph.update(q, patterns, state.b), open = !!guess, places = ph.valleys(patterns, state.b);
      const P = v => [X(v[0]), Y(v[1])], across = v => (narrow ? X(v[0]) : Y(v[1]));
      patterns.forEach((k, i) => {
        const [cx, cy] = P(k), { g, text, percent, lever, disc } = parts.patterns[i], out = [Math.cos(state[`a${i + 1}`]), -Math.sin(state[`a${i + 1}`])];
        set(g, { transform: `translate(${cx.toFixed(1)},${cy.toFixed(1)})` });
        disc.setAttribute('r', open ? (4 + 15 * Math.sqrt(p[i])).toFixed(1) : 0);
        const far = (open ? 4 + 15 * Math.sqrt(p[i]) : 8) + 6, place = { x: cx + out[0] * far, 'text-anchor': out[0] > .4 ? 'start' : out[0] < -.4 ? 'end' : 'middle' }, line = cy + out[1] * (far + 8) + 4;
        set(text, { ...place, y: open ? line - 6 : line });
        set(percent, { ...place, y: line + 8 }); percent.textContent = open ? tidy(p[i]) : '';
        lever.tell(state[`a${i + 1}`], `pattern ${i + 1} at ${Math.round(state[`a${i + 1}`] * 180 / Math.PI)} degrees${open ? `, weight ${p[i].toFixed(2)}` : ''}`, 0, 6.3);
      });
      const [tx, ty] = P(target ? target.to : T), [qx, qy] = P(q);
      parts.strings.replaceChildren(...(open ? patterns.map((k, i) => svg('line', { class: 'string', x1: tx, y1: ty, x2: P(k)[0], y2: P(k)[1], 'stroke-width': (11 * p[i]).toFixed(2) })) : []));
      const far = Math.hypot(tx - qx, ty - qy);
      parts.arrow.replaceChildren(...(open ? [svg('circle', { class: 'answer', cx: tx, cy: ty, r: 6 })] : []));
      if (open && far > 18) {
        const d = [(tx - qx) / far, (ty - qy) / far], e = [tx - 8 * d[0], ty - 8 * d[1]];
        parts.arrow.prepend(svg('path', { class: 'go', d: `M${qx},${qy}L${e[0] - 5 * d[0]},${e[1] - 5 * d[1]}` }), svg('path', { class: 'tip', d: path([e, [e[0] - 9 * d[0] + 5 * d[1], e[1] - 9 * d[1] - 5 * d[0]], [e[0] - 9 * d[0] - 5 * d[1], e[1] - 9 * d[1] + 5 * d[0]]], 'z') }));
      }
      parts.track.setAttribute('d', track.length ? path([...track, q].map(P)) : '');
      set(parts.query, { transform: `translate(${qx.toFixed(1)},${qy.toFixed(1)})` });
      parts.xlever.tell(state.x, `x at ${tidy(state.x)}, ${tidy(state.y)}`, -2, 2);
      // the temperatures
      const b = B(state.b);
      set(parts.level, { transform: narrow ? `translate(0,${b.toFixed(1)})` : `translate(${b.toFixed(1)},0)` });
      parts.label.textContent = `b = ${+state.b.toPrecision(2)}`;
      parts.lever.tell(state.b, `b ${state.b}, ${places.length} valley${places.length > 1 ? 's' : ''}`, HOT, COLD);
      parts.memory.replaceChildren(...tree.flatMap(t => { const k = Math.round(120 * Math.log(t.b / HOT) / Math.log(COLD / HOT)); return known.has(k) ? t.points.map(v => svg('circle', narrow ? { class: 'past', cx: X(v[0]), cy: B(t.b), r: 1.7 } : { class: 'past', cx: B(t.b), cy: Y(v[1]), r: 1.7 })) : []; }));
      parts.guides.replaceChildren(...(open ? places.map(v => svg('line', narrow ? { class: 'guide', x1: X(v[0]), x2: X(v[0]), y1: Y(v[1]), y2: b } : { class: 'guide', x1: X(v[0]), x2: b, y1: Y(v[1]), y2: Y(v[1]) })) : []));
      parts.rests.replaceChildren(...(open ? places.flatMap(v => [svg('circle', { class: 'rest', cx: P(v)[0], cy: P(v)[1], r: 4 }), svg('circle', narrow ? { class: 'rest', cx: X(v[0]), cy: b, r: 4 } : { class: 'rest', cx: b, cy: Y(v[1]), r: 4 })]) : []));
      const m = mean();
      parts.centre.replaceChildren(...(found ? [svg('path', { class: 'mean', d: `M${X(m[0]) - 6},${Y(m[1]) - 6}l12,12m0,-12l-12,12` })] : []));
      speak(p, T, places);
    };
    const speak = (p, T, places) => {
      const b = `<i>b</i>\u00a0=\u00a0${+state.b.toPrecision(2)}`, q = '<b class="training">query</b>', k = own(), many = Math.exp(-p.reduce((s, v) => s + (v > 0 ? v * Math.log(v) : 0), 0)), best = p.indexOf(Math.max(...p)), [close, far] = nearest(T);
      const hint = found ? '' : ' <b>Make it hotter: from which <i>b</i> down do all queries end in one place? Is it the mean of all?</b>';
      let text;
      if (!guess) text = k >= 0 ? `Five patterns, and the ${q} <i>x</i> is ${name(k)} itself. At ${b}, <b>what does the softmax answer?</b>` : `Five patterns and a ${q} at ${b}. <b>Which of them answers, or a mean of several?</b> Press Update.`;
      else if (target) text = `The ${q} moves to <i>T</i>(<i>x</i>), the mean of the patterns with the weights shown.`;
      else if (places.length === 1) {
        const [r] = places, m = mean();
const off = Math.hypot(r[0] - m[0], r[1] - m[1]);
        text = `${b}: <b>one valley.</b> All queries end in one place, ${off < .1 ? 'close to' : `${off.toFixed(2)} from`} the mean of all five (cross). ${off < .1 ? '' : 'Hotter still it slides there: <b>only for <i>b</i> → 0 is the answer the mean of all.</b>'}${found && moved ? ` The second valley is lost at about <i>b</i>\u00a0=\u00a0${one.toPrecision(2)}.` : ''}`;
      } else if (p[best] > .9) text = `At ${b} <b>${name(best)} answers alone</b>, with a weight of ${p[best].toFixed(2)}: ${far < .1 ? 'one update is enough.' : 'the answer is near it.'} ${places.length === 5 ? 'Every pattern has a valley.' : `The ${places.length} valleys hold the five patterns.`}${hint}`;
      else {
        const was = { own: '<b>Not itself.</b> ', some: '<b>Yes.</b> ', all: '<b>Not that hot yet.</b> ' }[guess] ?? '';
        text = `${!moved && since < 2 ? was : ''}${k >= 0 ? `${name(k)} has only ${p[k].toFixed(2)} of the weight` : `The largest weight is ${p[best].toFixed(2)}, of ${name(best)}`}: at ${b} <b>the answer is a mean of about ${many.toFixed(1)} patterns</b>, and there are ${places.length} valleys.${hint}`;
      }
      say(text, !target);
    };
    const ask = motion(el, advance, paint);
    new MutationObserver(paint).observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    study();
    if (guess) { GRID.forEach((_, k) => known.add(k)); found = true; }
    return {
      resize,
      still: () => { guess = 'some'; GRID.forEach((_, k) => known.add(k)); found = true; paint(); },
      probe: () => ({ ...state, weights: ph.weights(x(), patterns, state.b), valleys: ph.valleys(patterns, state.b), one, known: known.size, found, guess, moving: !!target }),
    };
  },
};
