// The search page: finds and ranks the entries of search-index.js (book_search.py), which a page from disk may load.
(() => {
  const ENDS = '(?:ies|ing|ed|es|s|y|e)', FROM = '(?<![\\p{L}\\p{N}])', TO = '(?![\\p{L}\\p{N}])', SMALL = /^(the|an?|of|to|in|is|and)$/;
  const wordsOf = text => text.toLowerCase().match(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}])+/gu) ?? [];
  const stem = word => word.replace(new RegExp(`(?<=\\p{L}{3})${ENDS}$`, 'u'), '').replace(/i[sz](?=[aei]|$)/g, 'i[sz]');
  const inAnyForm = word => (/\p{Script=Han}/u.test(word) ? word : `${FROM}${stem(word)}${ENDS}?${TO}`);  // Chinese has no spaces
  const pattern = text => new RegExp(text, 'iu'), count = (text, what) => text.split(what).length - 1;
  const alone = anchor => /^(term-|id\d|spinlib)/.test(anchor);  // a term, reference or function is a result by itself
  const kind = (anchor, title) => (/^(id\d|spinlib)/.test(anchor) ? .4 : /^term-/.test(anchor) ? 1
    : !/^\d/.test(title) || /^ex-|reading$|summary$/.test(anchor) ? .6 : /^ch-/.test(anchor) ? 1.3 : 1);

  // An entry counts by that of its names which is nearest to the query, and by how often its words are those of the query,
  // the rare ones above all; a chapter by its best entry and a little by the next ones. Returned is a list of lists of
  // entries, the best first, and the patterns of the words.
  function rank(query, { pages, entries }) {
    const words = [...new Set(wordsOf(query))], phrase = pattern(words.map(inAnyForm).join('[^\\p{L}\\p{N}]*'));
    const texts = entries.map(([, , name, others, text]) => [name, ...others, text].join(' '));
    const asked = words.map(word => {
      const [whole, begun] = [inAnyForm(word), FROM + word].map(pattern), known = what => texts.filter(text => what.test(text)).length;
      const what = known(whole) ? whole : begun;
      return { what, weight: Math.log(1 + texts.length / (known(what) || 1)) };
    });
    const all = asked.reduce((sum, { weight }) => sum + weight, 0);
    const mean = value => asked.reduce((sum, { what, weight }) => sum + weight * value(what), 0) / all;
    const near = name => mean(what => what.test(name)) * Math.min(1, asked.filter(({ what }) => what.test(name)).length
      / wordsOf(name.replace(/^[\d. ]+/, '')).filter(word => !SMALL.test(word)).length || 0);
    const scored = entries.map(([page, anchor, name, others, text], k) => {
      const often = mean(what => { const n = count(texts[k], what); return n / (n + .5 + text.length / 1500); });
      const known = mean(what => what.test(texts[k] + pages[page][1])) ** 2;
      const called = [name, ...others].reduce((best, other) => (near(other) > near(best) ? other : best));
      return { page, anchor, name, called, text, score: kind(anchor, pages[page][1]) * known * (3 * near(called) + often + phrase.test(texts[k])) };
    });
    const groups = {};
    for (const one of scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score))
      (groups[alone(one.anchor) ? one.anchor : pages[one.page][0]] ??= []).push(one);
    const total = group => group.slice(0, 4).reduce((sum, { score }, k) => sum + score * .4 ** k, 0);
    return { groups: Object.values(groups).sort((a, b) => total(b) - total(a)), patterns: asked.map(({ what }) => what) };
  }

  // Of a text the sentence with most of the words, and what follows it; where they stand far inside, from a little before them.
  function excerpt(text, patterns) {
    const sentences = text.split(/(?<=[.?!] |[。？！])/), has = part => patterns.filter(what => what.test(part)).length;
    const best = sentences.map(has).reduce((best, n, k, all) => (n > all[best] ? k : best), 0);
    let part = sentences.slice(best).join('');
    const first = Math.min(...patterns.map(what => part.search(what)).filter(at => at >= 0), part.length);
    if (first > 150 && first < part.length) part = '… ' + part.slice(part.lastIndexOf(' ', first - 60) + 1);
    return part.length > 240 ? part.slice(0, Math.max(part.lastIndexOf(' ', 240), 200)) + ' …' : part;
  }
  const made = (tag, name, ...inside) => {
    const element = Object.assign(document.createElement(tag), { className: name });
    element.append(...inside);
    return element;
  };
  const link = ({ page, anchor, name }) => Object.assign(made('a', '', name), { href: `${window.bookIndex.pages[page][0]}#${anchor}` });
  const marked = (text, patterns) => text.split(new RegExp(`(${patterns.map(what => what.source).join('|')})`, 'iu'))
    .map((part, k) => (k % 2 ? made('mark', '', part) : part));
  function result([best, ...others], patterns) {
    const title = window.bookIndex.pages[best.page][1];
    const where = /^term-/.test(best.anchor) ? 'Glossary' : best.name === title ? 'From its beginning' : title;
    const called = best.name.includes(best.called) ? '' : ` · ${best.called}`;
    const more = alone(best.anchor) ? [] : others.filter(({ score }) => score > best.score / 4).slice(0, 3);
    const also = more.flatMap((one, k) => [k ? ' · ' : 'Also there: ', link(one)]);
    return made('li', '', link(best), made('span', 'where', where + called),
      made('p', '', ...marked(excerpt(best.text, alone(best.anchor) ? [] : patterns), patterns)),
      ...(also.length ? [made('p', 'also', ...also)] : []));
  }

  const SHOWN = 25;
  addEventListener('DOMContentLoaded', () => {
    const [form, list, status] = ['article .bd-search', '#search-results', '#search-status'].map(name => document.querySelector(name));
    if (!list || !window.bookIndex) return;
    const show = () => {
      const query = form.q.value.trim(), { groups, patterns } = wordsOf(query).length ? rank(query, window.bookIndex) : { groups: [] };
      list.replaceChildren(...groups.slice(0, SHOWN).map(group => result(group, patterns)));
      status.textContent = !query ? '' : !groups.length ? `Nothing was found for ${query}.`
        : groups.length > SHOWN ? `The first ${SHOWN} of ${groups.length} results.` : `${groups.length} result${groups.length > 1 ? 's' : ''}.`;
      history.replaceState(null, '', query ? `?q=${encodeURIComponent(query)}` : location.pathname);
    };
    let timer = 0;
    form.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(show, 150); });
    form.addEventListener('submit', event => { event.preventDefault(); show(); list.querySelector('a')?.focus(); });
    form.q.value = new URLSearchParams(location.search).get('q') ?? '';
    if (form.q.value) show();
    else form.q.focus();
  });
})();
