// An event-level epsilon where each event resembles the one before. The page that has the form: with-opendp.md.
// Another page may copy this file, and the form.

// The loss of one of arbitrarily many events, by Theorem 2 of theory/influence.md: the limit L of one side is log(root).
function eventLevelLoss(epsilon, similarity) {
  const leave = 1 - similarity, grown = -Math.expm1(-epsilon) * similarity;
  const root = (grown + Math.sqrt(grown * grown + 4 * leave * leave * Math.exp(-epsilon))) / (2 * leave);
  return epsilon + 2 * Math.log(root);
}

// In words, rounded up; somebody was half sure of the event before the publication.
function eventLevelWords(epsilon, similarity) {
  if (!(epsilon > 0 && epsilon <= 700)) return "Write an ε above 0, and at most 700.";
  if (!(similarity >= 0.5 && similarity <= 0.9999)) return "Write a probability from 0.5 to 0.9999.";
  const loss = eventLevelLoss(epsilon, similarity);
  const percent = lost => Math.ceil(1e4 / (1 + Math.exp(-lost)) - 1e-6) / 100;
  const sure = lost => percent(lost) > 99.99 ? "more than 99.99" : percent(lost).toFixed(2);
  const up = lost => (Math.ceil(lost * 100 - 1e-6) / 100).toFixed(2);
  return `One event loses ε = ${up(loss)}. Somebody who is 50 % sure of it can become ${sure(loss)} % sure. ` +
    `If events were independent, it would be ε = ${up(epsilon)} and ${sure(epsilon)} %.`;
}

if (typeof document !== "undefined") {
  for (const form of document.querySelectorAll("form.event-level")) {
    const [epsilon, similarity] = form.querySelectorAll("input"), output = form.querySelector("output");
    const show = () => { output.textContent = eventLevelWords(Number(epsilon.value), Number(similarity.value)); };
    form.addEventListener("input", show);
    form.addEventListener("submit", event => event.preventDefault());
    show();
  }
}
