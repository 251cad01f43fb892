// Run in the browser that prints, once MathJax and the fonts are there: formulas as wide as the column, and figures where
// they leave no half-empty page. Chromium has no floats that go to the next page, so we follow the pages ourselves: the
// document is laid out at the width of the paper, and what may not be broken and does not fit goes to the next page. A
// figure that would leave a gap is made a little smaller, or the text behind it is moved up in front of it, as TeX does.
async ({height, gap, smallest}) => {
  await window.MathJax.startup.promise;
  await document.fonts.ready;
  for (const box of document.querySelectorAll('mjx-container[display]'))
    if (box.scrollWidth > box.clientWidth + 1)
      box.style.fontSize = Math.floor(115 * box.clientWidth / box.scrollWidth) + '%';

  const whole = 'figure, div.math, .highlight, tr, .admonition-title, dt, h1, h2, h3, h4, summary, mjx-container[display]';
  const titles = 'h1, h2, h3, h4, .admonition-title, dt, summary';
  const size = node => node.getBoundingClientRect();
  // Code that is long may be broken, or it would leave gaps itself.
  for (const code of document.querySelectorAll('.cell_input, .highlight'))
    if (size(code).height > height / 4) code.classList.add('long');
  const kept = node => node.matches(whole) && !node.matches('.long');
  const pieces = article => [...article.querySelectorAll(`${whole}, p, li, .long pre`)].filter(node => {
    for (let outer = node.parentElement; outer !== article; outer = outer.parentElement)
      if (kept(outer) || outer.matches('p, li') && !outer.querySelector('p')) return false;
    return !node.matches('.long, li:has(p)') && size(node).height > 0;
  });

  // Where a figure begins on its page: top of every piece, plus the white that the breaks before it have left.
  const follow = (article, wanted) => {
    const start = size(article).top;
    let shift = 0;
    const list = pieces(article);
    for (let k = 0; k < list.length; k++) {
      const box = size(list[k]), at = box.top - start + shift, left = height - at % height;
      const line = parseFloat(getComputedStyle(list[k]).lineHeight) || 24, lines = Math.round(box.height / line);
      if (!kept(list[k]) && box.height > left && lines > 3) {  // lines stay whole, two at least on either page
        const here = Math.min(Math.floor(left / line), lines - 2);
        shift += here < 2 ? left : Math.max(left - here * line, 0);
        continue;
      }
      let needs = box.height;
      if (list[k].matches(titles)) for (let next = k + 1; next < list.length; next++) {  // a title stays with what follows it
        needs = size(list[next]).top - box.top + (kept(list[next]) ? size(list[next]).height : Math.min(size(list[next]).height, 50));
        if (list[next] === wanted && needs > left) return {left, needs};  // the title would take it to the next page
        if (!list[next].matches(titles)) break;
      }
      if (list[k] === wanted) return {left, needs: box.height};
      if (needs > left && needs < height) shift += left;
    }
    return null;
  };
  let smaller = 0, moved = 0, left = 0;
  const shrink = (picture, over, least) => {
    const tall = size(picture).height;
    if ((tall - over) / tall < least) return false;
    picture.style.setProperty('max-height', `${tall - over}px`, 'important');
    picture.style.setProperty('width', 'auto', 'important');
    return ++smaller;
  };
  for (const article of document.querySelectorAll('article.bd-article')) {
    for (const figure of article.querySelectorAll('figure')) {
      const where = follow(article, figure), picture = figure.querySelector('img, svg');
      if (!where || !picture || where.needs <= where.left || where.left < gap) continue;
      const over = where.needs - where.left + 30;
      if (shrink(picture, over, smallest)) continue;
      // The pieces of text behind the figure, or behind its cell, that fill the page in front of it.
      let block = figure;
      while (block.parentElement.matches('.cell_output, .cell, .output, div:not(.admonition):not(.bd-article)') && !block.parentElement.matches('section'))
        block = block.parentElement;
      const behind = [];
      for (let next = block.nextElementSibling; next; next = next.nextElementSibling)
        behind.push(...(next.matches('section') ? next.children : [next]));  // it may go on into the next section
      let filled = 0, last = null;
      for (const next of behind) {
        if (filled >= where.left && !last.matches(titles) || next.matches('section, figure, .exercise') || next.querySelector('figure')) break;
        filled += size(next).bottom - size(last ?? block).bottom;
        last = next;
      }
      if (last?.matches(titles)) last = null;
      if (last && (filled > where.left - gap || filled > where.left / 2)) {
        last.after(figure);
        moved += 1;
      } else if (!shrink(picture, over, .6)) left += 1;
    }
  }
  return {smaller, moved, left};
}
