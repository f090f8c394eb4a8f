// The page: it reads the model, checks it against headwise's answers, and shows predictions as one types.
const element = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const tableOf = node => {
  const binary = atob(node.textContent.trim()), bytes = new Uint8Array(binary.length);
  for (let place = 0; place < bytes.length; ++place) bytes[place] = binary.charCodeAt(place);
  node.remove();
  return new globalThis[node.dataset.type](bytes.buffer);
};
const percent = share => `${(100 * share).toFixed(1)} %`;
const FEW = 10, WEAKEST = Number(document.body.dataset.weakest);

class OfflinePage {
  constructor(model) {
    this.model = model; this.settings = model.settings;
    this.input = document.querySelector('#text'); this.results = document.querySelector('#results');
    this.label = null; this.showsAll = false;
    let waiting = 0;
    this.input.addEventListener('input', () => {
      clearTimeout(waiting); this.label = null;
      waiting = setTimeout(() => this.show(), 80);
    });
    for (const button of document.querySelectorAll('#examples button'))
      button.addEventListener('click', () => { this.input.value = button.value; this.label = null; this.show(); });
    this.input.disabled = false;
    this.show();
  }
  show() {
    const text = this.input.value;
    if (!text.trim()) return this.results.replaceChildren();
    let prediction;
    try { prediction = this.model.predict(text); } catch (error) {
      return this.results.replaceChildren(element('p', {role: 'alert'}, error.message));
    }
    const {kind, labels} = this.settings, {number, chosen, read} = prediction;
    const names = kind === 'number' ? [this.written(number)] : chosen.map(place => labels[place]);
    const heading = element('h2', {id: 'answer'}, names.length ? '' : 'No label');
    names.forEach((name, n) => heading.append(n ? ', ' : '', element('bdi', {}, name)));
    const parts = [heading];
    if (prediction.novelty?.unknown)
      parts.push(element('p', {class: 'hw-alert'}, 'This text is unlike the training texts: the answer may mean nothing.'));
    if (kind !== 'number') parts.push(...this.bars(prediction));
    if (read.words.length) parts.push(...this.explanation(prediction));
    if (read.base?.unlisted)
      parts.push(element('p', {class: 'hw-note'},
        `${read.base.unlisted} of ${read.words.length} words are not in the word list; their letters are read.`));
    this.results.replaceChildren(...parts);
  }
  written(number) {
    const places = Math.min(15, 5 - Math.floor(Math.log10(this.settings.scale.deviation)));
    return places >= 0 ? number.toFixed(places) : String(Math.round(number * 10 ** places) / 10 ** places);
  }
  bars(prediction) {
    const {labels} = this.settings, {probabilities, chosen} = prediction;
    const order = labels.map((_, place) => place).sort((a, b) => probabilities[b] - probabilities[a]);
    const shown = this.showsAll ? order : order.slice(0, FEW), list = element('ol', {class: 'hw-bars'});
    for (const place of shown) {
      const button = element('button', {type: 'button', 'aria-pressed': String(place === this.explained(prediction)),
        title: 'Show the words for and against this label'},
      element('bdi', {}, labels[place]),
      element('span', {class: 'hw-track', 'aria-hidden': 'true'},
        element('span', {class: 'hw-bar', style: `width:${(100 * probabilities[place]).toFixed(2)}%`})),
      element('span', {class: 'hw-value'}, percent(probabilities[place])));
      if (chosen.includes(place)) button.classList.add('hw-chosen');
      button.addEventListener('click', () => { this.label = place; this.show(); this.focus(place); });
      button.dataset.label = place;
      list.append(element('li', {}, button));
    }
    if (order.length <= FEW) return [list];
    const more = element('button', {type: 'button', class: 'hw-more'},
      this.showsAll ? `Show the first ${FEW} labels` : `Show all ${order.length} labels`);
    more.addEventListener('click', () => {
      this.showsAll = !this.showsAll; this.show(); document.querySelector('.hw-more').focus();
    });
    return [list, more];
  }
  focus(place) { this.results.querySelector(`[data-label="${place}"]`)?.focus(); }
  explained({probabilities, chosen}) {
    const best = probabilities.reduce((top, one, n) => one > probabilities[top] ? n : top, 0);
    return this.label ?? chosen[0] ?? best;
  }
  explanation(prediction) {
    const {kind, labels} = this.settings, {words, text} = prediction.read;
    const label = kind === 'number' ? 0 : this.explained(prediction);
    const {attributions, surface} = this.model.explain(prediction, label);
    const most = Math.max(...attributions.map(Math.abs)) || 1, shown = element('p', {class: 'hw-text', dir: 'auto'});
    let last = 0;
    words.forEach((word, place) => {
      shown.append(text.slice(last, word.start));
      last = word.start + word.text.length;
      const strength = Math.abs(attributions[place]) / most, sign = attributions[place] > 0 ? '+' : '−';
      if (strength < WEAKEST) return void shown.append(word.text);
      shown.append(element('mark', {class: attributions[place] > 0 ? 'hw-for' : 'hw-against',
        style: `--s:${strength.toFixed(2)}`, title: `${sign}${Math.abs(attributions[place]).toFixed(2)}`}, word.text));
    });
    shown.append(text.slice(last));
    const title = element('h3', {}, 'Words that decided');
    if (kind !== 'number') title.append(': ', element('bdi', {}, labels[label]));
    const sums = new Map();
    words.forEach((word, place) => sums.set(word.text, (sums.get(word.text) ?? 0) + attributions[place]));
    const ranked = Array.from(sums).sort((a, b) => b[1] - a[1]), toLine = (name, pairs) => {
      const line = element('p', {class: 'hw-note'}, `${name}: `);
      pairs.forEach(([word, value], n) => line.append(n ? ', ' : '', element('bdi', {}, word), ` ${value > 0 ? '+' : '−'}${Math.abs(value).toFixed(2)}`));
      if (!pairs.length) line.append('none');
      return line;
    };
    const parts = [title, shown, toLine('For', ranked.filter(pair => pair[1] > 0).slice(0, 5)),
      toLine('Against', ranked.filter(pair => pair[1] < 0).reverse().slice(0, 5))];
    if (this.settings.linear.surface)
      parts.push(element('p', {class: 'hw-note'}, `Length, capitals and punctuation: ${surface > 0 ? '+' : '−'}${Math.abs(surface).toFixed(2)}`));
    return parts;
  }
}

