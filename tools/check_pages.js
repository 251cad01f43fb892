// What check_pages.py reads from a page: it runs before the page's own scripts and is called when the page is there.
window.checkPages = (() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const tidy = text => text.trim().replace(/\s+/g, ' ');
  const excerpt = text => [...tidy(text)].slice(0, 70).join('');
  const short = (text, length) => text.slice(0, length).toWellFormed();
  const settled = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const nameOf = e => e.tagName.toLowerCase();
  const firstClass = e => String(e.className).split(' ')[0];
  const rightOf = e => e.getBoundingClientRect().right;

  function openAll() {
    for (const e of all('details')) e.open = true;
    for (const e of all('.toggle-hidden')) e.classList.remove('toggle-hidden');
    return settled();
  }

  function rawTeX() {
    const raw = [], skip = 'code, pre, script, style, textarea, noscript, mjx-container';
    const looksLikeTeX = /\$[^$]+\$|\$\$|\\[()\[\]]|\\[a-zA-Z]{2,}/;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());)
      if (looksLikeTeX.test(node.data) && !node.parentElement.closest(skip)) raw.push(excerpt(node.data));
    if (/\$|\\[(a-zA-Z]/.test(document.title)) raw.push('page title: ' + document.title);
    return raw;
  }

  function redFormulas() {
    const marks = 'mjx-merror, [data-mjx-error], [style*="red"], [mathcolor="red"]';
    return all('mjx-container').filter(e => e.querySelector(marks)).map(e => {
      const error = e.querySelector('[data-mjx-error]')?.getAttribute('data-mjx-error')
        || 'red: ' + e.querySelector('mtext[mathcolor="red"]')?.textContent;
      return error + ' in ' + excerpt(e.querySelector('mjx-assistive-mml')?.textContent || e.textContent);
    });
  }

  // The page as it opens.
  function page() {
    const inside = {};
    for (const block of all('details, .toggle'))
      for (const target of all('[id]', block)) inside[target.id] = 1;
    const opened = 'article details[open], article .toggle:not(.toggle-hidden)';
    return {
      raw: rawTeX(),
      red: redFormulas(),
      formulas: all('.math').length,
      bare: all('.math').filter(e => !e.querySelector('mjx-container')).map(e => excerpt(e.textContent)),
      images: all('img').map(e => ({
        name: e.src.split('/').pop().slice(-60), loaded: e.complete && e.naturalWidth > 0, alt: e.alt})),
      fonts: [...document.fonts].filter(f => f.status === 'error').map(f => f.family),
      opened: all(opened).map(e => excerpt(e.textContent)),
      stuck: all('article .toggle').filter(e => !e.querySelector('.toggle-button')).map(e => excerpt(e.textContent)),
      inside: Object.keys(inside),
      links: all('a[href]').map(e => ({url: new URL(e.href.baseVal ?? e.href, document.baseURI).href, text: excerpt(e.textContent)})),
    };
  }

  // At desktop width, with every dropdown open: formulas cut by their box or too wide for it, and other things cut.
  async function cuts() {
    await openAll();
    const words = e => `in #${e.closest('[id]')?.id}: `
      + short(tidy((e.querySelector('mjx-assistive-mml') || e).textContent), 50);
    const wrong = [];
    for (const formula of all('article mjx-container[display]')) {
      const glyphs = all('mjx-math :is(mjx-c, mjx-line)', formula).map(e => e.getBoundingClientRect())
        .filter(r => r.width * r.height);
      const top = Math.min(...glyphs.map(r => r.top)), bottom = Math.max(...glyphs.map(r => r.bottom));
      for (let box = formula; box.matches('mjx-container, .math'); box = box.parentElement) {
        if (getComputedStyle(box).overflowY === 'visible') continue;
        const edge = box.getBoundingClientRect(), room = Math.min(top - edge.top, edge.bottom - bottom);
        if (room < 2)
          wrong.push(`formula with ${room.toFixed(1)} px of room before it is clipped, ${words(formula)}`);
      }
      const column = formula.parentElement;
      if (formula.scrollWidth > formula.clientWidth + 1 || rightOf(formula) > rightOf(column) + 1) {
        const width = formula.querySelector('mjx-math').getBoundingClientRect().width.toFixed(0);
        wrong.push(`formula of ${width} px in a column of ${formula.clientWidth} px ${words(formula)}`);
      }
      const number = column.querySelector('.eqno');
      if (number && rightOf(number) > rightOf(column.parentElement) + 1)
        wrong.push(`formula whose number is out of its column ${words(formula)}`);
    }
    for (const e of all('article :is(pre, .highlight, table, .output)'))
      if (['hidden', 'clip'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1)
        wrong.push(`cut at ${e.clientWidth} px: ${nameOf(e)} ${words(e)}`);
    for (const e of all('article .cell_input pre'))
      if (e.clientWidth && e.scrollWidth > e.clientWidth + 1) wrong.push(`code that runs out of its box ${words(e)}`);
    return [...wrong, ...torn()];
  }

  // A sign at the beginning of a line that belongs to the formula before it; and the number of a formula in two brackets.
  function torn() {
    const found = [], article = document.querySelector('article');
    for (const [twice] of article.innerText.matchAll(/.{0,20}\(\(\d+\.\d+\)\).{0,5}/g)) found.push(`two pairs of brackets: ${twice}`);
    for (const formula of all('article mjx-container:not([display])')) {
      const next = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, e => e.parentElement.closest('mjx-container, script') ? 2 : 1);
      next.currentNode = formula;
      while (next.nextNode() && formula.contains(next.currentNode));
      if (!/^[,.;:)!?]/.test(next.currentNode.data ?? '') || !formula.offsetWidth) continue;
      const sign = document.createRange();
      sign.setStart(next.currentNode, 0);
      sign.setEnd(next.currentNode, 1);
      const [at, before] = [sign, formula].map(e => e.getBoundingClientRect());
      if (at.width && at.left < before.right - 2 && at.top > before.top + 5 && !formula.matches('.scrolls'))
        found.push(`a line begins with the sign after a formula: ${excerpt(next.currentNode.data)}`);
    }
    return found;
  }

  function emptyHeaders() {
    const below = e => e.closest('table').querySelector('tbody tr')?.cells[e.cellIndex];
    return all('article thead th').filter(e => !e.textContent.trim())
      .map(e => below(e)?.textContent.trim().slice(0, 40));
  }

  // What axe-core finds of WCAG 2.2, levels A and AA, in the light and in the dark. Formulas and code would cost it a
  // minute a page and go first, so this is the last that is asked of a page. Off are the rules that are kept elsewhere:
  // descriptions of images (page), boxes that scroll (width, before the formulas and the code have gone).
  async function accessible() {
    for (const e of all('mjx-container, pre')) e.replaceWith('x');
    const found = [], rules = {'image-alt': {enabled: false}, 'scrollable-region-focusable': {enabled: false}};
    for (const theme of ['light', 'dark']) {
      document.documentElement.dataset.theme = theme;
      await settled();
      const runOnly = theme === 'dark' ? ['color-contrast'] : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
      const {violations} = await window.axe.run({runOnly, rules, preload: false, resultTypes: ['violations']});
      for (const {id, nodes} of violations)
        for (const {html, any: [why]} of nodes)
          found.push(`${id} (${theme}) ${why?.data?.contrastRatio ?? ''} of ${excerpt(html)}`);
    }
    return found;
  }

  // At phone width, with every dropdown open: what reaches past the window and is in no box of its own that scrolls; and
  // boxes that scroll but are no stop of the Tab key, nor have one inside (Safari does not make them stops by itself).
  async function width() {
    await openAll();
    const boxed = e => {
      for (let p = e; p && !p.querySelector('h1'); p = p.parentElement)
        if (['auto', 'scroll'].includes(getComputedStyle(p).overflowX) && rightOf(p) <= innerWidth + 1) return true;
      return false;
    };
    const wide = all('article *').filter(e => {
      const box = e.getBoundingClientRect();
      return box.width > 1 && box.height > 1 && box.right > innerWidth + 1
        && !e.closest('mjx-assistive-mml') && !e.closest('[clip-path]') && !boxed(e);
    });
    const deepest = wide.filter(e => !wide.some(o => o !== e && e.contains(o)));
    const owners = new Set(deepest.map(e => e.closest('mjx-container, table, pre, img, code, dt, .math') || e));
    const words = e => {
      const kind = e.className && e.className.baseVal === undefined ? '.' + firstClass(e) : '';
      return `${nameOf(e)}${kind} reaching ${Math.round(rightOf(e))} px in #${e.closest('[id]')?.id}: `
        + short(tidy(e.innerText || e.alt || ''), 50);
    };
    const stop = 'a[href], button, input, summary, [tabindex="0"]';
    const stuck = all('article *').filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1
      && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && e.tabIndex < 0 && !e.querySelector(stop));
    const size = {page: document.scrollingElement.scrollWidth, window: innerWidth};
    return {...size, wide: [...owners].map(words), stuck: stuck.map(words)};
  }

  // On paper (the window is as wide as the column of A4): what reaches past the column, and code that draws.
  function paper() {
    for (const e of all('article details.hide')) e.open = false;  // as a page opens
    const edge = rightOf(document.querySelector('article')) + 1;
    const words = e => `${nameOf(e)} in #${e.closest('[id]')?.id}: `
      + short(tidy((e.querySelector('mjx-assistive-mml') || e).textContent || e.alt || ''), 50);
    const overflows = e => rightOf(e) > edge || (e.matches('mjx-container[display]')
      && e.querySelector('mjx-math').getBoundingClientRect().width > e.clientWidth + 1);
    const wide = all('article :is(mjx-container, table, img, pre, .eqno)').filter(e => e.clientWidth && overflows(e));
    const drawing = all('article details.hide').filter(e => e.clientHeight);
    return [...wide.map(e => 'on paper too wide: ' + words(e)),
      ...drawing.map(e => 'on paper code that draws: ' + words(e))];
  }

  // Whether one who comes from another page to an id in a dropdown finds it open.
  function arrived(id) {
    const e = document.getElementById(id).parentElement.closest('details, .toggle');
    return e.open || !(e.tagName === 'DETAILS' || e.classList.contains('toggle-hidden'));
  }

  // A link within the page to each id in turn, every dropdown shut before: which stay hidden.
  async function hidden(ids) {
    const found = [];
    for (const id of ids) {
      for (const e of all('article details')) e.open = false;
      const link = document.createElement('a');
      link.href = '#' + id;
      document.body.append(link);
      link.click();
      link.remove();
      await settled();
      for (let e = document.getElementById(id)?.parentElement; e; e = e.parentElement)
        if ((e.tagName === 'DETAILS' && !e.open) || e.classList.contains('toggle-hidden')) {
          found.push(id);
          break;
        }
    }
    return found;
  }

  return {page, cuts, emptyHeaders, accessible, width, paper, arrived, hidden};
})();
