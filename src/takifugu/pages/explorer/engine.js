// The loss of a step, or of a run of steps, of a Markov chain under Laplace noise, and the least scale for an epsilon.
//
// Theorems 1 and 2 of the page "influence" for two and three states and a stationary start; three states also take
// jumps of 2 and 4 steps. Theorem 18 for runs. Rounded to nearest: Takifugu's own calibration rounds up.
// Notation: c(u, v) = change(u, v)/scale; R[j](u, v) is what j later steps tell of u against v, L[j] the same of earlier ones.

const JUMPS = [1, 2, 4];

function product(A, B) {
  return A.map(row => B[0].map((_, j) => row.reduce((sum, x, i) => sum + x * B[i][j], 0)));
}

/** The stationary law, by cofactors (Markov chain tree theorem), so that nothing cancels. */
function stationary(P) {
  const weights = P.length === 2 ? [P[1][0], P[0][1]] : [0, 1, 2].map(i => {
    const [a, b] = others(i);
    return P[a][i] * P[b][i] + P[a][b] * P[b][i] + P[b][a] * P[a][i];
  });
  const sum = weights.reduce((total, x) => total + x, 0);
  return weights.map(x => x / sum);
}

const others = i => [0, 1, 2].filter(j => j !== i);

/** The matrix of the chain read backwards, whose law is `law`. */
function reversed(P, law) {
  return P.map((_, s) => P.map((_, u) => law[u] * P[u][s] / law[s]));
}

/** Close rho (flat, 3 by 3) in place: no entry is above the sum of two others on a way around it. */
function close(rho) {
  for (let w = 0; w < 3; w++) for (let u = 0; u < 3; u++) for (let v = 0; v < 3; v++) {
    if (u !== v) rho[3 * u + v] = Math.min(rho[3 * u + v], rho[3 * u + w] + rho[3 * w + v]);
  }
}

/** S of Theorem 2: for rows u, v of K the largest log of (K phi)(u)/(K phi)(v), over phi in the cone of rho, by its six stars. */
const STARS = new Float64Array(18);
function suprema(K, rho, out) {
  close(rho);
  out.fill(0);
  const most = Math.max(...rho);
  if (most === 0) return;
  for (let v = 0; v < 3; v++) {
    const top = Math.max(rho[v], rho[3 + v], rho[6 + v]);
    for (let u = 0; u < 3; u++) {
      STARS[6 * v + u] = Math.exp(rho[3 * u + v] - top);
      STARS[6 * v + 3 + u] = Math.exp(-rho[3 * v + u]);
    }
  }
  for (let star = 0; star < 18; star += 3) {
    const x = STARS[star], y = STARS[star + 1], z = STARS[star + 2];
    const first = K[0] * x + K[1] * y + K[2] * z;
    const second = K[3] * x + K[4] * y + K[5] * z;
    const third = K[6] * x + K[7] * y + K[8] * z;
    if (first > out[1] * second) out[1] = first / second;
    if (first > out[2] * third) out[2] = first / third;
    if (second > out[3] * first) out[3] = second / first;
    if (second > out[5] * third) out[5] = second / third;
    if (third > out[6] * first) out[6] = third / first;
    if (third > out[7] * second) out[7] = third / second;
  }
  for (let i = 0; i < 9; i++) if (i % 4) out[i] = Math.min(most, Math.max(0, Math.log(out[i])));
}

/** R[0], R[1], ... of three states, until they settle: each as nine numbers. */
function sweepOfThree(kernel, change, length) {
  const c = Float64Array.from(change.flat()), most = Math.max(...c);
  const rho = new Float64Array(9), jumped = new Float64Array(9), sides = [new Float64Array(9)];
  const powers = [kernel];
  for (const jump of JUMPS.slice(1)) powers.push(product(powers.at(-1), powers.at(-1)));
  const kernels = powers.map(power => Float64Array.from(power.flat()));
  while (sides.length < length) {
    const j = sides.length, side = new Float64Array(9);
    JUMPS.forEach((jump, which) => {
      if (j < jump) return;
      for (let i = 0; i < 9; i++) rho[i] = c[i] + sides[j - jump][i];
      suprema(kernels[which], rho, jump === 1 ? side : jumped);
      if (jump === 1) return;
      for (let i = 0; i < 9; i++) if (i % 4) side[i] = Math.min(side[i], (jump - 1) * most + jumped[i]);
    });
    close(side);
    sides.push(side);
    if (j > 8 && j % 4 === 0 && haveSettled(side, sides[j - 4])) break;
  }
  return sides;
}

