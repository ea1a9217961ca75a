// Files: JSON whose numbers keep their text, its canonical form, SHA-256, and tables of comma-separated values.

class Refused extends Error {}   // what cannot be read, or is not checked here: in words for the reader

class Num {
  constructor(text) { this.text = text; }
}

const DEEPEST = 60;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, TEXT = /"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"/y, SPACE = /[ \t\n\r]*/y;

// JSON.parse would make 1 of 1.0, and of a key that is there twice it would take the last one.
function parseJson(text, what = "the certificate") {
  let place = 0;
  const fail = what => { throw new Refused(`${what} is not JSON, or was cut off (at character ${place + 1}: ${what})`); };
  const take = pattern => {
    pattern.lastIndex = place;
    const found = pattern.exec(text);
    if (found) place += found[0].length;
    return found && found[0];
  };
  const space = () => { take(SPACE); };
  function string() {
    const raw = take(TEXT);
    if (raw === null) fail("a text is expected");
    try { return JSON.parse(raw); } catch { return fail("a text is not one"); }
  }
  function items(end, item) {
    space();
    if (text[place] === end) { place++; return; }
    for (;;) {
      item();
      space();
      const next = text[place++];
      if (next === end) return;
      if (next !== ",") { place--; fail(`“,” or “${end}” is expected`); }
    }
  }
  function value(depth) {
    if (depth > DEEPEST) fail("it is nested too deeply");
    space();
    const first = text[place];
    if (first === "{") {
      place++;
      const object = Object.create(null);
      items("}", () => {
        space();
        const key = string();
        if (key in object) throw new Refused(`${what} has the field “${key.slice(0, 60)}” twice, so nobody knows which one counts`);
        space();
        if (text[place++] !== ":") { place--; fail("“:” is expected"); }
        object[key] = value(depth + 1);
      });
      return object;
    }
    if (first === "[") {
      place++;
      const list = [];
      items("]", () => { list.push(value(depth + 1)); });
      return list;
    }
    if (first === '"') return string();
    for (const [word, meaning] of [["true", true], ["false", false], ["null", null]]) {
      if (text.startsWith(word, place)) { place += word.length; return meaning; }
    }
    const number = take(NUMBER);
    return number === null ? fail("a value is expected") : new Num(number);
  }
  if (text[0] === "\ufeff") place = 1;
  const all = value(0);
  space();
  if (place < text.length) fail("something follows it");
  return all;
}

const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Num);

function byCodePoints(a, b) {   // sort() alone would go by halves of characters
  const x = Array.from(a, c => c.codePointAt(0)), y = Array.from(b, c => c.codePointAt(0));
  for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return x[i] - y[i];
  return x.length - y.length;
}

const escapedUnit = unit => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
const textOf = text => JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapedUnit);

// The canonical form: keys in the order of code points, no spaces, and ASCII alone.
function canonical(value) {
  if (value instanceof Num) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (isObject(value)) return `{${Object.keys(value).sort(byCodePoints).map(key => `${textOf(key)}:${canonical(value[key])}`).join(",")}}`;
  return typeof value === "string" ? textOf(value) : String(value);
}

const asciiBytes = text => Uint8Array.from(text, c => c.charCodeAt(0));

function firstPrimes(count) {
  const primes = [];
  for (let n = 2; primes.length < count; n++) if (primes.every(p => n % p)) primes.push(n);
  return primes;
}

// The first 32 bits behind the point of the roots of primes, by whole numbers.
function rootBits(prime, degree) {
  const wanted = BigInt(prime) << BigInt(32 * degree);
  let low = 0n, high = 1n << 40n;
  while (high - low > 1n) {
    const middle = low + high >> 1n;
    if (middle ** BigInt(degree) <= wanted) low = middle; else high = middle;
  }
  return Number(low & 0xffffffffn) | 0;
}

const ROUNDS = firstPrimes(64).map(p => rootBits(p, 3)), START = firstPrimes(8).map(p => rootBits(p, 2));

// SHA-256 (FIPS 180-4) of bytes, as certificates write it. A page that was opened as a file need not have Web Crypto.
function digestOf(bytes) {
  const length = bytes.length, blocks = Math.ceil((length + 9) / 64), state = Int32Array.from(START), w = new Int32Array(64);
  const turn = (x, n) => x >>> n | x << 32 - n;
  const tail = new Uint8Array(128), whole = Math.floor(length / 64);
  tail.set(bytes.subarray(whole * 64));
  tail[length - whole * 64] = 0x80;
  const end = (blocks - whole) * 64, bits = BigInt(length) * 8n;
  for (let i = 0; i < 8; i++) tail[end - 1 - i] = Number(bits >> BigInt(8 * i) & 0xffn);
  for (let block = 0; block < blocks; block++) {
    const [from, at] = block < whole ? [bytes, block * 64] : [tail, (block - whole) * 64];
    for (let i = 0; i < 16; i++) w[i] = from[at + 4 * i] << 24 | from[at + 4 * i + 1] << 16 | from[at + 4 * i + 2] << 8 | from[at + 4 * i + 3];
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15], y = w[i - 2];
      w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >>> 3) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + ROUNDS[i] + w[i] | 0;
      const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, d + first | 0, c, b, a, first + second | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => { state[i] = state[i] + x | 0; });
  }
  return "sha256:" + Array.from(state, x => (x >>> 0).toString(16).padStart(8, "0")).join("");
}

// The lines of a table, each a list of texts (RFC 4180).
function parseTable(text) {
  const lines = [];
  let line = [], place = text[0] === "\ufeff" ? 1 : 0;
  while (place < text.length) {
    let cell = "";
    if (text[place] === '"') {
      for (;;) {
        const end = text.indexOf('"', place + 1);
        if (end < 0) throw new Refused("the table is not one: a quotation mark is not closed");
        cell += text.slice(place + 1, end);
        place = end + 1;
        if (text[place] !== '"') break;
        cell += '"';
      }
    } else {
      const end = /[,\r\n]|$/g;
      end.lastIndex = place;
      const stop = end.exec(text).index;
      cell = text.slice(place, stop);
      place = stop;
    }
    line.push(cell);
    if (text[place] === ",") {
      place++;
      if (place < text.length) continue;
      line.push("");
    } else if (place < text.length && !/[\r\n]/.test(text[place])) throw new Refused("the table is not one: text follows a quotation mark");
    if (text.startsWith("\r\n", place)) place += 2; else place++;
    lines.push(line);
    line = [];
  }
  return lines;
}