const status = document.querySelector('#status');
const largestDifference = model => Math.max(0, ...model.settings.checks.map(({text, answer}) => {
  const {number, probabilities} = model.predict(text), {kind, scale} = model.settings;
  if (kind === 'number') return Math.abs(number - answer[0]) / scale.deviation;
  return Math.max(...probabilities.map((one, n) => Math.abs(one - answer[n])));
}));
// After the page is drawn, as a large model takes a moment.
setTimeout(() => {
  try {
    const settings = JSON.parse(document.querySelector('#settings').textContent);
    const nodes = Array.from(document.querySelectorAll('script[data-type]'));
    const model = new OfflineModel(settings, Object.fromEntries(nodes.map(node => [node.dataset.name, tableOf(node)])));
    const difference = largestDifference(model);
    document.body.dataset.difference = difference;
    status.textContent = difference > 1e-4 ? 'This browser computes other answers than headwise ' +
      `(difference ${difference.toPrecision(2)}). Do not use them; try another browser.` : '';
    globalThis.headwise = {predict: text => {
      const {number, probabilities, chosen, novelty} = model.predict(text), {kind, labels} = settings;
      if (kind === 'number') return {prediction: number};
      const names = chosen.map(place => labels[place]);
      return {prediction: kind === 'labels' ? names : names[0],
        probabilities: Object.fromEntries(labels.map((label, n) => [label, probabilities[n]])),
        ...(novelty ? {unknown: novelty.unknown, novelty: novelty.score} : {})};
    }, explain: (text, label = 0) => model.explain(model.predict(text), label).attributions};
    new OfflinePage(model);
  } catch (error) {
    status.textContent = `This browser cannot read the model (${error.message}). Try a newer one.`;
    throw error;
  }
});
