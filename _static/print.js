// On paper: all text open, code that draws left out, the solutions after the chapter, every formula whole; afterwards as it was before.
(() => {
  const COLUMN = 672;  // px: what the margins of print.css leave of A4
  let undo = [];

  const unfold = article => {
    for (const block of article.querySelectorAll('details:not(.hide, [open])')) {
      block.open = true;
      undo.push(() => { block.open = false; });
    }
    for (const block of article.querySelectorAll('.toggle-hidden')) {
      block.classList.replace('toggle-hidden', 'was-hidden');
      undo.push(() => block.classList.replace('was-hidden', 'toggle-hidden'));
    }
  };
  // A solution says which exercise it belongs to: the last one before it.
  const solutionsLast = article => {
    const last = document.createElement('section');
    last.innerHTML = '<h2>Solutions</h2>';
    let exercise = '';
    for (const block of article.querySelectorAll('.exercise, .solution')) {
      if (block.matches('.exercise')) exercise = block.querySelector('.caption-number')?.textContent.trim() ?? '';
      else {
        const place = document.createComment(''), title = block.querySelector('.admonition-title');
        const words = document.createTextNode(exercise && ` of ${exercise}`);
        block.replaceWith(place);
        last.append(block);
        title.firstChild.after(words);
        undo.push(() => { words.remove(); place.replaceWith(block); });
      }
    }
    if (!last.querySelector('.solution')) return;
    article.append(last);
    undo.push(() => last.remove());
  };
  // What boxes and the number take of the column on the screen they take on paper.
  const fit = article => {
    const style = getComputedStyle(article);
    const column = article.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    for (const formula of article.querySelectorAll('mjx-container[display]')) {
      const room = COLUMN - 4 - (column - formula.clientWidth);  // 4: its own padding
      const ratio = room / formula.querySelector('mjx-math').getBoundingClientRect().width;
      if (ratio >= 1) continue;
      formula.style.setProperty('--on-paper', `${ratio * (parseFloat(formula.style.fontSize) || 100)}%`);
      undo.push(() => formula.style.removeProperty('--on-paper'));
    }
  };
  addEventListener('beforeprint', () => {
    const article = document.querySelector('article');
    if (!article || undo.length) return;
    unfold(article);
    fit(article);
    solutionsLast(article);
  });
  addEventListener('afterprint', () => {
    for (const step of undo.reverse()) step();
    undo = [];
  });
})();
