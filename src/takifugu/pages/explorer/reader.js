// What a reader who has a prior becomes: bounds from the loss, and exact posteriors of one recording of two states.

/** The largest probability of a secret after a loss of `gain`, where it was `prior` before. */
function posteriorBound(prior, gain) {
  return 1 / (1 + (1 - prior) / prior * Math.exp(-gain));
}

/** How probable a reader takes what was so, by the mean of its log-odds; `path` says at which steps it was 1. */
function truthOnAverage(probabilities, path) {
  const gains = Array.from(path, (x, t) => {
    const p = Math.min(1 - 2 ** -53, Math.max(2 ** -53, x ? probabilities[t] : 1 - probabilities[t]));
    return Math.log(p / (1 - p));
  });
  return posteriorBound(.5, gains.reduce((sum, gain) => sum + gain, 0) / gains.length);
}

/** The law of the number of 1s in the next n steps, from either state now: laws[state][number]. */
function lawsOfCount(P, n) {
  let laws = [new Float64Array(n + 1), new Float64Array(n + 1)];
  laws[0][0] = laws[1][0] = 1;
  for (let t = 1; t <= n; t++) {
    const next = [new Float64Array(n + 1), new Float64Array(n + 1)];
    for (let x = 0; x < 2; x++) for (let m = 0; m <= t; m++) {
      next[x][m] = P[x][0] * laws[0][m] + (m ? P[x][1] * laws[1][m - 1] : 0);
    }
    laws = next;
  }
  return laws;
}

/**
 * How often the better guess about the step in the middle is right, on average over all tables.
 * A count of T steps of two states, Laplace noise on whole numbers. Sum over outputs y of the larger of the two joint
 * probabilities, as (1 + |their difference|)/2; the noise is a geometric filter to either side.
 */
function rightGuesses(P, T, scale, prior) {
  const middle = T >> 1, before = lawsOfCount(P, middle), after = lawsOfCount(P, T - 1 - middle);
  const lawGiven = x => {
    const law = new Float64Array(T + 1);
    before[x].forEach((p, m) => {
      if (p > 1e-15) after[x].forEach((q, n) => { law[m + n + x] += p * q; });
    });
    return law;
  };
  const ifZero = lawGiven(0), difference = lawGiven(1).map((p, n) => prior * p - (1 - prior) * ifZero[n]);
  const q = Math.exp(-1 / scale), fromAbove = new Float64Array(T + 2);
  for (let y = T; y >= 0; y--) fromAbove[y] = difference[y] + q * fromAbove[y + 1];
  let fromBelow = 0, sum = 0;
  for (let y = 0; y <= T; y++) {
    fromBelow = fromBelow * q + difference[y];
    sum += Math.abs(fromBelow + q * fromAbove[y + 1]);
  }
  sum += (Math.abs(fromBelow) + Math.abs(fromAbove[0])) * q / (1 - q);   // outputs beyond both ends
  return .5 + .5 * sum * (1 - q) / (1 + q);
}

/**
 * The exact probability that each step was 1, given the noisy counts of blocks of steps.
 * `blocks` are [first, last + 1], one after the other; `likelihoods[block][count]` is that of the noisy value.
 * Forward and backward sums over the state and the count so far.
 */
function posteriorOfSteps(P, law, blocks, likelihoods) {
  const forwards = [];
  let start = law.slice();
  blocks.forEach(([first, end], block) => {
    const n = end - first, tables = [[0, 1].map(x => {
      const row = new Float64Array(n + 1);
      row[x] = start[x];
      return row;
    })];
    for (let t = 1; t < n; t++) tables.push(oneStepForward(P, tables[t - 1], t, n));
    forwards.push(tables);
    const ends = tables[n - 1].map(row => row.reduce((sum, p, count) => sum + p * likelihoods[block][count], 0));
    const total = ends[0] + ends[1];
    start = [0, 1].map(v => (ends[0] * P[0][v] + ends[1] * P[1][v]) / total);
  });
  const result = new Float64Array(blocks.at(-1)[1]);
  let rest = [1, 1];   // what later blocks say of the state just before them
  for (let block = blocks.length - 1; block >= 0; block--) {
    const [first, end] = blocks[block], n = end - first;
    let backward = [0, 1].map(x => Float64Array.from(likelihoods[block], p => p * rest[x]));
    for (let t = n - 1; t >= 0; t--) {
      const joint = [0, 1].map(x => forwards[block][t][x].reduce((sum, p, count) => sum + p * backward[x][count], 0));
      result[first + t] = joint[1] / (joint[0] + joint[1]);
      if (t > 0) backward = oneStepBackward(P, backward, n);
    }
    const given = [backward[0][0], backward[1][1]], total = given[0] + given[1];
    rest = [0, 1].map(x => (P[x][0] * given[0] + P[x][1] * given[1]) / total);
  }
  return result;
}

function oneStepForward(P, [zero, one], t, n) {
  const next = [new Float64Array(n + 1), new Float64Array(n + 1)];
  for (let count = 0; count <= t; count++) {
    next[0][count] += zero[count] * P[0][0] + one[count] * P[1][0];
    next[1][count + 1] += zero[count] * P[0][1] + one[count] * P[1][1];
  }
  return next;
}

function oneStepBackward(P, [zero, one], n) {
  const next = [new Float64Array(n + 1), new Float64Array(n + 1)];
  for (let count = 0; count <= n; count++) {
    const ifOne = count < n ? one[count + 1] : 0;
    next[0][count] = P[0][0] * zero[count] + P[0][1] * ifOne;
    next[1][count] = P[1][0] * zero[count] + P[1][1] * ifOne;
  }
  return next;
}

/** The likelihood of a noisy count, up to a factor; a histogram of two states has two noisy values, n and size - n. */
function likelihoodOf(noisy, size, scale) {
  const distances = Array.from({ length: size + 1 }, (_, count) =>
    noisy.reduce((sum, y, which) => sum + Math.abs(y - (which ? size - count : count)), 0));
  const least = Math.min(...distances);
  return Float64Array.from(distances, distance => Math.exp((least - distance) / scale));
}
