// 64-bit hashes in two halves of 32 bits: those of headwise.core.hashing.
let high = 0, low = 0;
const multiply = (otherHigh, otherLow) => {
  const a = low & 0xFFFF, b = low >>> 16, c = otherLow & 0xFFFF, d = otherLow >>> 16;
  const first = a * c, second = b * c + (first >>> 16), third = a * d + second % 65536;
  const carry = b * d + Math.floor(second / 65536) + Math.floor(third / 65536);
  high = (carry + Math.imul(high, otherLow) + Math.imul(low, otherHigh)) >>> 0;
  low = ((third & 0xFFFF) << 16 | first & 0xFFFF) >>> 0;
};
const shift = bits => {  // number ^= number >> bits
  low = (low ^ (low >>> bits | high << 32 - bits)) >>> 0;
  high = (high ^ high >>> bits) >>> 0;
};
const FIRST = [0x9E3779B9, 0x7F4A7C15], SECOND = [0xBF58476D, 0x1CE4E5B9], THIRD = [0x94D049BB, 0x133111EB];
const BEGIN = [0xD6E8FEB8, 0x6659FD93], END = [0xA0761D64, 0x78BD642F];
const mix = () => { shift(30); multiply(...SECOND); shift(27); multiply(...THIRD); shift(31); };
const addCharacter = code => { low = (low ^ code) >>> 0; multiply(...SECOND); shift(29); };
const add = (otherHigh, otherLow) => {
  const sum = low + otherLow;
  high = (high + otherHigh + (sum > 0xFFFFFFFF)) >>> 0; low = sum >>> 0;
};
const stateOf = word => {
  [high, low] = FIRST;
  for (const code of codePoints(word)) addCharacter(code);
  mix();
  return [high, low];
};
const pairHash = (before, word, near) => {
  [high, low] = before; multiply(...(near ? FIRST : THIRD)); add(...word); mix();
  return high;
};
const isBlank = code => code === 32 || (9 <= code && code <= 13) || (28 <= code && code <= 31) || code === 0x85 ||
  code === 0xA0 || code === 0x1680 || (0x2000 <= code && code <= 0x200A) || code === 0x2028 || code === 0x2029 ||
  code === 0x202F || code === 0x205F || code === 0x3000;

const sum = values => values.reduce((total, value) => total + value, 0);
const lengthOf = vector => Math.sqrt(sum(Array.from(vector, value => value * value)));

