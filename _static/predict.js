// In a Predict box a list of answers becomes a row of buttons, so that the reader commits to one. What was chosen is shown
// beside the answer; it stays on this page: nothing is counted, kept or sent. In print and in Jupyter the list stands.
addEventListener('DOMContentLoaded', () => {
  const followed = (box, matches) => {
    const found = [];
    for (let next = box.nextElementSibling; next; next = next.nextElementSibling) if (next.matches(matches)) found.push(next);
    return found;
  };
  // The paragraph that answers: number k after a box of the class answer-k; else the first after the cells that follow the
  // box; else the first.
  const answer = box => {
    const number = /\banswer-(\d+)/.exec(box.className);
    if (number) return followed(box, 'p')[number[1] - 1];
    const rest = followed(box, '*'), past = rest.findIndex(e => !e.matches('.cell'));
    return rest.slice(Math.max(past, 0)).find(e => e.matches('p'));
  };
  for (const box of document.querySelectorAll('article .admonition.predict')) {
    const list = box.querySelector(':scope > ul:last-child');
    if (!list) continue;
    const row = document.createElement('div'), said = document.createElement('p');
    row.className = 'predict-choices';
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', 'Your prediction');
    said.className = 'predict-said';
    said.setAttribute('role', 'status');
    for (const item of list.children) {
      const button = document.createElement('button');
      button.type = 'button';
      button.setAttribute('aria-pressed', false);
      for (const part of item.children.length === 1 && item.firstElementChild.matches('p') ? item.firstElementChild.childNodes : item.childNodes)
        button.append(part.cloneNode(true));
      button.addEventListener('click', () => {
        for (const other of row.children) other.setAttribute('aria-pressed', other === button);
        const words = document.createElement('b');
        for (const part of button.childNodes) words.append(part.cloneNode(true));
        said.replaceChildren('You predicted: ', words, '.');
      });
      row.append(button);
    }
    list.classList.add('predict-list');
    list.after(row);
    (answer(box) ?? followed(box, '*')[0] ?? box).before(said);
  }
});
