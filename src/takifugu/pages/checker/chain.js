// The loss of one step of a chain, from above, in whole numbers. A loss l is carried as e^l with 256 binary places, and no logarithm
// is taken. The theorems are those of Takifugu's page "Influence"; the arithmetic is this file's own.

const MOST_STEPS = 20000, MOST_OF_MANY = 2000;   // a recursion that has not settled by then is left; the second from four states on
const MOST_JUMP = 16n;

const pairs = k => Array.from({ length: k * k }, (_, i) => [Math.floor(i / k), i % k]).filter(([u, v]) => u !== v);
const square = (k, entry) => Array.from({ length: k }, (_, u) => Array.from({ length: k }, (_, v) => entry(u, v)));
const nothing = k => square(k, () => ONE);
const each = (a, b, join) => a.map((row, u) => row.map((x, v) => join(x, b[u][v])));

// Rows of whole numbers over one common number, each row divided by its sum: {rows, total}.
function wholeRows(matrix) {
  const rows = matrix.map(row => {
    const under = row.reduce((d, x) => d / divisor(d, x[1]) * x[1], 1n);
    return row.map(([n, d]) => n * (under / d));
  });
  const sums = rows.map(row => row.reduce((s, x) => s + x, 0n));
  if (sums.some(sum => sum === 0n)) throw new Refused("a row of the matrix has no probability");
  const total = sums.reduce((m, s) => m / divisor(m, s) * s, 1n);
  return reduced({ rows: rows.map((row, u) => row.map(x => x * (total / sums[u]))), total });
}

function reduced({ rows, total }) {
  const common = rows.flat().reduce(divisor, total);
  return { rows: rows.map(row => row.map(x => x / common)), total: total / common };
}

const lowest = ([n, d]) => { const common = divisor(n, d); return [n / common, d / common]; };

// The law of a chain that began long before, up to a factor. The last state is left out, again and again, and nothing is subtracted.
function lawOf({ rows }) {
  const p = rows.map(row => row.map(x => [x, 1n])), law = [[1n, 1n]];
  for (let last = p.length - 1; last > 0; last--) {
    const left = p[last].slice(0, last).reduce(plus);
    if (left[0] === 0n) throw new Refused("some states of the chain are left for ever");
    for (let u = 0; u < last; u++) {
      p[u][last] = lowest(over(p[u][last], left));
      for (let v = 0; v < last; v++) p[u][v] = lowest(plus(p[u][v], times(p[u][last], p[last][v])));
    }
  }
  for (let v = 1; v < p.length; v++) law.push(lowest(law.map((mass, u) => times(mass, p[u][v])).reduce(plus)));
  const under = law.reduce((d, mass) => d / divisor(d, mass[1]) * mass[1], 1n);
  return law.map(([n, d]) => n * (under / d));
}

// The same chain from its end to its start.
function backwards(chain) {
  const law = lawOf(chain);
  if (law.some(mass => mass === 0n)) throw new Refused("some states of the chain are left for ever");
  return wholeRows(chain.rows.map((_, s) => chain.rows.map((row, u) => [law[u] * row[s], 1n])));
}

function product(a, b) {
  const rows = a.rows.map(row => b.rows[0].map((_, v) => row.reduce((sum, x, w) => sum + x * b.rows[w][v], 0n)));
  return reduced({ rows, total: a.total * b.total });
}

// Shortest paths.
function closed(ratio) {
  let least = ratio;
  for (let w = 0; w < ratio.length; w++) {
    const through = square(ratio.length, (u, v) => timesUp(least[u][w], least[w][v]));
    least = each(least, through, smaller);
  }
  return least;
}

// One direction of a chain: what steps, and several at once, do to a loss. `change` is e^c of the noise, for each two values.
function directionOf(chain, change, jumps) {
  const powers = [null, chain], most = change.flat().reduce(larger), between = [ONE, ONE];
  for (let d = 2; d <= Math.max(...jumps); d++) {
    powers.push(product(powers[d - 1], chain));
    between.push(timesUp(between[d - 1], most));
  }
  const trees = jumps.map(() => ({}));
  const ofJump = (d, loss) => suprema(powers[d], each(change, loss, timesUp), trees[jumps.indexOf(d)]).map((row, u) => row.map((x, v) => u === v ? ONE : timesUp(x, between[d])));
  return before => {   // before(d) is the loss d steps nearer to the end, or nothing
    const losses = jumps.map(d => [d, before(d)]).filter(([, loss]) => loss).map(([d, loss]) => ofJump(d, loss));
    return closed(losses.reduce((a, b) => each(a, b, smaller)));
  };
}