function haveSettled(side, before) {
  let moved = 0, size = 1;
  for (let i = 0; i < 9; i++) {
    moved = Math.max(moved, Math.abs(side[i] - before[i]));
    size = Math.max(size, side[i]);
  }
  return moved < 1e-15 * size;
}

/** R[0], R[1], ... of two states, until they settle: [0, R(0, 1), R(1, 0), 0]. A chain of two states is its own reverse. */
function sweepOfTwo(P, c, length) {
  const [[stay, leave], [back, remain]] = P, sides = [[0, 0, 0, 0]];
  let up = 0, down = 0;
  for (let j = 1; j < length; j++) {
    const most = Math.max(c + up, c + down);
    const high = logRatio(remain, back, leave, stay, Math.exp(-(c + up)));
    const low = logRatio(back, remain, stay, leave, Math.exp(-(c + down)));
    const rise = Math.min(most, Math.max(high, low, 0)), fall = Math.min(most, Math.max(-high, -low, 0));
    const moved = Math.abs(rise - up) + Math.abs(fall - down);
    up = rise;
    down = fall;
    sides.push([0, down, up, 0]);
    if (moved <= 4.5e-16 * (1 + rise + fall)) break;   // two units in the last place: it may go to and fro
  }
  return sides;
}

/** log((a + b e)/(p + q e)) where a + b = p + q = 1, exact where both are alike. */
function logRatio(a, b, p, q, e) {
  const above = a + b * e, below = p + q * e;
  const areApart = above < below / 2 || above > 2 * below;
  return areApart ? Math.log(above / below) : Math.log1p((b - q) * (e - 1) / below);
}

/** The largest loss of any `run` steps in a row of a chain of `length` steps. */
function loss(P, length, change, scale, run = 1) {
  const rates = change.map(row => row.map(x => x / scale)), c = rates.flat(), most = Math.max(...c);
  let later, earlier;
  if (P.length === 2) later = earlier = sweepOfTwo(P, c[1], length);
  else {
    later = sweepOfThree(P, rates, length);
    earlier = sweepOfThree(reversed(P, stationary(P)), rates, length);
  }
  const room = length - run;
  const at = (side, j) => side[Math.min(j, side.length - 1)];
  let worst = 0;
  const examine = i => {
    const L = at(earlier, i), R = at(later, room - i);
    if (run === 1) for (let j = 0; j < c.length; j++) worst = Math.max(worst, c[j] + L[j] + R[j]);
    else {
      const first = Math.max(...c.map((x, j) => x + L[j])), last = Math.max(...c.map((x, j) => x + R[j]));
      worst = Math.max(worst, first + (run - 2) * most + last);
    }
  };
  for (let i = 0; i <= Math.min(room, earlier.length); i++) examine(i);   // near the start
  for (let i = Math.max(0, room - later.length); i <= room; i++) examine(i);   // near the end
  return worst;
}

/** The least scale with loss <= epsilon: regula falsi (Illinois) in the rate 1/scale, on the side that keeps epsilon. */
function leastScale(P, length, change, epsilon, run = 1) {
  const most = Math.max(...change.flat());
  const excess = rate => loss(P, length, change, 1 / rate, run) - epsilon;
  let low = epsilon / (most * Math.max(length, run)), high = epsilon / (most * run);
  let below = Math.min(0, excess(low)), above = excess(high), side = 0;
  if (above <= 0) return 1 / high;
  for (let n = 0; n < 200 && high - low > 2e-15 * high; n++) {
    let rate = below === 0 ? (low + high) / 2 : (low * above - high * below) / (above - below);
    if (n % 12 === 11 || !(rate > low && rate < high)) rate = (low + high) / 2;
    const value = excess(rate);
    if (value <= 0) {
      [low, below] = [rate, value];
      if (side === -1) above /= 2;
      side = -1;
      if (value > -1e-14 * epsilon) break;
    } else {
      [high, above] = [rate, value];
      if (side === 1) below /= 2;
      side = 1;
    }
  }
  return 1 / low;
}

/** How far the answer moves when one step changes from u to v. */
function changeOf(query, k, counted) {
  const states = Array.from({ length: k }, (_, u) => u);
  return states.map(u => states.map(v => {
    if (u === v) return 0;
    if (query === "histogram") return 2;
    return (u === counted) !== (v === counted) ? 1 : 0;
  }));
}

/** The half-width that holds all `cells` values at once with probability 95 %, of Laplace noise. */
function halfWidth(scale, cells) {
  return -scale * Math.log(-Math.expm1(Math.log(.95) / cells));
}