class LinearModel {
  constructor(settings, tables, reader, base) {
    Object.assign(this, settings);  // words, columns, classes, reach, edges, surface, shortest, longest, pruned
    this.tables = tables; this.reader = reader; this.base = base;
    this.features = tables.keys.length;
    this.logarithms = Array.from({length: 1024}, (_, count) => Math.log(count + 1) + 1);
  }
  find(key, first, last) {  // the feature with this key from first to last; -1 for none
    const keys = this.tables.keys, end = last;
    while (first < last) {
      const middle = (first + last) >> 1;
      if (keys[middle] < key) first = middle + 1; else last = middle;
    }
    return first < end && keys[first] === key ? first : -1;
  }
  // Where features occur: the feature, and the words (or the characters, with the end) that it covers.
  wordOccurrences(words) {
    const found = [], states = words.map(word => stateOf(this.reader.lower(word.text)));
    const note = (key, first, second) => {
      const feature = this.find(key, 0, this.words);
      if (feature >= 0) found.push([feature, first, second]);
    };
    const edge = this.edges && words.length > 0;
    states.forEach((state, place) => {
      note(state[0], place, place);
      for (let gap = 1; gap <= this.reach; ++gap) {
        const before = place - gap;
        if (before >= 0) note(pairHash(states[before], state, gap === 1), before, place);
        else if (edge && before === -1) note(pairHash(BEGIN, state, gap === 1), place, place);
      }
    });
    for (let gap = 1; edge && gap <= Math.min(this.reach, words.length); ++gap)
      note(pairHash(states[words.length - gap], END, gap === 1), words.length - gap, words.length - gap);
    return found;
  }
  characterOccurrences(codes) {
    const found = [];
    for (let place = 0; place < codes.length;) {
      if (isBlank(codes[place])) { ++place; continue; }
      const first = place;
      while (place < codes.length && !isBlank(codes[place])) ++place;
      const size = place - first + 2;
      for (let begin = 0; begin < size; ++begin) {
        let state = THIRD;
        for (let length = 1; length <= Math.min(this.longest, size - begin); ++length) {
          const at = begin + length - 1;
          [high, low] = state;
          addCharacter(0 < at && at < size - 1 ? codes[first + at - 1] : 32);
          state = [high, low];
          if (length < this.shortest && !(begin === 0 && length === size)) continue;
          add(0, length); mix();
          const feature = this.find(high, this.words, this.features);
          if (feature >= 0)
            found.push([feature, first + Math.max(begin - 1, 0), first + Math.min(at, size - 2)]);
        }
      }
    }
    return found;
  }
  // Calls use(column, weight) for the weights of a feature.
  weightsOf(feature, use) {
    const {weights, steps, ends, columns} = this.tables, step = steps[feature];
    if (!this.pruned) {
      for (let column = 0, at = feature * this.columns; column < this.columns; ++column, ++at)
        use(column, Math.fround(weights[at] * step));
    } else {
      for (let at = feature ? ends[feature - 1] : 0; at < ends[feature]; ++at)
        use(columns[at], Math.fround(weights[at] * step));
    }
  }
  block(occurrences) {  // the value of each feature at length 1, divided by its count
    const counts = new Map(), {idf} = this.tables;
    for (const [feature] of occurrences) counts.set(feature, (counts.get(feature) ?? 0) + 1);
    const values = new Map();
    let total = 0;
    for (const [feature, count] of counts) {
      const value = (this.logarithms[count - 1] ?? Math.log(count) + 1) * idf[feature];
      values.set(feature, value); total += value * value;
    }
    const length = Math.sqrt(total) || 1;
    for (const [feature, value] of values) values.set(feature, value / length / counts.get(feature));
    return {occurrences, counts, values};
  }
  surfaceOf(text) {
    const codes = [...codePoints(text), 32], kinds = this.tables.kinds;
    let words = 0, letters = 0, capitals = 0, digits = 0, marks = 0, calls = 0, questions = 0, lines = 0;
    let capitalised = 0, shouted = 0, length = 0, lettersHere = 0, capitalsHere = 0;
    codes.forEach((code, place) => {
      if (isBlank(code)) {
        lines += place < codes.length - 1 && code === 10;
        words += length > 0;
        shouted += capitalsHere > 1 && capitalsHere === lettersHere;
        length = lettersHere = capitalsHere = 0;
        return;
      }
      const beyond = (0x3040 <= code && code < 0xE000) || (0xF900 <= code && code < 0xFE00) ||
        (0x20000 <= code && code < 0x40000);
      const kind = code < kinds.length ? kinds[code] : Number(beyond);
      if (kind & 2) { ++capitals; capitalised += length === 0; ++capitalsHere; }
      ++length;
      if (kind & 1) { ++letters; ++lettersHere; }
      else if (kind & 4) ++digits;
      else { ++marks; calls += code === 33; questions += code === 63; }
    });
    const written = letters + digits, ratio = (part, all) => part / Math.max(all, 1), log = Math.log1p;
    return [log(written), log(words) - log(written), ratio(capitals, letters), ratio(digits, written),
      log(marks) - log(words), log(calls), log(questions), log(lines), ratio(capitalised, words),
      ratio(shouted, words)];
  }
  // All that scores and explanations need; of a text that was cut, the base reads the words before the cut.
  read(text, words, baseWords) {
    const lowered = this.reader.lower(text), codes = codePoints(lowered);
    const blocks = [
      this.words ? this.block(this.wordOccurrences(words)) : null,
      this.features > this.words ? this.block(this.characterOccurrences(codes)) : null];
    const base = this.base ? this.base.text(baseWords) : null;
    const surface = this.surface ? this.surfaceOf(text) : [];
    let dense = surface, factor = 1;
    if (this.vectors) {
      const away = base.vector.map((value, n) => value - this.tables.mean[n]);
      factor = 1 / Math.max(lengthOf(away), 1e-12);
      dense = [...away.map(value => value * factor), ...surface];
    }
    return {text, words, codes, blocks, base, surface, dense, factor};
  }
  scores(read) {
    const scores = Float64Array.from(this.tables.bias);
    for (const block of read.blocks.filter(Boolean))
      for (const [feature, value] of block.values)
        this.weightsOf(feature, (column, weight) => {
          scores[column] += value * block.counts.get(feature) * weight;
        });
    read.dense.forEach((value, row) => {
      for (let column = 0; column < this.columns; ++column)
        scores[column] += value * this.tables.dense[row * this.columns + column];
    });
    return this.columns < this.classes ? [-scores[0] / 2, scores[0] / 2] : Array.from(scores);
  }
  // What each word adds to the sum of scores with these coefficients, and what surface features add.
  attributions(read, toward) {
    const of = this.columns < this.classes ? [toward[1] / 2 - toward[0] / 2] : toward;
    const attributions = new Float64Array(read.words.length), attributionsOf = block => {
      const byFeature = new Map();
      for (const [feature, value] of block.values) {
        let product = 0;
        this.weightsOf(feature, (column, weight) => { product += of[column] * weight; });
        byFeature.set(feature, value * product);
      }
      return byFeature;
    };
    const denseOf = row => sum(of.map((value, n) => value * this.tables.dense[row * this.columns + n]));
    const [words, characters] = read.blocks;
    if (words) {
      const byFeature = attributionsOf(words);
      for (const [feature, first, second] of words.occurrences) {
        attributions[first] += byFeature.get(feature) / 2; attributions[second] += byFeature.get(feature) / 2;
      }
    }
    if (characters) {
      const byFeature = attributionsOf(characters), owners = this.owners(read);
      for (const [feature, start, end] of characters.occurrences)
        for (let place = start; place < end; ++place)
          if (owners[place] >= 0) attributions[owners[place]] += byFeature.get(feature) / (end - start);
    }
    if (this.vectors) {
      const line = Array.from({length: this.vectors}, (_, row) => denseOf(row) * read.factor);
      read.base.entries.forEach(({vector, weight}, place) => {
        attributions[place] += sum(line.map((value, n) => value * vector[n])) * weight / read.base.length;
      });
    }
    const reference = this.surface ? this.surfaceOf(this.referenceText) : [];
    const surface = sum(read.surface.map((value, n) => (value - reference[n]) * denseOf(this.vectors + n)));
    return {attributions: Array.from(attributions), surface};
  }
  owners(read) {  // the word that each lower-case character belongs to; -1 for none
    const owners = [];
    let word = 0, offset = 0;
    for (const character of read.text) {
      while (word < read.words.length && offset >= read.words[word].start + read.words[word].text.length) ++word;
      const inside = word < read.words.length && offset >= read.words[word].start;
      const size = codePoints(this.reader.lowers.get(character) ?? character).length;
      for (let n = 0; n < size; ++n) owners.push(inside ? word : -1);
      offset += character.length;
    }
    return owners;
  }
}

