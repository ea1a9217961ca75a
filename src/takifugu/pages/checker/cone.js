// The most by which the means of two rows can differ, for a function f > 0 of the states with f(u) <= ratio[u][v] f(v) for all u and v.
//
// The most is at a ray, where a tree of these bounds is tight. Each state u but one has a state above it, with f(u) = ratio f(above),
// a high bound, or f(above) = ratio f(u), a low one. Weigh the bounds so that they add up to the quotient of the means at the ray. If
// no weight is below 0, no f in the cone has a larger quotient, whatever rounding did to the tree: that is weak duality. The weight of
// a high bound is not below 0 if the states behind it have a quotient not below that of all states, and of a low one if not above.

const MOST_MOVES = 300;   // from tree to tree; with so few states some are enough

const starAt = (k, root) => ({ above: Array.from({ length: k }, (_, u) => u === root ? -1 : root), isHigh: Array(k).fill(true) });

// The states of a tree, each after the one above it.
function outwards({ above }) {
  const order = [above.indexOf(-1)];
  for (const u of order) above.forEach((v, w) => { if (v === u) order.push(w); });
  return order;
}

// The ray of a tree, up to a factor, in whole numbers: each bound divides out what the first state has of it.
function rayOf({ above, isHigh }, order, ratio) {
  const f = [];
  f[order[0]] = above.reduce((all, v, u) => v < 0 ? all : all * (isHigh[u] ? ONE : ratio[v][u]), 1n);
  for (const u of order.slice(1)) {
    const v = above[u];
    f[u] = isHigh[u] ? f[v] / ONE * ratio[u][v] : f[v] / ratio[v][u] * ONE;
  }
  return f;
}

// Whether the ray of a tree is in the cone.
function isInside(tree, ratio) {
  const f = rayOf(tree, outwards(tree), ratio);
  return f.every((x, u) => f.every((y, v) => x * ONE <= ratio[u][v] * y));
}

// The tree without the bound of one state: what is behind it falls, or rises, until another bound is tight, and hangs from there.
function moved({ above, isHigh }, state, f, ratio) {
  const isBehind = above.map((_, u) => { while (u >= 0 && u !== state) u = above[u]; return u === state; });
  let next = null;
  f.forEach((x, v) => f.forEach((y, w) => {
    if (!isBehind[v] || isBehind[w]) return;
    const [n, d] = isHigh[state] ? [ratio[w][v] * x, y] : [ratio[v][w] * y, x];   // how far this bound is from being tight
    if (!next || n * next.d < next.n * d) next = { n, d, v, w };
  }));
  const tree = { above: [...above], isHigh: [...isHigh] };
  let [u, from, high] = [next.v, next.w, !isHigh[state]];
  for (;;) {   // the way from there to the state is turned round
    tree.above[u] = from;
    tree.isHigh[u] = high;
    if (u === state) return tree;
    [u, from, high] = [above[u], u, !isHigh[u]];
  }
}

// The most of p's mean over q's, rounded up, and its tree; nothing where no tree is found.
function supremum(p, q, ratio, start) {
  let tree = start;
  for (let moves = 0; moves < MOST_MOVES; moves++) {
    const order = outwards(tree), root = order[0], f = rayOf(tree, order, ratio);
    const mine = p.map((x, u) => x * f[u]), others = q.map((x, u) => x * f[u]);
    for (const u of order.slice(1).reverse()) {   // the means over the states behind each one
      mine[tree.above[u]] += mine[u];
      others[tree.above[u]] += others[u];
    }
    const wrong = order.slice(1).find(u => {
      const behind = mine[u] * others[root], all = mine[root] * others[u];
      return tree.isHigh[u] ? behind < all : behind > all;
    });
    if (wrong === undefined) return { most: ceilingOf(mine[root] * ONE, others[root]), tree };
    tree = moved(tree, wrong, f, ratio);
  }
  return null;
}

// e^S of each two rows. `trees` remembers where the last ones were found.
function suprema({ rows }, ratio, trees) {
  const k = rows.length, cone = closed(ratio), largest = cone.flat().reduce(larger);
  return square(k, (a, b) => {
    if (a === b) return ONE;
    const last = trees[a * k + b], start = last && isInside(last, cone) ? last : starAt(k, 0);
    const result = supremum(rows[a], rows[b], cone, start);
    if (!result) return largest;   // no two values of f differ by more
    trees[a * k + b] = result.tree;
    return larger(result.most, ONE);
  });
}
