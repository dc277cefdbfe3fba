const value = (name) => {
  if (!Object.prototype.hasOwnProperty.call(row, name)) throw new TypeError(name + " is missing");
  return row[name];
};

const isMissing = (name) => {
  const found = value(name);
  return found === null || found === undefined || Number.isNaN(found);
};

const number = (name) => {
  const found = value(name);
  if (typeof found === "number") return found;
  throw new TypeError(name + " should be a number, not " + String(found));
};

const logical = (name) => {
  const found = value(name);
  if (found === true || found === 1) return 1.0;
  if (found === false || found === 0) return 0.0;
  throw new RangeError(name + " should be true or false, not " + String(found));
};

const text = (level) => {
  if (level === true) return "TRUE";
  if (level === false) return "FALSE";
  if (typeof level !== "number" || Number.isSafeInteger(level)) return String(level);
  const [digits, exponent] = level.toExponential(14).split("e");
  const power = Number(exponent);
  if (!(power < -4 || power >= 15)) return String(Number(level.toFixed(14 - power)));
  const sign = power < 0 ? "-" : "+";
  const size = String(Math.abs(power)).padStart(2, "0");
  return digits.replace(/0+$/, "").replace(/\.$/, "") + "e" + sign + size;
};
const level = (name, levels) => {
  const found = value(name);
  const place = levels.indexOf(text(found));
  if (place >= 0) return place;
  throw new RangeError(name + " should be one of " + levels.join(", ") + ", not " + text(found));
};

const normal = (eta) => {
  const z = -eta / Math.SQRT2;
  const size = Math.abs(z);
  const t = ((size - SCALE) / (size + SCALE) + 1.0) * STRETCH - 1.0;
  const series = SERIES;
  let [first, second] = [0.0, 0.0];
  for (let k = series.length - 1; k > 0; k--) [first, second] = [series[k] + 2.0 * t * first - second, first];
  const tail = 0.5 * Math.exp(-size * size) * (series[0] + t * first - second);
  return z < 0.0 ? 1.0 - tail : tail;
};