// What headwise makes of the scores: calibrated probabilities and labels, or a number.
class OfflineModel {
  constructor(settings, tables) {
    this.settings = settings;
    this.reader = new TextReader(settings.reader);
    this.base = settings.base ? new StaticEmbeddings(settings.base, tables, this.reader) : null;
    this.linear = new LinearModel(settings.linear, tables, this.reader, this.base);
    this.encoder = settings.encoder ? new EncoderNetwork(settings.encoder, tables, this.reader, this.base) : null;
    this.references = settings.novelty ? tables.references : null;
  }
  read(written) {
    const {most, truncates} = this.settings;
    const text = this.reader.normalize(written), words = this.reader.words(text);
    if (!most || words.length <= most) return {...this.linear.read(text, words, words), encoded: words};
    if (!truncates) throw new RangeError(`The text has ${words.length} words; the model reads at most ${most}.`);
    const last = words[most - 1], cut = text.slice(0, last.start + last.text.length);
    const encoded = words.slice(0, most);
    return {...this.linear.read(cut, this.reader.words(cut), encoded), encoded};
  }
  predict(written) {
    const {kind, weight, encoderWeight, temperature, biases, thresholds, scale} = this.settings;
    const read = this.read(written), outputs = this.encoder ? this.encoder.of(read.encoded) : null;
    const logits = this.linear.scores(read).map(
      (score, n) => weight * score + (outputs ? encoderWeight * outputs[n] : 0));
    if (kind === 'number') return {read, number: logits[0] * scale.deviation + scale.mean};
    const calibrated = logits.map((logit, n) => logit / temperature + (biases ? biases[n] : 0));
    let probabilities, chosen;
    if (kind === 'labels') {
      probabilities = calibrated.map(logit => 1 / (1 + Math.exp(-logit)));
      chosen = probabilities.flatMap((probability, n) => probability >= thresholds[n] ? [n] : []);
    } else {
      const top = calibrated.reduce((a, b) => Math.max(a, b)), weights = calibrated.map(one => Math.exp(one - top));
      const total = sum(weights);
      probabilities = weights.map(one => one / total);
      const ratios = thresholds ? probabilities.map((one, n) => one / thresholds[n]) : probabilities;
      chosen = [ratios.reduce((best, ratio, n) => ratio > ratios[best] ? n : best, 0)];
    }
    return {read, probabilities, chosen, calibrated, novelty: this.novelty(read, logits)};
  }
  novelty(read, logits) {
    const detector = this.settings.novelty;
    if (!detector) return null;
    const size = this.base ? this.base.size : 0, similarities = [];
    for (let first = 0; size && first < this.references.length; first += size) {
      const row = this.references.subarray(first, first + size);
      similarities.push(sum(read.base.vector.map((value, n) => value * row[n])) / Math.max(lengthOf(row), 1e-12));
    }
    const nearest = similarities.sort((a, b) => b - a).slice(0, detector.neighbours);
    const similarity = nearest.length ? sum(nearest) / nearest.length : 0;
    const largest = logits.reduce((a, b) => Math.max(a, b));
    const score = detector.offset - detector.logit * largest - detector.similarity * similarity;
    return {score, unknown: score > detector.threshold};
  }
  // What each word adds to the margin of a label, or to the difference of a number from the mean.
  explain(prediction, label = 0) {
    const {kind, weight, encoderWeight, temperature, labels, scale} = this.settings, {calibrated, read} = prediction;
    let toward;
    if (kind === 'number') toward = [scale.deviation];
    else if (kind === 'labels') toward = labels.map((_, n) => Number(n === label) / temperature);
    else {
      const top = calibrated.reduce((best, logit, n) => n === label ? best : Math.max(best, logit), -Infinity);
      const others = calibrated.map((logit, n) => n === label ? 0 : Math.exp(logit - top)), total = sum(others);
      toward = others.map((other, n) => (n === label ? 1 : -other / total) / temperature);
    }
    const {attributions, surface} = this.linear.attributions(read, toward.map(one => one * weight));
    if (!this.encoder) return {attributions, surface};
    const further = this.encoder.attributions(read.encoded, toward.map(one => one * encoderWeight));
    return {attributions: attributions.map((value, n) => value + (further[n] ?? 0)), surface};
  }
}
