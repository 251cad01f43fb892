// The errata can be filtered by verdict. Without this script all of them are shown.
addEventListener('DOMContentLoaded', () => {
  const box = document.querySelector('.errata-filter');
  if (!box) return;
  const cards = [...document.querySelectorAll('.erratum')];
  const verdict = card => [...card.classList].find(c => c.startsWith('verdict-')).slice(8).replace('-', ' ');
  const count = new Map();
  for (const name of ['wrong', 'incomplete', 'misprint', 'code differs']) count.set(name, 0);
  for (const card of cards) count.set(verdict(card), (count.get(verdict(card)) || 0) + 1);
  const show = wanted => {
    for (const card of cards) card.hidden = wanted !== 'all' && verdict(card) !== wanted;
    for (const button of box.children) button.setAttribute('aria-pressed', button.value === wanted);
  };
  box.replaceChildren(...[['all', cards.length], ...count].map(([name, number]) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.value = name;
    button.textContent = `${name} (${number})`;
    button.addEventListener('click', () => show(name));
    return button;
  }));
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', 'Show corrections with the verdict');
  show('all');
  const reveal = () => {  // a link to a card that is filtered away shows everything again
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest('.erratum');
    if (target?.hidden) { show('all'); target.scrollIntoView(); }
  };
  addEventListener('hashchange', reveal);
});
