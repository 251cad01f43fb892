// The plane of rules: what the examples of a prompt say about a rule, and what one layer, twelve layers and Bayes make of them.
globalThis.explore ??= { figures: {}, physics: {} };
explore.physics['rule-plane'] = {
  // The prompt of the page, the first examples (x_1, x_2, y) of LinearTask(2, 16, noise=0.5).sample_pairs(1, rng=5965), and its rule.
  rule: [-0.477, -0.96],
  prompt: [[0.497, -1.72, 1.937], [1.547, -1.417, 0.634], [-1.6, 0.652, 0.286], [-0.752, 0.287, 0.288], [0.071, -0.272, 0.828], [1.461, 0.704, -1.66], [0.907, -0.984, 0.386], [-1.211, -1.405, 1.173]],
  // Rules after k examples (x_1, x_2, y): one layer with the best step for k, twelve layers with c = 0.4 (eq-ic-layers), and the
  // mean and covariance of the posterior of Bayes (icl.in_context_ridge), at D = 2 and rho = 1/4.
  rules(examples) {
    const k = examples.length, C = [[0, 0], [0, 0]], g = [0, 0];
    for (const [a, b, y] of examples) { C[0][0] += a * a; C[0][1] += a * b; C[1][0] += a * b; C[1][1] += b * b; g[0] += a * y; g[1] += b * y; }
    let deep = [0, 0];
    for (let layer = 0; k && layer < 12; layer++) deep = deep.map((v, i) => v + 0.4 / k * (g[i] - C[i][0] * deep[0] - C[i][1] * deep[1]));
    const [a, b, d] = [C[0][0] + 0.5, C[0][1], C[1][1] + 0.5], det = a * d - b * b, inverse = [[d / det, -b / det], [-b / det, a / det]];
    return {
      one: g.map(v => v / (k + 3.5)), deep, bayes: inverse.map(row => row[0] * g[0] + row[1] * g[1]),
      covariance: inverse.map(row => row.map(v => v / 4)),
    };
  },
};
explore.figures['rule-plane'] = {
  state: { examples: [2, 0, 8], query: [250, 0, 360], answer: ['', 'rise', 'fall', 'part', 'seen'], ...Object.fromEntries(explore.physics['rule-plane'].prompt.flatMap(([a, b, y], i) => [[`turn${i + 1}`, [+(Math.atan2(b, a) * 180 / Math.PI).toFixed(2), -360, 360]], [`y${i + 1}`, [y, -9, 9]]])) },
  draw({ el, state, save }) {
    const { html, svg, words, scale, path, tidy, axes, sentence, motion, handle, button } = explore.kit, own = explore.physics['rule-plane'], first = explore.figures['rule-plane'].state;
    const MOST = own.prompt.length, long = own.prompt.map(([a, b]) => Math.hypot(a, b)), rad = Math.PI / 180;
    state.examples = Math.round(state.examples);
    const x_ = i => [Math.cos(state[`turn${i + 1}`] * rad) * long[i], Math.sin(state[`turn${i + 1}`] * rad) * long[i]];
    const y_ = i => state[`y${i + 1}`], foot = i => x_(i).map(v => v * y_(i) / long[i] ** 2);
    const now = () => own.rules(Array.from({ length: state.examples }, (_, i) => [...x_(i), y_(i)]));
    const query = () => [Math.cos(state.query * rad), Math.sin(state.query * rad)], dot = (a, b) => a[0] * b[0] + a[1] * b[1];
    const NAMES = [['one', 'one layer', 'one layer'], ['deep', 'twelve layers', '12 layers'], ['bayes', 'Bayes', 'Bayes']];
    let aim = null, told = '', before = null, holding = -1, picked = -1;

    // ---- what can be done
    const say = sentence(el);
    const TO = 1.5;                                                // the label of example 2, after the question
    const answer = which => () => { state.answer = which; before = now(); aim = TO; told = 'asked'; save(); feet[1]?.node.focus({ preventScroll: true }); ask(); };
    const asks = html('div', { class: 'bar' }, button('Both rise', answer('rise')), button('Both fall', answer('fall')), button('They part', answer('part')));
    const picture = svg('svg', { role: 'group', 'aria-label': 'The plane of rules with a line for each example; beside it the answers to the query' });
    const count = by => () => { state.examples = Math.max(0, Math.min(MOST, state.examples + by)); before = null; told = ''; picked = by > 0 ? state.examples - 1 : -1; save(); shape(); };
    const more = button('One more example', count(1), { class: 'main' }), less = button('One less', count(-1));
    const back = button('The prompt as it was', () => { for (const key of Object.keys(first)) if (/turn|y\d/.test(key)) state[key] = first[key][0]; state.query = first.query[0]; before = null; told = ''; save(); shape(); }, { class: 'quiet' });
    const after = html('div', { class: 'bar' }, more, less, back);
    el.append(picture, asks, after);

    // ---- drawing
    let width, x, y, z, narrow, box, strip, lines, bands, arrows, marks, ellipse, trails, axis, drops, asker, answers, feet = [];
    const shape = () => width && resize(width);
    const resize = pixels => {
      width = pixels; narrow = width < 560;
      const side = narrow ? 104 : 190, left = 2, top = 8, right = width - side, tall = (right - left) * (narrow ? 1.06 : 0.86);
      box = [left, top, right, top + tall];
      const span = 2.75, ratio = tall / (right - left), middle = [-0.13, -0.36];
      x = scale([middle[0] - span / 2, middle[0] + span / 2], [left, right]); y = scale([middle[1] - span / 2 * ratio, middle[1] + span / 2 * ratio], [top + tall, top]);
      picture.setAttribute('width', width); picture.setAttribute('height', top + tall + 4);
      const plane = svg('g', { 'clip-path': 'url(#ex-plane)' });
      picture.replaceChildren(svg('clipPath', { id: 'ex-plane' }, svg('rect', { x: left, y: top, width: right - left, height: tall, rx: 6 })), svg('rect', { class: 'plane', x: left, y: top, width: right - left, height: tall, rx: 6 }), plane);
      bands = svg('g'); lines = svg('g'); ellipse = svg('path', { class: 'ellipse' }); trails = svg('g'); arrows = svg('g'); drops = svg('g');
      axis = svg('g', { class: 'query' });
      plane.append(bands, svg('path', { class: 'axes0', d: `M${left},${y(0)}H${right}M${x(0)},${top}V${top + tall}` }), ellipse, lines, axis, drops, trails, arrows, svg('path', { class: 'star', transform: `translate(${x(own.rule[0])},${y(own.rule[1])})`, d: star(11) }));
      picture.append(words('*v*_{1}', { x: right - 20, y: y(0) - 7 }), words('*v*_{2}', { x: x(0) + 7, y: top + 15 }));
      marks = Object.fromEntries(NAMES.map(([name]) => [name, plane.appendChild(svg('path', { class: `mark ${name}`, d: shapes[name] }))]));
      // the query
      const head = svg('g', { class: 'asker' }, svg('circle', { r: 24, fill: 'transparent' }), svg('circle', { class: 'halo', r: 17 }), svg('circle', { class: 'knob', r: 13 }), words('*x*', { y: 5, 'text-anchor': 'middle' }), svg('path', { class: 'tilde', d: 'M-4,-5.5q2,-2.6 4,-.7t4,-.7' }));
      picture.append(head);
      asker = handle(head, picture, {
        label: 'The query: turn it',
        move: (px, py) => { state.query = (Math.atan2(y(0) - py, px - x(0)) / rad + 360) % 360; save(); tell('query'); ask(); },
        keys: (dx, dy) => { if (Number.isFinite(dy)) { state.query = (state.query - 2 * dx + 2 * dy + 720) % 360; save(); tell('query'); ask(); } },
      });
      // the examples
      feet = Array.from({ length: state.examples }, (_, i) => {
        const g = svg('g', { class: 'example' }, svg('circle', { r: 22, fill: 'transparent' }), svg('circle', { class: 'halo', r: 14 }), svg('circle', { class: 'knob', r: 10 }), svg('text', { y: 4, 'text-anchor': 'middle', text: i + 1 }));
        picture.append(g);
        return handle(g, picture, {
          label: `Example ${i + 1}: pull its line`,
          start: () => { hold(i); },
          end: () => { holding = -1; ask(); },
          move: (px, py) => {
            const q = [x.back(px), y.back(py)], far = Math.hypot(...q), old = x_(i);
            if (far > 0.12) { const sign = dot(q, old) < 0 ? -1 : 1; state[`turn${i + 1}`] = Math.atan2(sign * q[1], sign * q[0]) / rad; state[`y${i + 1}`] = sign * far * long[i]; } else state[`y${i + 1}`] = dot(q, old);
            save(); tell(i); ask();
          },
          keys: (dx, dy) => {
            if (!Number.isFinite(dy)) return;
            if (holding !== i) hold(i);
            state[`y${i + 1}`] = Math.max(-9, Math.min(9, y_(i) + 0.05 * dy)); state[`turn${i + 1}`] = (state[`turn${i + 1}`] - 2 * dx + 540) % 360 - 180;
            save(); tell(i); ask();
          },
        });
      });
      // the answers
      strip = right + (narrow ? 26 : 30);
      z = scale([-1.6, 1.6], [top + tall - 14, top + 34]);
      picture.append(words(narrow ? 'answers' : 'answers to the query', { x: strip - (narrow ? 16 : 12), y: top + 12, class: 'strong' }), svg('path', { class: 'axis', d: `M${strip},${z(-1.6)}V${z(1.6)}` }),
        ...[-1, 0, 1].flatMap(v => [svg('line', { class: 'axis', x1: strip - 4, x2: strip, y1: z(v), y2: z(v) }), words(tidy(v, 0), { x: strip - 8, y: z(v) + 4, 'text-anchor': 'end' })]));
      answers = picture.appendChild(svg('g'));
      paint();
    };
    const star = r => 'M' + Array.from({ length: 10 }, (_, k) => `${(Math.sin(k * Math.PI / 5) * (k % 2 ? 0.42 * r : r)).toFixed(1)},${(-Math.cos(k * Math.PI / 5) * (k % 2 ? 0.42 * r : r)).toFixed(1)}`).join('L') + 'z';
    const shapes = { one: 'M-7,-3.5L-3.5,-7L0,-3.5L3.5,-7L7,-3.5L3.5,0L7,3.5L3.5,7L0,3.5L-3.5,7L-7,3.5L-3.5,0z', deep: 'M-5.5,-5.5H5.5V5.5H-5.5z', bayes: 'M0,-8L7,0L0,8L-7,0z' };
    const hold = i => { holding = picked = i; before = now(); };
    const tell = what => { told = what; if (what === 'query') before = null; aim = null; };
    const spot = v => [x(v[0]), y(v[1])];
    const paint = () => {
      const at = now(), q = query(), seen = !!state.answer, shown = NAMES.filter(([name]) => name !== 'deep' || (seen && aim === null)), k = state.examples;
      const edge = (d, p) => { const far = 4; return path([spot([p[0] - far * d[0], p[1] - far * d[1]]), spot([p[0] + far * d[0], p[1] + far * d[1]])]); };
      lines.replaceChildren(); bands.replaceChildren(); arrows.replaceChildren();
      let tip = [0, 0];
      for (let i = 0; i < k; i++) {
        const p = foot(i), n = x_(i).map(v => v / long[i]), d = [-n[1], n[0]];
        bands.append(svg('path', { class: 'band', d: edge(d, p), 'stroke-width': (2 * 0.5 / long[i] * (x(1) - x(0))).toFixed(1) }));
        lines.append(svg('path', { class: picked === i ? 'line on' : 'line', d: edge(d, p) }));
        const to = [tip[0] + x_(i)[0] * y_(i) / (k + 3.5), tip[1] + x_(i)[1] * y_(i) / (k + 3.5)];
        arrows.append(svg('path', { class: picked === i ? 'arrow on' : 'arrow', d: path([spot(tip), spot(to)]) }));
        tip = to;
        const [px, py] = spot(p);
        feet[i].node.setAttribute('transform', `translate(${Math.max(box[0] + 12, Math.min(box[2] - 12, px)).toFixed(1)},${Math.max(box[1] + 12, Math.min(box[3] - 12, py)).toFixed(1)})`);
        feet[i].tell(y_(i), `label ${y_(i).toFixed(2)}, input ${x_(i).map(v => v.toFixed(2)).join(' and ')}`, -9, 9);
      }
      // one standard deviation of the posterior
      const [[a, b], [, d]] = at.covariance, l1 = Math.sqrt(a), l21 = b / l1, l22 = Math.sqrt(d - l21 * l21);
      ellipse.setAttribute('d', path(Array.from({ length: 60 }, (_, j) => j * Math.PI / 30).map(t => spot([at.bayes[0] + l1 * Math.cos(t), at.bayes[1] + l21 * Math.cos(t) + l22 * Math.sin(t)])), 'z'));
      const reach = Math.min(...[[q[0], box[0], box[2], x(0)], [q[1], box[3], box[1], y(0)]].map(([c, lo, hi, o]) => Math.abs(((c > 0 ? hi : lo) - o) / (c * (x(1) - x(0)) || 1e-9)))) - 0.17;
      axis.replaceChildren(svg('path', { d: edge(q, [0, 0]) }));
      asker.node.setAttribute('transform', `translate(${spot(q.map(v => v * reach)).map(v => v.toFixed(1)).join(',')})`);
      asker.tell(state.query, `direction ${state.query.toFixed(0)} degrees`, 0, 360);
      drops.replaceChildren(); trails.replaceChildren();
      for (const [name] of NAMES) {
        const on = shown.some(([s]) => s === name), v = at[name];
        marks[name].style.display = on ? '' : 'none';
        if (!on) continue;
        marks[name].setAttribute('transform', `translate(${spot(v).map(c => c.toFixed(1)).join(',')})`);
        const along = dot(v, q);
        drops.append(svg('path', { class: `drop ${name}`, d: path([spot(v), spot(q.map(c => c * along))]) }));
        if (before) trails.append(svg('path', { class: `trail ${name}`, d: path([spot(before[name]), spot(v)]) }));
      }
      // the answers, their names kept apart
      const rows = [...shown.map(([name, text, brief]) => ({ name, text: narrow ? brief : text, value: dot(at[name], q), was: before && dot(before[name], q) })), { name: 'star', text: 'the rule', value: dot(own.rule, q) }].map(row => ({ ...row, at: z(row.value), way: row.was == null || Math.abs(row.value - row.was) < 0.005 ? '' : row.value > row.was ? ' ↑' : ' ↓' }));
      rows.sort((r, s) => r.at - s.at);
      const room = narrow ? 30 : 17, places = rows.map(row => row.at);
      for (let pass = 0; pass < 40; pass++) for (let j = 1; j < rows.length; j++) { const lack = room - (places[j] - places[j - 1]); if (lack > 0) { places[j] += lack / 2; places[j - 1] -= lack / 2; } }
      answers.replaceChildren(...rows.flatMap((row, j) => [
        ...(row.was != null && Math.abs(row.at - z(row.was)) > 2 ? [svg('path', { class: `trail ${row.name}`, d: `M${strip},${z(row.was).toFixed(1)}V${row.at.toFixed(1)}` })] : []),
        svg('path', { class: 'leader', d: `M${strip + 9},${row.at.toFixed(1)}L${strip + 19},${places[j].toFixed(1)}` }),
        svg('path', { class: `mark ${row.name}`, d: row.name === 'star' ? star(9) : shapes[row.name], transform: `translate(${strip},${row.at.toFixed(1)})` }),
        ...(narrow ? [words(row.text, { x: strip + 21, y: places[j] - 2 }), words(tidy(row.value) + row.way, { x: strip + 21, y: places[j] + 11, class: 'strong' })]
          : [words(row.text, { x: strip + 23, y: places[j] + 4 }), words(tidy(row.value), { x: width - 14, y: places[j] + 4, 'text-anchor': 'end', class: 'strong' }), words(row.way, { x: width - 12, y: places[j] + 4, class: 'strong' })])]));
      asks.style.display = seen ? 'none' : ''; after.style.display = seen ? '' : 'none';
      more.disabled = k === MOST; less.disabled = k === 0;
      // ---- words
      const moved = name => dot(at[name], q) - dot(before[name], q), way = v => (Math.abs(v) < 0.005 ? 'stays' : v > 0 ? `<b>rises</b> by ${tidy(v)}` : `<b>falls</b> by ${tidy(-v)}`);
      const away = name => Math.hypot(at[name][0] - own.rule[0], at[name][1] - own.rule[1]);
      let text;
      if (!seen) text = `Two examples, each with the line of the rules that agree with it. The query asks how long a rule is in its direction. Let the label of example 2 grow, so that its line moves outwards. <b>Which way will the two answers go?</b>`;
      else if (aim !== null) text = `The label of example 2 grows: ${tidy(y_(1))}.`;
      else if (told === 'asked') text = `${state.answer === 'part' ? 'Yes: <b>one' : '<b>One'} rises, one falls.</b> One layer adds up labels, so example 2 pulls it along its own input. <b class="theory">Bayes</b> must stay with line 1 as well, and slides along it, the other way. Twelve layers go with Bayes.`;
      else if (typeof told === 'number' && before) text = `Example ${told + 1}: <i>y</i> = ${tidy(y_(told))}. The answer of one layer ${way(moved('one'))}, that of <span class="theory">Bayes</span> ${way(moved('bayes'))}.${moved('one') * moved('bayes') < -1e-4 ? ' They part.' : ' Can you make them part?'}`;
      else if (told === 'query') text = `The answers are the lengths of the three rules along the query. <b>Turn it</b> to where they agree, and to where they differ most.`;
      else text = k === 0 ? 'No example: all three answer with the mean of the prior, 0.' : `${k} example${k > 1 ? 's' : ''}. Distance from the true rule (star): one layer ${tidy(away('one'))}, twelve layers ${tidy(away('deep'))}, <b class="theory">Bayes ${tidy(away('bayes'))}</b>. <b>Pull a line by its number, or turn the query.</b>`;
      say(text, aim === null && holding < 0);
    };
    const advance = dt => {
      if (aim === null) return false;
      state.y2 = Math.min(aim, state.y2 + dt / 1500);
      if (state.y2 < aim) return true;
      aim = null; picked = 1; save();
      return false;
    };
    const ask = motion(el, advance, paint);
    return {
      resize, still: () => { state.answer = 'seen'; state.examples = 8; picked = -1; before = null; told = ''; shape(); },
      probe: () => ({ ...now(), aim, answers: Object.fromEntries(NAMES.map(([name]) => [name, dot(now()[name], query())])) }),
    };
  },
};
