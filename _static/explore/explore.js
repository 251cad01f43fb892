// Live figures. A page holds a plain {figure} with the class explore-NAME; where scripts run, the figure of that name takes
// the place of its picture, which print, plain Jupyter and readers without scripts keep. This file is the kit.
//
// THE CONTRACT of _static/explore/NAME.js, a classic script (no import, export or fetch; works from file://):
//   globalThis.explore ??= { figures: {}, physics: {} };         // scripts come in any order: the rest only inside functions
//   explore.physics.NAME = { ... }                               // its formulas, without a document: the value tests call them
//   explore.figures.NAME = {
//     state: { P: [60, 1, 500], show: ['', 'solved'] },          // what a link can set, as in page.html?P=80#fig-name:
//     draw({ el, state, save }) { ...; return { resize(width), still(), probe() }; },      // [value, min, max] or words, first is at first
//   };
// draw fills the empty <div> el from kit = explore.kit. state.P is a plain number: change it, then save() (it writes the address).
// resize(width) draws at that width: it is called once after draw, then whenever the column changes; text never below 10 px.
// still() goes to the state of the printed picture (tools/authors/stills.py); probe() gives the tests what they look at.
// A sentence first: say = kit.sentence(el); say('60 prompts ... <b>Do they agree?</b>', settled). It asks before it answers.
// Motion: ask = kit.motion(el, advance, paint): ask() starts it; advance(dt in ms) returns whether more is to come. Readers who
// want no motion get the end at once. What is pulled: kit.handle; numbers: kit.slider; deeds: kit.button (class "main" or "quiet").
// Colours by meaning, as in spinlib.plotting, light and dark: var(--theory) and so on, see explore.css; rules of a figure
// stand in NAME.css under .ex-NAME. A page loads the files of its own figures only (_ext/book_live.py). If anything throws, the
// picture stays. Tests: tests/explore/test_NAME.py with the fixtures physics (the formulas, called in the browser) and opened (the
// built page). The picture: make stills NAME=...
(() => {
  globalThis.explore ??= { figures: {}, physics: {} };
  if (!globalThis.document) return;                              // the formulas also run without a browser
  const calm = matchMedia('(prefers-reduced-motion: reduce)');

  // Nodes: html('p', { class: 'said', onclick: f, text: 'words' }, ...children); svg alike.
  const set = (node, attributes) => {
    for (const [key, value] of Object.entries(attributes)) {
      if (key === 'text') node.textContent = value;
      else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else if (value != null) node.setAttribute(key, value);
    }
    return node;
  };
  const html = (tag, attributes = {}, ...children) => { const node = set(document.createElement(tag), attributes); node.append(...children); return node; };
  const svg = (tag, attributes = {}, ...children) => { const node = set(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes); node.append(...children); return node; };
  // A line of text in a drawing; *x* is a letter of a formula, *P*_{alg} has a foot: words('prompts *P*', { x, y })
  const words = (text, attributes) => {
    const node = svg('text', attributes);
    for (const [, plain, letter, foot] of text.matchAll(/([^*]+)|\*([^*]+)\*(?:_\{([^}]*)\})?/g)) {
      if (plain) { node.append(plain); continue; }
      node.append(svg('tspan', { class: 'letter', text: letter }));
      if (foot) node.append(svg('tspan', { class: 'foot', dy: '.3em', text: foot }), svg('tspan', { dy: '-.22em', text: '\u200b' }));
    }
    return node;
  };

  // Scales: x = scale([0, 1], [left, right], log); x(0.3) is a place, x.back(place) a number within the domain.
  const scale = ([a, b], [r, s], log = false) => {
    const [f, g] = log ? [Math.log, Math.exp] : [v => v, v => v], to = v => r + (s - r) * (f(v) - f(a)) / (f(b) - f(a));
    to.back = place => g(f(a) + (f(b) - f(a)) * Math.min(1, Math.max(0, (place - r) / (s - r))));
    return to;
  };
  const path = (points, end = '') => 'M' + points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join('L') + end;
  const tidy = (value, digits = 2) => value.toFixed(digits).replace('-', '\u2212');
  // Round numbers between a and b, about n of them.
  const ticks = (a, b, n = 5) => {
    const rough = Math.abs(b - a) / n, ten = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map(k => k * ten).find(s => s >= rough);
    return Array.from({ length: Math.floor(Math.max(a, b) / step + 1e-9) - Math.ceil(Math.min(a, b) / step - 1e-9) + 1 }, (_, k) => +((Math.ceil(Math.min(a, b) / step - 1e-9) + k) * step).toPrecision(12));
  };
  // Axes with a grid: box = [left, top, right, bottom]; the scales x and y go with the numbers xs and ys at which to write.
  const axes = (box, { x, y, xs = [], ys = [], format = String, xLabel = '', yLabel = '' }) => {
    const [left, top, right, bottom] = box, g = svg('g', { class: 'axes' });
    for (const v of ys) g.append(svg('line', { class: 'grid', x1: left, x2: right, y1: y(v), y2: y(v) }), words(format(v).replace('-', '\u2212'), { x: left - 6, y: y(v) + 4, 'text-anchor': 'end' }));
    for (const v of xs) g.append(svg('line', { class: 'grid', x1: x(v), x2: x(v), y1: top, y2: bottom }), words(format(v).replace('-', '\u2212'), { x: x(v), y: bottom + 16, 'text-anchor': 'middle' }));
    g.append(svg('path', { class: 'axis', d: `M${left},${top}V${bottom}H${right}` }));
    if (xLabel) g.append(words(xLabel, { x: (left + right) / 2, y: bottom + 33, 'text-anchor': 'middle' }));
    if (yLabel) g.append(words(yLabel, { x: 0, y: top - 8, class: 'strong' }));
    return g;
  };

  // The sentence above the drawing. It may change often; what is read aloud changes only when things have settled.
  const sentence = el => {
    const seen = el.appendChild(html('p', { class: 'said' })), heard = el.appendChild(html('p', { class: 'heard', role: 'status' }));
    let now = '';
    return (text, settled = true) => {
      if (text !== now) seen.innerHTML = now = text;
      if (settled && heard.textContent !== seen.textContent) heard.textContent = seen.textContent;
    };
  };

  // Frames as long as advance(dt) asks for more, the figure is in view and its page is shown.
  const motion = (el, advance, paint) => {
    let asked = 0, before = 0, inView = true;
    const frame = now => {
      asked = 0;
      const more = advance(before ? Math.min(50, now - before) : 16);
      before = more ? now : 0;
      paint();
      if (more) next();
    };
    const next = () => { if (!asked && inView && !document.hidden) asked = requestAnimationFrame(frame); };
    const ask = () => {
      if (!calm.matches) { paint(); next(); return; }
      for (let k = 0; k < 4000 && advance(50); k++);
      paint();
    };
    new IntersectionObserver(([seen]) => { inView = seen.isIntersecting; if (inView) next(); }).observe(el);
    document.addEventListener('visibilitychange', next);
    return ask;
  };

  // Something in a drawing that is pulled, with the pointer, a finger or the keys: start and move get a place in the drawing,
  // keys(dx, dy) steps (Page: 10, Home and End: infinite). handle(...).tell(value, text, min, max) is for screen readers.
  // With near(x, y) a finger takes it only there and scrolls the page elsewhere (then style="touch-action: pan-y").
  const handle = (node, drawing, { label, start = () => {}, move, end = () => {}, keys, near = () => true }) => {
    set(node, { tabindex: 0, role: 'slider', 'aria-label': label, 'aria-valuenow': 0 });
    let held = false;
    const at = event => { const box = drawing.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    // touch-action does not hold a finger inside an SVG
    node.addEventListener('touchstart', event => near(...at(event.touches[0])) && event.preventDefault(), { passive: false });
    node.addEventListener('pointerdown', event => {
      if (event.button || (event.pointerType === 'touch' && !near(...at(event)))) return;
      held = true;
      node.setPointerCapture(event.pointerId);
      node.classList.add('held');
      start(...at(event));
      move(...at(event));
      event.preventDefault();
      node.focus({ preventScroll: true });
    });
    node.addEventListener('pointermove', event => held && move(...at(event)));
    for (const over of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      node.addEventListener(over, () => { if (held) { held = false; node.classList.remove('held'); end(); } });
    }
    const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1], PageDown: [0, -10], PageUp: [0, 10], Home: [0, -Infinity], End: [0, Infinity] };
    node.addEventListener('keydown', event => {
      if (!STEPS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      keys(...STEPS[event.key]);
    });
    return { node, tell: (value, text, min, max) => set(node, { 'aria-valuenow': +value.toPrecision(4), 'aria-valuetext': text, 'aria-valuemin': min, 'aria-valuemax': max }) };
  };

  // A native slider. label may have <i>letters</i>; name is for screen readers; step 0 on a logarithmic scale: no rounding.
  const slider = ({ label, name, min, max, value, step = 1, log = false, format = String, round = v => (log && step ? Math.round(v) : v), input }) => {
    const steps = log ? 400 : Math.round((max - min) / step);
    const to = k => round(log ? min * (max / min) ** (k / steps) : +(min + k * step).toPrecision(9));
    const of = v => Math.round(log ? steps * Math.log(v / min) / Math.log(max / min) : (v - min) / step);
    const box = html('input', { type: 'range', min: 0, max: steps, value: of(value), 'aria-label': name }), out = html('span', { class: 'value', 'aria-hidden': 'true' });
    const title = html('span', { class: 'title' });
    const show = v => { out.innerHTML = format(v); set(box, { 'aria-valuetext': out.textContent }); box.style.setProperty('--at', box.value / steps); };
    title.innerHTML = label;
    box.addEventListener('input', () => { const v = to(+box.value); show(v); input(v); });
    show(value);
    return { node: html('label', { class: 'ex-slider' }, title, out, box), set: v => { box.value = of(v); show(v); } };
  };
  const button = (text, onclick, attributes = {}) => html('button', { type: 'button', text, onclick, ...attributes });

  explore.kit = { set, html, svg, words, scale, path, tidy, ticks, axes, sentence, motion, handle, slider, button, calm };

  // As anywidget's render: fills el and keeps the state in a model. (In Jupyter Book 2: export default { render: explore.render('NAME') }.)
  explore.render = name => ({ model, el }) => {
    const figure = explore.figures[name], state = {};
    for (const [key, [first, ...rest]] of Object.entries(figure.state)) {
      const given = model.get(key);
      if (typeof first === 'string') state[key] = [first, ...rest].includes(given) ? given : first;
      else state[key] = given == null || given === '' || !Number.isFinite(+given) ? first : Math.min(rest[1], Math.max(rest[0], +given));
    }
    const save = () => { for (const key of Object.keys(state)) model.set(key, state[key]); model.save_changes(); };
    el.classList.add('explore', `ex-${name}`);
    const drawn = figure.draw({ el, state, save });
    let width = 0;
    const fit = () => { const now = Math.floor(el.clientWidth); if (now && now !== width) drawn.resize(width = now); };
    new ResizeObserver(fit).observe(el);
    fit();
    el.figure = { ...drawn, state };
  };

  // The model of a page is its address: what differs from the figure's first state, and the place of the figure.
  const address = (name, place) => {
    const first = explore.figures[name].state, asked = new URLSearchParams(location.search);
    let later = 0;
    return {
      get: key => asked.get(key),
      set: (key, value) => { if (value === first[key][0]) asked.delete(key); else asked.set(key, typeof value === 'number' ? +value.toPrecision(6) : value); },
      save_changes: () => {
        clearTimeout(later);
        later = setTimeout(() => { try { history.replaceState(history.state, '', `?${asked}`.replace(/^\?$/, location.pathname) + (place ? `#${place}` : location.hash)); } catch { /* a page that may not change its address */ } }, 300);
      },
    };
  };
  const mount = image => {
    const name = [...image.classList].find(c => c.startsWith('explore-')).slice(8);
    if (!explore.figures[name]) return;
    const picture = image.closest('a.image-reference') ?? image, el = html('div', { role: 'group', 'aria-label': image.alt });
    try {
      picture.before(el);
      explore.render(name)({ model: address(name, image.closest('figure')?.id), el });
      picture.classList.add('explore-picture');
      image.classList.add('explore-picture');
    } catch (error) {
      el.remove();
      console.error(error);
    }
  };
  addEventListener('DOMContentLoaded', () => document.querySelectorAll('img[class*="explore-"]').forEach(mount));
})();
