// What the harness asks of the page. Each operation takes a message (and bytes), and gives what to reply.

import { log } from './log.mjs';
import * as devices from './devices.mjs';
import { describe, elements } from './tensors.mjs';

const models = new Map();
const requests = new Map();
let ort;

/// What is here: the browser's word for itself, and the version of ONNX Runtime Web.
async function hello({ entry, folder }) {
  ort = await import(entry);
  // What does not run on the device is refused; more threads would only wait.
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = folder;
  ort.env.logLevel = 'warning';
  return { agent: navigator.userAgent, ort: ort.env.versions.web, isolated: crossOriginIsolated };
}

async function fetched(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} was answered with ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function load({ model, accelerator, graph, external, dims }) {
  let started = performance.now();
  const bytes = await fetched(graph);
  const externalData = [];
  for (const { path, url } of external) externalData.push({ path, data: await fetched(url) });
  const read = performance.now() - started;

  const device = await devices.open(accelerator);
  const options = { executionProviders: [device.provider], freeDimensionOverrides: dims, externalData };
  const verbose = { ...options, logSeverityLevel: 0, logVerbosityLevel: 0 };
  const built = devices.watch();
  started = performance.now();
  log.start();
  let session;
  try {
    session = await device.orLost(ort.InferenceSession.create(bytes, verbose));
    if (device.logsRuns) {
      // Where each node went is logged at load by a session that then logs each run, too: it only tells, another one runs.
      const teller = session;
      session = await device.orLost(ort.InferenceSession.create(bytes, options));
      await teller.release();
    }
  } finally {
    built.stop();
    log.stop();
  }
  const compile = performance.now() - started;
  await device.opened(ort);
  models.set(model, { session, device });
  return {
    read_ms: read,
    compile_ms: compile,
    inputs: describe(session.inputMetadata),
    outputs: describe(session.outputMetadata),
    log: log.lines,
    built: built.found,
  };
}

function bind({ request, model, name, type, dims }, bytes) {
  const found = requests.get(request) ?? { ...models.get(model), feeds: {}, outputs: null };
  found.feeds[name] = new ort.Tensor(type, elements(type, bytes), dims);
  requests.set(request, found);
}

/// Returns when the outputs lie in the page's memory, with how long that took there.
async function run({ request, model }) {
  let found = requests.get(request);
  if (!found) requests.set(request, (found = { ...models.get(model), feeds: {}, outputs: null }));
  found.outputs = null;
  const started = performance.now();
  found.outputs = await found.device.orLost(found.session.run(found.feeds));
  return { ran_ms: performance.now() - started };
}

async function output({ request, name }) {
  const tensor = requests.get(request)?.outputs?.[name];
  if (!tensor) throw new Error(`no run has made '${name}'`);
  const data = await tensor.getData();
  return { type: tensor.type, dims: tensor.dims, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}

function forget({ request }) {
  requests.delete(request);
}

async function unload({ model }) {
  const found = models.get(model);
  models.delete(model);
  await found?.session.release();
}

export const operations = { hello, probe: devices.probe, load, bind, run, output, forget, unload, ping: () => {} };
