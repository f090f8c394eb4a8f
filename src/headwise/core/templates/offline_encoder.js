// The encoder of an ensemble, from the words of a text to outputs, as in headwise.runtime. Its equations are
// those of MS-Trans (Guo et al. 2020): LayerNorm(H + ReLU(MSMSA(H))), where each head sees its window.
const product = ({weight, bias, inputs, outputs}, row) => {  // x W + b
  const out = bias ? Float64Array.from(bias) : new Float64Array(outputs);
  for (let n = 0, at = 0; n < inputs; ++n, at += outputs) {
    const factor = row[n];
    if (factor) for (let m = 0; m < outputs; ++m) out[m] += factor * weight[at + m];
  }
  return out;
};
const normalized = ({weight, bias}, row) => {
  let mean = 0, variance = 0;
  for (const value of row) mean += value / row.length;
  for (const value of row) variance += (value - mean) ** 2 / row.length;
  const factor = 1 / Math.sqrt(variance + 1e-5);
  return Float64Array.from(row, (value, n) => (value - mean) * factor * weight[n] + bias[n]);
};
const perceptron = ({norm, first, second}, row) =>
  product(second, product(first, norm ? normalized(norm, row) : row).map(value => Math.max(value, 0)));
const reachOf = (limits, length) =>
  Math.min(length - 1, ...limits.map(([times, part, plus]) => Math.floor(length * times / part) + plus));
const attend = ({heads, inner, size}, projected) => {  // the outputs of all heads, of each row
  const outputs = projected.map(row => row.slice(0, inner)), length = projected.length;
  heads.forEach(({head, left, right, slope}, place) => {
    const before = reachOf(left, length), after = reachOf(right, length), value = head * size;
    const query = inner + place * size, key = query + heads.length * size;
    outputs.forEach((output, n) => {
      const first = Math.max(n - before, 0), last = Math.min(n + after, length - 1), scores = [];
      for (let m = first; m <= last; ++m) {
        let score = 0;
        for (let part = 0; part < size; ++part) score += projected[n][query + part] * projected[m][key + part];
        scores.push(score / Math.sqrt(size) - slope * Math.abs(n - m));
      }
      const top = Math.max(...scores), weights = scores.map(score => Math.exp(score - top)), total = sum(weights);
      output.fill(0, value, value + size);
      weights.forEach((weight, m) => {
        for (let part = value; part < value + size; ++part)
          output[part] += weight / total * projected[first + m][part];
      });
    });
  });
  return outputs;
};
const cutWindows = (length, most, overlap) => {
  const count = Math.ceil((length - overlap) / (most - overlap));
  const size = Math.ceil((length + (count - 1) * overlap) / count);
  const starts = Array.from({length: count}, (_, n) => Math.floor((length - size) * n / (count - 1)));
  return starts.map((start, n) => ({start, stop: start + size,
    first: n ? Math.floor((starts[n - 1] + size + start) / 2) : 0,
    last: n < count - 1 ? Math.floor((start + size + starts[n + 1]) / 2) : length}));
};
const MOST_WORDS = 64, PARTS = 32;  // that are left out one after the other: words, or parts of a longer text

