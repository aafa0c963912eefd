// Decides from the points that are shown, by the rule of `decision/mod.rs` and in its words. A test holds the two together.
"use strict";
const decider = () => {
  const source = document.getElementById("data-decisions");
  if (!source) return null;
  const { words, cost: least, least: scale, from, reach, legend, facets, metrics } = JSON.parse(source.textContent);
  const say = (name, values) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
  const two = value => value.toFixed(2);
  const number = value => {
    const size = Math.abs(value);
    return value.toFixed(size === 0 ? 0 : Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(size)))));
  };
  const times = (ratio, interval) => interval
    ? say("ratio_interval", { ratio: two(ratio), low: two(interval[0]), high: two(interval[1]) })
    : say("ratio", { ratio: two(ratio) });
  const name = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

  const decide = (point, { better }) => {
    const price = value => (better === "less" ? value : 1 / value);
    const prices = ([low, high]) => (better === "less" ? [low, high] : [1 / high, 1 / low]);
    const entries = point.entries.filter(entry => entry.value > 0)
      .map(entry => ({ ...entry, price: price(entry.value), prices: entry.interval && prices(entry.interval) }))
      .sort((one, other) => one.price - other.price || name(one.hardware, other.hardware));
    const [best, next] = entries;
    if (!best) return null;
    const worst = Math.max(1, ...entries.map(entry => entry.price / best.price));
    const decided = { point, entries, best, next, worst, certainty: "alone" };
    if (!next) return decided;
    decided.ratio = next.price / best.price;
    decided.interval = best.prices && next.prices && [next.prices[0] / best.prices[1], next.prices[1] / best.prices[0]];
    if (decided.interval ? decided.interval[0] <= 1 : next.price <= best.price) decided.certainty = "tie";
    else decided.certainty = decided.interval && best.stable && next.stable ? "clear" : "noisy";
    return decided;
  };
  const wins = decided => decided.certainty === "clear" || decided.certainty === "noisy";
  const compared = all => all.filter(decided => decided.certainty !== "alone");
  // As the last of the greatest.
  const dearest = (all, hardware) => {
    let found = null;
    for (const { entries, best, point } of all) {
      const entry = entries.find(entry => entry.hardware === hardware);
      const cost = entry && entry.price / best.price;
      if (cost > least && (!found || cost >= found.cost)) found = { cost, model: point.model };
    }
    return found;
  };

  const sentence = (decisions, metric) => {
    const all = compared(decisions);
    if (!all.length) return null;
    if (all.length === 1) {
      const [{ best, next, point, certainty, ratio, interval }] = all;
      return say("one_" + certainty, { best: best.hardware, next: next.hardware, model: point.model, times: times(ratio, interval), as: metric.as });
    }
    const count = new Map();
    for (const { best } of all.filter(wins)) count.set(best.hardware, (count.get(best.hardware) ?? 0) + 1);
    const ties = all.length - all.filter(wins).length;
    const ranked = [...count].sort((one, other) => other[1] - one[1] || name(one[0], other[0]));
    if (!ranked.length) return say("no_winner", { all: all.length });
    const [[best, most], ...rest] = ranked;
    const values = { best, most: metric.best, all: all.length, wins: most };
    if (most === all.length) return say("at_all", values);
    const others = rest.map(([name, wins]) => say("other", { name, wins }));
    if (ties) others.push(say("tied", { ties }));
    const text = say(rest.length ? "split" : "some", { ...values, others: others.join(", ") });
    const dear = dearest(all, best);
    return dear ? `${text} ${say("cost", { best, cost: two(dear.cost), model: dear.model })}` : text;
  };
  const by = decisions => {
    const groups = new Map();
    for (const decided of decisions) groups.set(decided.point.facet, [...(groups.get(decided.point.facet) ?? []), decided]);
    return [...groups].sort((one, other) => one[0] - other[0]);
  };
  const headline = (decisions, metric) => {
    let found = null;
    for (const [facet, of] of by(decisions)) {
      const text = sentence(of, metric), several = compared(of).length;
      if (text && (!found || several > found.several)) found = { several, text: say("within", { sentence: text, facet: facets[facet] }) };
    }
    return found ? found.text : say("nothing", {});
  };

  const standings = decisions => {
    const all = compared(decisions), logs = new Map();
    for (const { entries, best } of all) {
      for (const { hardware, price, prices } of entries) {
        const costs = [price, ...(prices ?? [NaN, NaN])].map(cost => Math.log(cost / best.price));
        logs.set(hardware, [...(logs.get(hardware) ?? []), costs]);
      }
    }
    const of = ([hardware, costs]) => {
      const mean = place => Math.exp(costs.reduce((sum, cost) => sum + cost[place], 0) / costs.length);
      const interval = [mean(1), mean(2)];
      return {
        hardware, points: costs.length, mean: mean(0), interval: interval.every(Number.isFinite) ? interval : null, worst: dearest(all, hardware),
        wins: all.filter(decided => wins(decided) && decided.best.hardware === hardware).length,
        ties: all.filter(({ certainty, entries }) => certainty === "tie" && entries.slice(0, 2).some(entry => entry.hardware === hardware)).length,
      };
    };
    return [...logs].map(of).sort((one, other) => other.wins - one.wins || one.mean - other.mean || name(one.hardware, other.hardware));
  };

  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const several = facets.length > 1;
  const strip = ({ entries, best }, widest, unit) => {
    const cell = make("td", undefined, "strip"), box = make("div");
    const at = price => Math.min(100, Math.max(0, from + (reach * Math.log(price / best.price)) / Math.log(widest)));
    for (const { hardware, value, price, prices, interval } of entries) {
      const [shape, , colour] = legend.find(([, name]) => name === hardware);
      const [low, high] = (prices ?? [price, price]).map(at);
      const line = make("i"), dot = make("b", shape);
      line.style.cssText = `left:${low.toFixed(1)}%;width:${(high - low).toFixed(1)}%;--c:${colour}`;
      dot.style.cssText = `left:${at(price).toFixed(1)}%;--c:${colour}`;
      dot.title = `${hardware} ${number(value)}${interval ? ` (${number(interval[0])} to ${number(interval[1])})` : ""} ${unit}`;
      box.append(line, dot);
    }
    cell.append(box);
    return cell;
  };
  const course = ({ course }) => {
    const cell = make("td", undefined, "course");
    if (course) cell.append(make("span", course.line));
    if (course) cell.firstChild.title = course.summary;
    return cell;
  };
  const row = (decided, widest, { unit }) => {
    const { point, best, next, entries, certainty, ratio, interval } = decided;
    const head = make("th", point.model);
    head.scope = "row";
    const last = entries.at(-1), cost = last.price / best.price;
    const tr = make("tr");
    tr.append(head, make("td", point.axes), make("td", several ? facets[point.facet] : "", "facet"),
      make("td", `${best.hardware} ${number(best.value)} ${unit}`), course(best), strip(decided, widest, unit),
      make("td", next ? `${times(ratio, interval)} ${next.hardware}` : ""), make("td", certainty, certainty),
      make("td", cost > least ? `${two(cost)} times (${last.hardware})` : ""));
    return tr;
  };
  const standing = (facet, { hardware, wins, ties, points, mean, interval, worst }) => {
    const head = make("th", hardware);
    head.scope = "row";
    const tr = make("tr");
    tr.append(head, make("td", several ? facets[facet] : "", "facet"), make("td", `${wins} of ${points}`), make("td", String(ties)),
      make("td", times(mean, interval)), make("td", worst ? `${two(worst.cost)} times (${worst.model})` : ""));
    return tr;
  };

  // Shows what is decided by a metric at the points, and on the hardware, that `fits` lets through.
  const show = (wanted, fits) => {
    const { metric, points } = metrics.find(({ metric }) => metric.name === wanted) ?? metrics[0];
    const shown = points.filter(point => fits(point.attributes, point.model))
      .map(point => ({ ...point, entries: point.entries.filter(({ hardware }) => fits({ hardware }, undefined)) }));
    const decisions = by(shown.map(point => decide(point, metric)).filter(Boolean)).flatMap(([, of]) => of);
    const widest = Math.max(scale, ...decisions.map(({ worst }) => worst));
    document.querySelector(".headline").textContent = headline(decisions, metric);
    document.querySelector("#decisions .metric").textContent = `${metric.title} (${metric.unit})`;
    document.querySelector("#decided .scale").textContent = two(widest);
    const sorted = [...decisions].sort((one, other) => other.worst - one.worst);
    document.querySelector("#decided tbody").replaceChildren(...sorted.map(decided => row(decided, widest, metric)));
    const stand = by(decisions).flatMap(([facet, of]) => standings(of).map(entry => standing(facet, entry)));
    document.querySelector("#standings tbody")?.replaceChildren(...stand);
  };
  return { show, known: metrics.map(({ metric }) => metric.name) };
};