const isWithin = (a, b) => a.every((row, u) => row.every((x, v) => x <= b[u][v]));

// Whether a bound is one of every step: it is not below 0, and one step, with all its jumps, does not exceed it.
function keeps(direction, bound) {
  return isWithin(nothing(bound.length), bound) && isWithin(direction(() => bound), bound);
}

// The losses of the steps, from an end on, until they have settled. A step never expands, so a bound that it does not exceed is one
// for all farther steps.
function followed(direction, k, length, bound) {
  const losses = [nothing(k)], most = k < 4 ? MOST_STEPS : MOST_OF_MANY;
  for (let t = 1; t < length; t++) {
    let next = direction(d => losses[t - d]);
    if (bound) next = each(next, bound, smaller);
    losses.push(next);
    if (t % 16 === 0) {
      for (const places of [200n, 100n, 60n, 44n]) {
        const wide = next.map((row, u) => row.map((x, v) => u === v ? ONE : x + (x >> places)));
        if (keeps(direction, wide) && losses.slice(-16).every(loss => isWithin(loss, wide))) {
          losses[t] = wide;
          return losses;
        }
      }
      if (bound && isWithin(bound, next.map(row => row.map(x => x + (x >> 50n))))) { losses[t] = bound; return losses; }
    }
    if (t > most) {
      if (bound) { losses[t] = bound; return losses; }
      throw new Refused(`the loss has not settled after ${most.toLocaleString("en")} steps`);
    }
  }
  return losses;
}

// e^loss of any one step of a recording, or of any `run` of them in a row, from above. `settled` are the bounds of a certificate,
// {after, before}, or nothing; `promised` is e^epsilon from below: where the bounds keep it, no step is followed.
function stepLoss(chain, change, jumps, length, settled, promised, run = 1) {
  const k = chain.rows.length, apart = pairs(k), most = change.flat().reduce(larger), steps = Math.min(run, length);
  let inside = ONE;   // of the steps between the first and the last one of a run
  for (let s = 2; s < steps; s++) inside = timesUp(inside, most);
  const ahead = directionOf(chain, change, jumps), behind = directionOf(backwards(chain), change, jumps);
  const { after = null, before = null } = settled ?? {};
  const broken = [["after", ahead, after], ["before", behind, before]].filter(([, direction, bound]) => bound && !keeps(direction, bound)).map(([side]) => side);
  const end = loss => apart.reduce((top, [a, b]) => larger(top, timesUp(change[a][b], loss[a][b])), ONE);
  const both = (loss, rest) => apart.reduce((top, [a, b]) => larger(top, timesUp(timesUp(change[a][b], loss[a][b]), rest[a][b])), ONE);
  const worst = (loss, rest) => steps === 1 ? both(loss, rest) : timesUp(timesUp(end(loss), inside), end(rest));
  if (after && before && !broken.length) {
    const loss = worst(after, before);
    if (loss <= promised) return { loss, steps: 0, broken };
  }
  const right = followed(ahead, k, length, broken.includes("after") ? null : after);
  const left = followed(behind, k, length, broken.includes("before") ? null : before);
  const at = (losses, t) => losses[Math.min(t, losses.length - 1)];
  const firsts = length - steps + 1;   // where a run may begin
  let loss = ONE;
  for (let t = 0; t < Math.min(firsts, left.length + 1); t++) loss = larger(loss, worst(at(right, firsts - 1 - t), at(left, t)));
  for (let t = 0; t < Math.min(firsts, right.length + 1); t++) loss = larger(loss, worst(at(right, t), at(left, firsts - 1 - t)));
  return { loss, steps: Math.max(right.length, left.length), broken };
}