class EncoderNetwork {
  constructor(settings, tables, reader, base) {
    const attach = node => {
      for (const [key, value] of Object.entries(node ?? {}))
        if (typeof value === 'string' && value.startsWith('encoder.')) node[key] = tables[value];
        else if (value && typeof value === 'object') attach(value);
    };
    const {vocabulary, ...network} = settings;
    attach(network);
    Object.assign(this, network);
    this.reader = reader; this.base = base; this.cache = new Map();
    this.numbers = new Map(vocabulary.map((word, number) => [word, number]));
  }
  word(written) {  // its vector, its weight in the vector of a text, and what the first layer reads
    let entry = this.cache.get(written);
    if (entry) return entry;
    const {vectors, size} = this;
    const number = this.numbers.get(this.reader.spelling(this.lowers ? this.reader.lower(written) : written)) ?? 0;
    const {vector: known, weight} = this.base ? this.base.word(written) : {vector: new Float64Array(size), weight: 1};
    const trained = vectors && (number || !this.base);
    const vector = trained ? known.map((value, n) => value + vectors[number * size + n]) : known;
    const input = this.norm ? normalized(this.norm, vector) : vector;
    const row = this.project ? product(this.project, input) : input;
    entry = {vector, weight, row, projected: product(this.layers[0].project, row)};
    if (this.cache.size > 20000) this.cache.clear();
    this.cache.set(written, entry);
    return entry;
  }
  encode(entries) {  // states of the words, and of the classification node
    let rows = entries.map(entry => entry.row), projected = entries.map(entry => entry.projected);
    if (this.node) {
      rows.unshift(this.node); projected.unshift(product(this.layers[0].project, this.node));
    }
    this.layers.forEach((layer, number) => {
      if (number) projected = rows.map(row => product(layer.project, row));
      rows = attend(layer, projected).map((outputs, n) => {
        const update = product(layer.out, outputs);
        return normalized(layer.norm, update.map((value, m) => Math.max(value, 0) + rows[n][m]));
      });
    });
    return {summary: this.node ? rows.shift() : null, rows};
  }
  states(entries) {  // of a long text in windows
    const length = entries.length;
    if (!this.most || length <= this.most) return this.encode(entries);
    let rows = [], summary = this.node ? new Float64Array(this.width) : null;
    for (const {start, stop, first, last} of cutWindows(length, this.most, this.overlap)) {
      const encoded = this.encode(entries.slice(start, stop));
      rows = rows.concat(encoded.rows.slice(first - start, last - start));
      summary = summary && summary.map((value, n) => value + encoded.summary[n] * (last - first) / length);
    }
    return {rows, summary};
  }
  pool({rows, summary}) {  // the vector of a text
    const top = () => {
      const nodes = summary ? [...rows, summary] : rows;
      return nodes.length ? nodes.reduce((best, row) => best.map((value, n) => Math.max(value, row[n]))) :
        new Float64Array(this.width);
    };
    const mean = () => rows.reduce((total, row) => total.map((value, n) => value + row[n] / rows.length),
      new Float64Array(this.width));
    const attentive = () => {
      const scores = rows.map(row => perceptron(this.attentive, row));
      return Float64Array.from({length: this.width}, (_, n) => {
        const best = scores.reduce((most, row) => Math.max(most, row[n]), -Infinity);
        const weights = scores.map(row => Math.exp(row[n] - best)), total = sum(weights);
        return sum(weights.map((weight, m) => weight * rows[m][n])) / (total || 1);
      });
    };
    const parts = {node: () => summary, max: top, mean, attentive};
    if (this.readout === 'node+max') return top().map((value, n) => value + summary[n]);
    return this.readout.split(',').flatMap(part => Array.from(parts[part]()));
  }
  outputs(entries) {
    const outputs = perceptron(this.head, this.pool(this.states(entries)));
    if (!this.probe) return outputs;
    const vector = new Float64Array(this.size);
    for (const {vector: of, weight} of entries)
      for (let n = 0; n < this.size; ++n) vector[n] += weight * of[n];
    const length = Math.max(lengthOf(vector), 1e-12);
    const probed = product(this.probe, vector.map(value => value / length));
    return outputs.map((value, n) => value + probed[n]);
  }
  of(words) { return this.outputs(words.map(word => this.word(word.text))); }
  // By how much a sum of outputs with these coefficients falls without each word; in long texts, without some
  // neighbouring words, which share it.
  attributions(words, toward) {
    const entries = words.map(word => this.word(word.text)), attributions = new Float64Array(words.length);
    const scored = some => sum(Array.from(this.outputs(some), (value, n) => value * toward[n]));
    const whole = scored(entries), step = entries.length > MOST_WORDS ? Math.ceil(entries.length / PARTS) : 1;
    for (let first = 0; first < entries.length; first += step) {
      const last = Math.min(first + step, entries.length);
      const attribution = whole - scored(entries.filter((_, n) => n < first || n >= last));
      attributions.fill(attribution / (last - first), first, last);
    }
    return Array.from(attributions);
  }
}
