// Exact numbers: fractions of whole numbers, and fixed-point numbers of 256 binary places that are rounded outwards. No floating
// point decides anything here: it only shows results.

const PLACES = 256n, ONE = 1n << PLACES;
const LONGEST_NUMBER = 10000;   // characters, as in Takifugu

const ceilingOf = (n, d) => { const q = n / d; return q * d < n ? q + 1n : q; };   // d > 0
const floorOf = (n, d) => { const q = n / d; return q * d > n ? q - 1n : q; };
const timesUp = (x, y) => (x * y + ONE - 1n) >> PLACES;
const timesDown = (x, y) => (x * y) >> PLACES;
const larger = (x, y) => x > y ? x : y;
const smaller = (x, y) => x < y ? x : y;

function divisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

// A number as a certificate writes it: whole, a decimal without exponent and without a last 0, or a fraction in lowest terms.
function fraction(text) {
  if (typeof text !== "string" || text.length > LONGEST_NUMBER) throw new Refused("a number is not in the form of a certificate");
  const parts = /^(-?)(0|[1-9]\d*)(?:\.(\d*[1-9])|\/([1-9]\d*))?$/.exec(text);
  const bad = () => new Refused(`“${text.slice(0, 40)}” is not a number in the form of a certificate`);
  if (!parts) throw bad();
  const [, minus, whole, places = "", under] = parts;
  const n = BigInt(whole + places), d = under ? BigInt(under) : 10n ** BigInt(places.length);
  if (minus && n === 0n || under && (d === 1n || divisor(n, d) !== 1n)) throw bad();
  return [minus ? -n : n, d];
}

// The exact fraction that a floating-point number is.
function ofDouble(value) {
  if (!Number.isFinite(value) || value < 0) throw new Refused("a probability is not a number from 0");
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const high = BigInt(view.getUint32(0)), low = BigInt(view.getUint32(4));
  const bits = high << 32n | low, exponent = bits >> 52n & 0x7ffn, mantissa = bits & (1n << 52n) - 1n;
  const whole = exponent ? mantissa | 1n << 52n : mantissa, shift = (exponent || 1n) - 1075n;
  return shift >= 0n ? [whole << shift, 1n] : [whole, 1n << -shift];
}

const compare = ([a, b], [c, d]) => { const x = a * d, y = c * b; return x < y ? -1 : x > y ? 1 : 0; };
const plus = ([a, b], [c, d]) => b === d ? [a + c, b] : [a * d + c * b, b * d];
const minus = (x, [c, d]) => plus(x, [-c, d]);
const times = ([a, b], [c, d]) => [a * c, b * d];
const over = ([a, b], [c, d]) => c < 0n ? [-a * d, -b * c] : [a * d, b * c];   // c is not 0

// e^x of a fraction from 0 to 200, between two fixed-point numbers: Taylor's series at x/2^k below 1/2, then k squarings.
function exponential([n, d]) {
  if (n < 0n || n > 200n * d) throw new Refused("a loss is outside 0 to 200");
  let k = 0n, low = ONE, high = ONE, lowTerm = ONE, highTerm = ONE;
  while (2n * n > d << k) k++;
  const q = d << k;
  for (let i = 1n; highTerm > 1n; i++) {
    lowTerm = lowTerm * n / (q * i);
    highTerm = ceilingOf(highTerm * n, q * i);
    low += lowTerm;
    high += highTerm;
    if (n === 0n) break;
  }
  high += 2n * highTerm;   // the rest is less than the last term, since x/2^k is below 1/2
  for (let i = 0n; i < k; i++) [low, high] = [timesDown(low, low), timesUp(high, high)];
  return [low, high];
}

// e^-x, between two fixed-point numbers.
function decay(x) {
  if (x[0] > 200n * x[1]) return [0n, 1n];
  const [low, high] = exponential(x);
  return [ONE * ONE / high, ceilingOf(ONE * ONE, low)];
}

// To be shown: the natural logarithm, and a fraction, as floating-point numbers.
function logarithm(x) {
  const bits = x.toString(16).length * 4 - 60, kept = bits > 0 ? Number(x >> BigInt(bits)) : Number(x);
  return Math.log(kept) + (Math.max(bits, 0) - 256) * Math.LN2;
}

function nearly([n, d]) {
  const size = x => x.toString(16).length * 4, shift = BigInt(Math.max(0, 80 - size(n < 0n ? -n : n) + size(d)));
  return Number((n << shift) / d) / 2 ** Number(shift);
}

// A positive floating-point number with so many digits, never less.
function shownUp(value, digits = 12) {
  if (!(value > 0)) return "0";
  const unit = 10 ** (Math.floor(Math.log10(value)) + 1 - digits), next = Math.ceil(value / unit - 1e-4) * unit;
  return String(Number(next.toPrecision(digits)));
}
