// The explorer of a model's page: controls on one side, the prediction and what it is made of on the other.
const pyearthdofExplorer = (document, model, page) => {
  "use strict";
  const computed = pyearthdofModel(model, page);
  const byId = (id) => document.getElementById(id);
  const predictors = page.predictors;
  const row = predictors.map((predictor) => predictor.start);
  const CURVE = { width: 200, height: 44, margin: 4, steps: 60 };
  const MOST_CURVES = 40;

  const shown = (value) => {
    if (!Number.isFinite(value)) return String(value).replace("-", "\u2212");
    const tiny = value !== 0 && Math.abs(value) < 1e-4;
    const [digits, exponent] = (tiny ? value.toExponential(4) : value.toPrecision(5)).split("e");
    const short = digits.includes(".") ? digits.replace(/0+$/, "").replace(/\.$/, "") : digits;
    return (exponent === undefined ? short : short + "e" + exponent.replace("+", "")).replaceAll("-", "\u2212");
  };
  // A number that a slider gives, without digits that nobody asked for.
  const rounded = (value, { low, high }) => {
    const decimals = Math.ceil(-Math.log10((high - low) / 200));
    if (!(decimals > -300 && decimals < 15)) return value;
    return decimals > 0 ? Number(value.toFixed(decimals)) : Math.round(value / 10 ** -decimals) * 10 ** -decimals;
  };

  const response = () => (byId("response") === null ? 0 : Number(byId("response").value));
  const level = () => byId("level").value;
  const kind = () => byId("kind").value;

  // What is big on the page: a mean, or the probability of a class.
  const told = (values) => {
    if (page.classes === null) return computed.predict(values)[response()];
    return computed.probabilities(values)[page.classes.length === 2 ? 1 : response()];
  };

  const set = (id, text) => { byId(id).textContent = text; };

  const showPrediction = () => {
    const value = told(row);
    const place = byId("prediction");
    place.textContent = shown(value);
    place.dataset.value = String(value);
    if (page.classes === null) return;
    const shares = computed.probabilities(row);
    const chosen = computed.chosenClass(row);
    set("class", "The model says " + page.classes[chosen] + ".");
    byId("class").dataset.value = String(chosen);
    shares.forEach((share, c) => {
      set("share" + c, (100 * share).toFixed(1) + " %");
      byId("share" + c).dataset.value = String(share);
      byId("sharebar" + c).style.width = (100 * share).toFixed(2) + "%";
    });
  };

  const showInterval = () => {
    if (!computed.hasIntervals || page.classes !== null) return;
    const [low, high] = computed.interval(row, page.quantiles[level()], kind());
    set("interval", shown(low) + " to " + shown(high));
    byId("interval").dataset.low = String(low);
    byId("interval").dataset.high = String(high);
    if (model.glm !== null) set("fit", shown(computed.earth(row)[0]));
  };

  const showContributions = () => {
    const added = computed.contributions(row, response());
    const ends = [];
    let sum = 0;
    for (const t of page.order) {
      ends.push([sum, sum + added[t]]);
      sum += added[t];
    }
    const points = ends.slice(1).flat().concat(ends[0][1]);
    const low = Math.min(...points);
    const size = Math.max(...points) - low || 1;
    page.order.forEach((t, place) => {
      const line = byId("term" + t);
      const cell = byId("added" + t);
      cell.textContent = (place > 0 && added[t] > 0 ? "+" : "") + shown(added[t]);
      cell.dataset.value = String(added[t]);
      line.classList.toggle("idle", added[t] === 0);
      const bar = byId("bar" + t);
      const [from, to] = place === 0 ? [ends[0][1], ends[0][1]] : ends[place];
      bar.className = to >= from ? "up" : "down";
      bar.style.left = (100 * (Math.min(from, to) - low)) / size + "%";
      bar.style.width = (100 * Math.abs(to - from)) / size + "%";
    });
    set("total", shown(sum));
  };

  const curves = predictors
    .map((predictor, k) => ({ predictor, k }))
    .filter(({ predictor }) => predictor.used && predictor.levels.length === 0 && predictor.high > predictor.low)
    .slice(0, MOST_CURVES);

  // The prediction as one predictor moves and all others stay where they are; one scale for all.
  const showCurves = () => {
    const drawn = curves.map(({ predictor, k }) => {
      const values = [];
      for (let step = 0; step <= CURVE.steps; step++) {
        const moved = row.slice();
        moved[k] = predictor.low + ((predictor.high - predictor.low) * step) / CURVE.steps;
        values.push(told(moved));
      }
      return values;
    });
    const all = drawn.flat().filter(Number.isFinite);
    const low = Math.min(...all);
    const size = Math.max(...all) - low || 1;
    const across = (share) => CURVE.margin + share * (CURVE.width - 2 * CURVE.margin);
    const up = (value) => CURVE.height - CURVE.margin - ((value - low) / size) * (CURVE.height - 2 * CURVE.margin);
    const here = told(row);
    curves.forEach(({ predictor, k }, c) => {
      const points = drawn[c].map((value, step) =>
        Number.isFinite(value) ? across(step / CURVE.steps).toFixed(1) + "," + up(value).toFixed(1) : "");
      byId("curve" + k).setAttribute("points", points.join(" "));
      const share = (row[k] - predictor.low) / (predictor.high - predictor.low);
      const inside = share >= 0 && share <= 1 && here >= low && here <= low + size;
      byId("here" + k).setAttribute("visibility", inside ? "visible" : "hidden");
      if (!inside) return;
      byId("here" + k).setAttribute("d", "M" + across(share).toFixed(1) + " " + up(here).toFixed(1) + "h0");
    });
  };

  // A number that the training rows lacked in places may be left empty.
  const isKnown = (predictor, k) => !predictor.used || predictor.optional || Number.isFinite(row[k]);
  const problem = () => {
    const wrong = predictors.filter((predictor, k) => !isKnown(predictor, k));
    if (wrong.length > 0) return "Give " + wrong[0].name + " a number.";
    const outside = predictors.filter((predictor, k) =>
      predictor.used && predictor.known && (row[k] < predictor.low || row[k] > predictor.high));
    if (outside.length === 0) return "";
    return "Outside of the training rows: " + outside.map((predictor) => predictor.name).join(", ") + ".";
  };

  const update = () => {
    set("warning", problem());
    const complete = predictors.every(isKnown);
    byId("results").classList.toggle("incomplete", !complete);
    if (!complete) return;
    showPrediction();
    showInterval();
    showContributions();
    showCurves();
  };

  // Puts what is in `row` into the controls, but for the one that is being used.
  const fill = (busy = null) => {
    predictors.forEach((predictor, k) => {
      for (const id of ["number" + k, "range" + k, "list" + k]) {
        const control = byId(id);
        if (control === null || control === busy) continue;
        if (Number.isFinite(row[k])) control.value = String(row[k]);
        else if (predictor.optional && id === "number" + k) control.value = "";
      }
    });
  };

  predictors.forEach((predictor, k) => {
    const [number, range, list] = ["number", "range", "list"].map((name) => byId(name + k));
    const take = (control, value) => {
      row[k] = value;
      fill(control);
      update();
    };
    if (number !== null) {
      number.addEventListener("input", () => take(number, number.value === "" ? NaN : Number(number.value)));
    }
    if (range !== null) range.addEventListener("input", () => take(range, rounded(Number(range.value), predictor)));
    if (list !== null) list.addEventListener("input", () => take(list, Number(list.value)));
  });
  const startAgain = (values) => {
    values.forEach((value, k) => { row[k] = value; });
    fill();
    update();
  };
  byId("again").addEventListener("click", () => {
    if (byId("row") !== null) byId("row").value = "";
    startAgain(predictors.map((predictor) => predictor.start));
  });
  if (byId("row") !== null) {
    byId("row").addEventListener("input", () => {
      const found = page.rows[Number(byId("row").value) - 1];
      if (found !== undefined) startAgain(found);
    });
  }
  for (const id of ["response", "level", "kind"]) {
    if (byId(id) !== null) byId(id).addEventListener("input", update);
  }
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("explorer").hidden = false;
  fill();
  update();
};
if (typeof module !== "undefined") module.exports = { pyearthdofExplorer };
