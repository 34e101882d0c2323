// node compile.mjs charts.jsonl svg/: compiles every chart and draws it; prints one line of JSON
// for each: {name, kind, rows, components, problems, marks}.
import {readFileSync, writeFileSync, mkdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import * as vega from 'vega';
import * as vegaLite from 'vega-lite';

const [source, target] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const schema = JSON.parse(readFileSync(require.resolve('vega-lite/vega-lite-schema.json')));
const ajv = new Ajv({strict: false});
addFormats(ajv);
ajv.addFormat('color-hex', /^#[0-9a-f]{6}$/i);
const valid = ajv.compile(schema);
mkdirSync(target, {recursive: true});

// What warns or fails is a problem.
function listener(problems) {
  const logger = {
    level: () => logger,
    debug: () => logger,
    info: () => logger,
    warn: (...words) => (problems.push('warning: ' + words.join(' ')), logger),
    error: (...words) => (problems.push('error: ' + words.join(' ')), logger),
  };
  return logger;
}

// The number of marks of each type in an SVG: the children of the groups that have them.
function marksOf(svg) {
  const marks = {};
  const groups = /<g class="mark-(\w+) role-mark[^"]*"[^>]*>(.*?)<\/g>/gs;
  for (const [, type, inside] of svg.matchAll(groups))
    marks[type] = (marks[type] ?? 0) + [...inside.matchAll(/<(path|text|rect)\b/g)].length;
  return marks;
}

for (const line of readFileSync(source, 'utf8').split('\n')) {
  if (!line.trim()) continue;
  const {name, kind, rows, components, chart} = JSON.parse(line);
  const title = `${name}: ${kind}${rows ? ' of rows' : ''}`;
  const problems = [];
  let marks = {};
  if (!valid(chart)) problems.push('schema: ' + JSON.stringify(valid.errors.slice(0, 3)));
  const bytes = Buffer.byteLength(JSON.stringify(chart));
  if (bytes > 200000) problems.push(`${bytes} bytes`);
  try {
    const logger = listener(problems);
    const view = new vega.View(vega.parse(vegaLite.compile(chart, {logger}).spec),
        {renderer: 'none', logger});
    const svg = await view.toSVG();
    writeFileSync(`${target}/${title.replace(/[^a-z]+/gi, '-')}.svg`, svg);
    marks = marksOf(svg);
    if (!Object.keys(marks).length) problems.push('no marks');
  } catch (error) {
    problems.push(String(error));
  }
  console.log(JSON.stringify({name: title, kind, rows, components, problems, marks}));
}
