// The loss of one step of a chain, from above, in whole numbers. A loss l is carried as e^l with 256 binary places, and no logarithm
// is taken. The theorems are those of Takifugu's page "Influence"; the arithmetic is this file's own.

const MOST_STEPS = 20000;    // a recursion that has not settled by then is left
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

// Spanning trees that lead to a state, weighed by their steps: the law of a chain that began long before, up to a factor.
function lawOf({ rows: p }) {
  if (p.length === 2) return [p[1][0], p[0][1]];
  return [[0, 1, 2], [1, 0, 2], [2, 0, 1]].map(([i, j, k]) => p[j][i] * p[k][i] + p[j][i] * p[k][j] + p[j][k] * p[k][i]);
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

// Shortest paths: for at most three states two steps are enough.
function closed(ratio) {
  return square(ratio.length, (u, v) => ratio.reduce((least, row, w) => smaller(least, timesUp(ratio[u][w], row[v])), ratio[u][v]));
}

// The extreme rays of the cone of a closed ratio, for at most three states: from one state to the others, and to one from the others.
function rays(ratio) {
  const states = ratio.map((_, u) => u);
  const to = states.map(v => states.map(u => ratio[u][v]));
  const from = states.map(v => {
    const others = states.filter(w => w !== v);
    return states.map(u => others.reduce((m, w) => w === u ? m * ONE : m * ratio[v][w], 1n));
  });
  return [...to, ...from];
}

// e^S of rows a and b, the most by which their means of a function in the cone can differ. The last term covers what the rounding of a
// ratio that is closed up to 2^-250 does to its rays.
function suprema({ rows }, ratio) {
  const all = rays(closed(ratio)).map(ray => rows.map(row => row.reduce((sum, p, u) => sum + p * ray[u], 0n)));
  return square(rows.length, (a, b) => {
    if (a === b) return ONE;
    const most = all.reduce((top, means) => larger(top, ceilingOf(means[a] * ONE, means[b])), ONE);
    return most + (most >> 200n) + 1n;
  });
}

// One direction of a chain: what steps, and several at once, do to a loss. `change` is e^c of the noise, for each two values.
function directionOf(chain, change, jumps) {
  const powers = [null, chain], most = change.flat().reduce(larger), between = [ONE, ONE];
  for (let d = 2; d <= Math.max(...jumps); d++) {
    powers.push(product(powers[d - 1], chain));
    between.push(timesUp(between[d - 1], most));
  }
  const ofJump = (d, loss) => suprema(powers[d], each(change, loss, timesUp)).map((row, u) => row.map((x, v) => u === v ? ONE : timesUp(x, between[d])));
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
  const losses = [nothing(k)];
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
      if (bound && t > 512 && isWithin(bound, next.map(row => row.map(x => x + (x >> 30n))))) { losses[t] = bound; return losses; }
    }
    if (t > MOST_STEPS) {
      if (bound) { losses[t] = bound; return losses; }
      throw new Refused(`the loss has not settled after ${MOST_STEPS.toLocaleString("en")} steps`);
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
