// Numbers in words: the same in sentences, in pictures and for screen readers.

const integer = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

/** A number with so many significant digits, at most four behind the point. */
function shortNumber(x, digits = 3) {
  if (Math.abs(x) >= 1000) return integer(x);
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(x) || 1)));
  return x.toFixed(Math.min(places, 4)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** A probability in percent, with the digits that tell it from 0 and 1. */
function percent(p) {
  if (p >= 1) return "100 %";
  const rest = Math.min(p, 1 - p);
  if (rest < 5e-6) return p > .5 ? "over 99.999 %" : "under 0.001 %";
  let places = 0;
  if (p > .99 || p < .01) places = Math.min(6, Math.max(0, -Math.floor(Math.log10(rest)) - 2 + (rest < .0995 ? 1 : 0)));
  else if (rest < .0995) places = 1;
  return `${(p * 100).toFixed(places)} %`;
}

/** A length of time. */
function duration(minutes) {
  const size = Math.abs(minutes);
  if (size < 100) return `${shortNumber(minutes, 2)} ${size === 1 ? "minute" : "minutes"}`;
  if (size < 72 * 60) return `${shortNumber(minutes / 60, size < 600 ? 2 : 3)} hours`;
  return `${shortNumber(minutes / 1440, size < 14400 ? 2 : 3)} days`;
}

/** Odds of a secret after a loss of `gain` of its log-odds. */
function odds(gain) {
  const ratio = Math.exp(gain);
  if (ratio >= 1) return `${shortNumber(ratio, ratio < 10 ? 2 : 3)} to 1`;
  return `1 to ${shortNumber(1 / ratio, 2)}`;
}

const people = n => n === 1 ? "one person" : `${integer(n)} people`;

/** A text in HTML. */
const escaped = text => String(text).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
