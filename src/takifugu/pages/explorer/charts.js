// The pictures, as SVG text. Every one has a sentence as its label; names of states are escaped.

const WIDE = 760, NARROW = 380;

function svg(width, height, label, body) {
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">${body}</svg>`;
}
const line = (name, x1, y1, x2, y2) => `<line class="${name}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
const rectangle = (name, x, y, width, height) => `<rect class="${name}" x="${x}" y="${y}" width="${width}" height="${height}"/>`;
const text = (name, x, y, anchor, words) => `<text class="${name}" x="${x}" y="${y}" text-anchor="${anchor}">${escaped(words)}</text>`;
const polyline = (name, points) =>
  `<polyline class="${name}" points="${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}"/>`;

/** A table by hour: a band and a line each hour, and the made-up truth. Values in steps. */
function hoursChart(width, values, truth, half, unit) {
  const height = 220, step = (width - 54) / 24, bar = step * .66;
  const top = 1.04 * Math.max(...values.map(v => v + half), ...truth), bottom = Math.min(0, ...values.map(v => v - half));
  const x = hour => 44 + (hour + .5) * step, y = v => 12 + (height - 40) * (top - v) / (top - bottom);
  let body = line("axis", 40, y(0), width, y(0));
  for (const share of [.5, 1]) {
    const v = top * share / 1.04;
    body += text("soft", 36, y(v) + 4, "end", `${shortNumber(v * unit / 60, 2)} h`) + line("axis dotted", 40, y(v), width, y(v));
  }
  values.forEach((v, hour) => {
    const faded = v < half ? " faded" : "", left = x(hour) - bar / 2;
    body += rectangle("fish-soft" + faded, left, y(v + half), bar, y(v - half) - y(v + half));
    body += line("whisker" + faded, left, y(v), left + bar, y(v));
    body += `<circle class="ink" r="2.4" cx="${x(hour)}" cy="${y(truth[hour])}"/>`;
    if (hour % (width === NARROW ? 6 : 3) === 0) body += text("soft", x(hour), height - 4, "middle", `${hour}:00`);
  });
  const least = Math.min(...values), most = Math.max(...values);
  const label = `24 hours of the day, from ${duration(least * unit)} to ${duration(most * unit)}, each plus or minus ${duration(half * unit)}`;
  return svg(width, height, label, body);
}

/** A table of few cells: a bar each, its band, and the made-up truth. Values in steps. */
function barsChart(width, names, values, truth, half, unit) {
  const left = width === NARROW ? 84 : 110, right = 118, height = names.length * 46 + 14;
  const top = 1.04 * Math.max(...values.map(v => v + half), ...truth), bottom = Math.min(0, ...values.map(v => v - half));
  const x = v => left + (width - left - right) * (v - bottom) / (top - bottom);
  let body = "";
  values.forEach((v, i) => {
    const y = 8 + i * 46, faded = v < half ? " faded" : "", words = v < half ? "noise" : duration(v * unit);
    body += text("", left - 10, y + 20, "end", names[i]);
    body += rectangle("fish" + faded, x(Math.min(0, v)), y, Math.abs(x(v) - x(0)), 28);
    body += rectangle("fish-soft band", x(v - half), y + 8, x(v + half) - x(v - half), 12);
    body += line("whisker", x(v - half), y + 14, x(v + half), y + 14);
    body += line("truth", x(truth[i]), y - 4, x(truth[i]), y + 32) + text("", width, y + 20, "end", words);
  });
  body += line("axis", x(0), 2, x(0), height - 6);
  const label = names.map((name, i) => `${name}: ${duration(values[i] * unit)} plus or minus ${duration(half * unit)}`).join("; ");
  return svg(width, height, label, body);
}

/** A hundred dots, of which `count` are filled. */
function dotsChart(count) {
  let body = "";
  for (let i = 0; i < 100; i++) {
    body += `<circle class="${i < count ? "hue" : "hue-soft"}" cx="${6 + i % 10 * 12}" cy="${6 + Math.floor(i / 10) * 12}" r="4.6"/>`;
  }
  return svg(120, 120, `${count} of 100 dots are filled`, body);
}

function percentAxis(width, marks, left, y) {
  return marks.map(p => line("axis", left, y(p), width, y(p)) + text("soft", left - 4, y(p) + 4, "end", `${p * 100} %`)).join("");
}

/** The reader's probability of each step, under ordinary noise and under Takifugu's, between the bounds of the guarantee. */
function stepsChart(width, { ordinary, takifugu, bounds, path, name, span }) {
  const T = path.length, left = 46, x = t => left + (width - left - 4) * t / T, y = p => 12 + 120 * (1 - p);
  let body = percentAxis(width, [0, .5, 1], left, y);
  for (const p of bounds) body += line("lid", left, y(p), width, y(p));
  for (const [hue, probabilities] of [["bad-hue thin", ordinary], ["fish-hue thick", takifugu]]) {
    body += polyline(`${hue} stroke`, Array.from(probabilities, (p, t) => [x(t + .5), y(p)]));
  }
  for (let first = 0, t = 1; t <= T; t++) {
    if (t < T && path[t] === path[first]) continue;
    if (path[first]) body += rectangle("ink", x(first), 146, x(t) - x(first), 14);
    first = t;
  }
  body += line("axis", left, 160, width, 160) + text("soft", left, 180, "start", `▮ ${name}, in truth`);
  body += text("soft", width, 180, "end", span);
  body += text("fish small", width, y(bounds[0]) - 5, "end", `guarantee: at most ${percent(bounds[0])}`);
  return svg(width, 190, `The reader's probability of “${name}” at each of ${integer(T)} steps`, body);
}

/** What a half-sure reader becomes after 1 to 52 tables: by the recursion, and by adding up. */
function weeksChart(width, numbers, joint, added) {
  const left = 50, x = i => left + (width - left - 30) * i / (numbers.length - 1), y = p => 10 + 240 * (1 - p);
  const points = gains => gains.map((gain, i) => [x(i), y(posteriorBound(.5, gain))]);
  let body = percentAxis(width, [.5, .75, 1], left - 6, y);
  body += polyline("group-hue stroke dashed", points(added)) + polyline("fish-hue stroke", points(joint));
  points(joint).forEach(([px, py], i) => {
    body += `<circle class="fish" r="4" cx="${px}" cy="${py}"/>` + text("soft", px, 150, "middle", numbers[i]);
  });
  body += text("soft", width, 168, "end", "tables, one after the other");
  const ends = [0, numbers.length - 1].map(i => percent(posteriorBound(.5, joint[i])));
  return svg(width, 170, `50 % can become ${ends[0]} after one table and ${ends[1]} after ${numbers.at(-1)}`, body);
}
