// How a text is read: its normal spelling, its words, their lower-case letters. All tables come from headwise.
const classOf = encoded => {
  let start = 0, source = '', size = null;
  for (const item of encoded.split(' ')) {
    const number = parseInt(item, 36);
    if (size === null) { start += number; size = 0; continue; }
    const last = start + number - 1;
    source += `\\u{${start.toString(16)}}-\\u{${last.toString(16)}}`;
    start = last + 1; size = null;
  }
  return `[${source}]`;
};
const patternOf = ({source, sets}, flags = 'gu') => {
  const classes = sets.map(classOf);
  return new RegExp(source.replace(/@(\d+)@/g, (_, number) => classes[number]), flags);
};
const isPlain = text => /^[\0-\x7f]*$/.test(text);
const codePoints = text => Array.from(text, character => character.codePointAt(0));

class TextReader {
  constructor(settings) {
    this.normalizes = settings.normalizes;
    this.word = patternOf(settings.word);
    this.joiner = patternOf(settings.joiner);
    this.finalSigma = patternOf(settings.finalSigma);
    this.marks = new RegExp(`\\p{M}{${settings.mostMarks},}`, 'u');
    this.replacements = new Map(Object.entries(settings.replacements));
    this.lowers = new Map(Object.entries(settings.lowers));
    this.spellings = new Map(Object.entries(settings.spellings));
    this.plainWords = new Map(Object.entries(settings.plainWords));
    this.longestComposed = settings.longestComposed;
  }
  compose(text, most = Infinity) {
    return text.length >= most && this.marks.test(text) ? text : text.normalize('NFC');
  }
  normalize(text) {
    if (!this.normalizes || isPlain(text)) return text;
    const replaced = Array.from(text, one => this.replacements.get(one) ?? one).join('');
    return this.compose(replaced.replace(this.joiner, ''), 1000);
  }
  lower(text) {
    if (isPlain(text)) return text.toLowerCase();
    return Array.from(text.replace(this.finalSigma, 'ς'), one => this.lowers.get(one) ?? one).join('');
  }
  spelling(word) {  // under which word lists have it
    if (/^[A-Za-z0-9]+$/.test(word)) return word;
    let spelling = Array.from(word, one => this.spellings.get(one) ?? one).join('');
    if (codePoints(spelling).length <= this.longestComposed) spelling = spelling.normalize('NFC');
    if (/^\.{4,}$/.test(spelling)) return '...';
    return (this.plainWords.get(spelling) ?? spelling) || word;
  }
  words(text) {  // with their places in the text
    return Array.from(text.matchAll(this.word), match => ({text: match[0], start: match.index}));
  }
}

// Static embeddings of words, and of character n-grams for words that are not listed.
const CRC = Uint32Array.from({length: 256}, (_, byte) => {
  for (let bit = 0; bit < 8; ++bit) byte = byte >>> 1 ^ (byte & 1 ? 0xEDB88320 : 0);
  return byte;
});
const utf8 = new TextEncoder();
const crc32 = text => {
  let crc = -1;
  for (const byte of utf8.encode(text)) crc = CRC[(crc ^ byte) & 255] ^ crc >>> 8;
  return (crc ^ -1) >>> 0;
};
const strip = (text, characters, start, end) => {
  let first = 0, last = text.length;
  while (start && first < last && characters.includes(text[first])) ++first;
  while (end && last > first && characters.includes(text[last - 1])) --last;
  return text.slice(first, last);
};

class StaticEmbeddings {
  constructor(settings, tables, reader) {
    Object.assign(this, settings);  // size, subwords, longest, shortestRun, longestRun
    this.values = tables.base_values; this.scales = tables.base_scales; this.weights = tables.base_weights;
    this.reader = reader;
    this.numbers = new Map(settings.words.map((word, number) => [word, number]));
    this.cache = new Map();
  }
  variant(word) {
    const letters = Array.from(word);
    if (letters.length > this.longest || !/(.)\1|[-/_.'#@*~]/u.test(word)) return undefined;
    const twice = letters.filter((one, n) => n < 2 || !(one === letters[n - 1] && one === letters[n - 2]));
    const once = letters.filter((one, n) => n < 1 || one !== letters[n - 1]);
    const spellings = [twice.join(''), once.join(''), strip(word, '#@', true, false),
      strip(word, '.', false, true), strip(word, "'*_-.~", true, true)];
    const listed = spellings.find(one => one && this.numbers.has(one));
    return listed === undefined ? undefined : this.numbers.get(listed);
  }
  parts(word) {
    if (codePoints(word).length > 4 * this.longest) return [];
    const listed = word.split(/[-/_.']/).filter(part => this.numbers.has(part));
    return listed.length > 1 ? listed.map(part => this.numbers.get(part)) : [];
  }
  buckets(word) {
    const letters = ['<', ...Array.from(word).slice(0, this.longest), '>'], rows = [];
    for (let size = this.shortestRun; size <= this.longestRun; ++size)
      for (let start = 0; start + size <= letters.length; ++start)
        rows.push(crc32(letters.slice(start, start + size).join('')) % this.subwords);
    return rows.length ? rows : [crc32(letters.join('')) % this.subwords];
  }
  word(written) {  // its vector, its weight, and whether it is listed
    let entry = this.cache.get(written);
    if (entry) return entry;
    const plain = this.reader.spelling(this.reader.lower(written));
    const number = this.numbers.get(plain) ?? this.variant(plain);
    let rows = number === undefined ? this.parts(plain) : [number];
    const listed = rows.length > 0;
    const weight = listed ? rows.reduce((sum, row) => sum + this.weights[row], 0) : this.weights.at(-1);
    if (!listed) rows = this.buckets(plain).map(bucket => this.numbers.size + bucket);
    const vector = new Float64Array(this.size);
    for (const row of rows) {
      const factor = this.scales[row] / rows.length, first = row * this.size;
      for (let n = 0; n < this.size; ++n) vector[n] += factor * this.values[first + n];
    }
    entry = {vector, weight, listed};
    if (this.cache.size > 20000) this.cache.clear();
    this.cache.set(written, entry);
    return entry;
  }
  text(words) {  // the vector of a text at length 1, and the addends of its words
    const entries = words.map(word => this.word(word.text)), vector = new Float64Array(this.size);
    for (const {vector: of, weight} of entries)
      for (let n = 0; n < this.size; ++n) vector[n] += weight * of[n];
    const length = Math.max(Math.hypot(...vector), 1e-12);
    const unlisted = entries.filter(entry => !entry.listed).length;
    return {vector: vector.map(value => value / length), entries, length, unlisted};
  }
}
