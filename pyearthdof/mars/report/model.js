// A MARS model as its JSON file has it, computed as pyearthdof's MarsModel computes it.
//
// `model` is the file; `page.features` says how the columns of the terms are made of a row, an array with
// a number for each of `page.predictors`: its value, or the position of its level. pyearthdofMeans, which
// is written from `export.links`, stands before.
const pyearthdofModel = (model, page) => {
  "use strict";
  const SD_OF_ABSOLUTE = Math.sqrt(Math.PI / 2);

  const asRows = (coef) => coef.map((value) => (Array.isArray(value) ? value : [value]));
  const earthCoef = asRows(model.coef);
  const linkCoef = model.glm === null ? earthCoef : asRows(model.glm.coef);
  const responses = earthCoef[0].map((_, k) => k);
  const variance = model.varmod;

  const clip = (value, low, high) => Math.min(Math.max(value, low), high);

  const evaluate = (columns, dirs, cuts) => {
    let value = 1;
    for (let j = 0; j < dirs.length; j++) {
      if (dirs[j] === 2) value *= columns[j];
      else if (dirs[j] !== 0) value *= Math.max(0, dirs[j] * (columns[j] - cuts[j]));
    }
    return value;
  };

  const design = (row) =>
    page.features.map(({ predictor, entries, kind, fill }) => {
      const value = row[predictor], isMissing = value === null || Number.isNaN(value);
      if (entries !== null) return entries[value];
      if (kind === "missing") return isMissing ? 1 : 0;
      return isMissing && fill !== null ? fill : value;
    });

  const offset = (row) => (page.offset === null ? 0 : row[page.offset]);
  const basis = (columns) => model.selected.map((t) => evaluate(columns, model.dirs[t], model.cuts[t]));
  const combined = (terms, coef, k) => terms.reduce((sum, value, t) => sum + value * coef[t][k], 0);

  // What each term adds to the linear predictor of response k; an offset comes last.
  const contributions = (row, k = 0) => {
    const added = basis(design(row)).map((value, t) => value * linkCoef[t][k]);
    return page.offset === null ? added : [...added, offset(row)];
  };
  const earth = (row) => {
    const terms = basis(design(row));
    return responses.map((k) => combined(terms, earthCoef, k) + offset(row));
  };
  const link = (row) => {
    const terms = basis(design(row));
    return responses.map((k) => combined(terms, linkCoef, k) + offset(row));
  };
  const predict = (row) => {
    const eta = link(row);
    return model.glm === null ? eta : eta.map(pyearthdofMeans[model.glm.link]);
  };

  const probabilities = (row) => {
    const raw = predict(row).map((p) => clip(p, 0, 1));
    if (raw.length === 1) return [1 - raw[0], raw[0]];
    const total = raw.reduce((sum, p) => sum + p, 0);
    return raw.map((p) => (total > 0 ? p / total : 1 / raw.length));
  };
  const chosenClass = (row) => {
    const raw = predict(row);
    if (raw.length === 1) return raw[0] > page.threshold ? 1 : 0;
    return raw.indexOf(Math.max(...raw));
  };

  // Standard deviation of a new observation.
  const deviation = (fit, columns) => {
    let values = columns;
    if (["lm", "rlm", "earth", "power", "power0"].includes(variance.method)) {
      let base = Number.isInteger(variance.exponent) ? fit : Math.max(fit, 0);
      base = base ** variance.exponent;
      if (variance.method.startsWith("power")) base = Math.max(base, 0);
      values = [base ** variance.power];
    }
    const absolute = variance.coef.reduce(
      (sum, coef, t) => sum + coef * evaluate(values, variance.dirs[t], variance.cuts[t]), 0);
    return SD_OF_ABSOLUTE * Math.max(absolute, variance.min_sd / SD_OF_ABSOLUTE);
  };
  // b'(R'R)^-1 b, by solving R'z = b.
  const leverage = (terms) => {
    const solved = [];
    for (let i = 0; i < terms.length; i++) {
      let rest = terms[i];
      for (let j = 0; j < i; j++) rest -= variance.root[j][i] * solved[j];
      solved.push(rest / variance.root[i][i]);
    }
    return solved.reduce((sum, value) => sum + value * value, 0);
  };
  // Around the least-squares fit: z standard deviations of an observation, or of its mean.
  const interval = (row, z, kind = "prediction") => {
    const columns = design(row);
    const terms = basis(columns);
    const fit = combined(terms, earthCoef, 0) + offset(row);
    let sd = deviation(fit, columns);
    if (kind === "confidence") sd *= Math.sqrt(leverage(terms));
    return [fit - z * sd, fit + z * sd];
  };

  return {
    contributions, earth, link, predict, probabilities, chosenClass, interval,
    hasIntervals: variance !== null,
  };
};
if (typeof module !== "undefined") module.exports = { pyearthdofModel };
