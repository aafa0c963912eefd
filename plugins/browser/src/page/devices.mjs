// The accelerators a page can reach, and what can be read back from them.

const opened = new Map();
const reason = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

/// Whether each accelerator can be used, and what was found.
export async function probe({ accelerators }) {
  const found = [];
  for (const accelerator of accelerators) {
    try {
      found.push(await (accelerator.api === 'webnn' ? probeWebNN : probeWebGPU)(accelerator));
    } catch (error) {
      found.push({ reason: reason(error) });
    }
  }
  return { found };
}

async function probeWebNN(accelerator) {
  if (!navigator.ml) return { reason: 'navigator.ml is missing' };
  const { context } = await open(accelerator);
  // A context may be granted for a device that does not compute: a graph says where it really went.
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', { dataType: 'float32', shape: [4, 4] });
  const graph = await builder.build({ y: builder.matmul(x, x) });
  return { devices: graph.devices ?? null };
}

async function probeWebGPU() {
  if (!navigator.gpu) return { reason: 'navigator.gpu is missing' };
  const adapter = await navigator.gpu.requestAdapter();
  if (!adapter) return { reason: 'requestAdapter found no adapter' };
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  return { adapter: { vendor, architecture, device, description, fallback: Boolean(isFallbackAdapter) } };
}

/// An accelerator ready for sessions; once per page.
export async function open(accelerator) {
  const key = JSON.stringify(accelerator);
  if (!opened.has(key)) opened.set(key, await (accelerator.api === 'webnn' ? openWebNN : openWebGPU)(accelerator));
  return opened.get(key);
}

async function openWebNN({ device: deviceType }) {
  const context = await navigator.ml.createContext({ deviceType });
  const lost = context.lost.then(({ message }) => message || 'the WebNN context was lost');
  return {
    context,
    provider: { name: 'webnn', deviceType, context },
    logsRuns: false,
    opened: () => {},
    orLost: race(lost),
  };
}

async function openWebGPU() {
  let tell;
  const lost = new Promise((resolve) => (tell = resolve));
  let watched = null;
  return {
    provider: 'webgpu',
    logsRuns: true,
    // The engine makes the device with its first session.
    async opened(ort) {
      const device = await ort.env.webgpu?.device;
      if (!device || device === watched) return;
      watched = device;
      // The engine destroys it with its last session, and makes another one with the next.
      device.lost.then(({ reason, message }) => reason !== 'destroyed' && tell(message || 'the WebGPU device was lost'));
    },
    orLost: race(lost),
  };
}

/// Waits for work, but not for one whose device is gone: that may never end. There is one piece of work at a time.
function race(lost) {
  let gone = null;
  let fail = null;
  lost.then((message) => {
    gone = Object.assign(new Error(message), { lost: true });
    fail?.(gone);
  });
  // The work may fail of the loss before the loss is told.
  const settle = (error, reject) => setTimeout(() => reject(gone ?? error), 100);
  return (work) =>
    new Promise((resolve, reject) => {
      if (gone) reject(gone);
      fail = reject;
      work.then(resolve, (error) => settle(error, reject));
    }).finally(() => (fail = null));
}

/// Notes what WebNN graphs are built of from now on: types of their operands, devices, and whether they are quantized.
export function watch() {
  const found = { types: [], devices: [], quantized: false };
  const kind = globalThis.MLGraphBuilder?.prototype;
  if (!kind) return { found, stop() {} };
  const { input, constant, build, quantizeLinear, dequantizeLinear } = kind;
  const type = (type) => type && !found.types.includes(type) && found.types.push(type);
  const quantizes = (inner) =>
    inner &&
    function (...all) {
      found.quantized = true;
      return inner.apply(this, all);
    };
  kind.input = function (name, operand) {
    type(operand?.dataType);
    return input.call(this, name, operand);
  };
  kind.constant = function (...all) {
    const made = constant.apply(this, all);
    type(made?.dataType);
    return made;
  };
  kind.build = async function (outputs) {
    const graph = await build.call(this, outputs);
    found.devices.push(graph.devices ?? null);
    return graph;
  };
  if (quantizeLinear) kind.quantizeLinear = quantizes(quantizeLinear);
  if (dequantizeLinear) kind.dequantizeLinear = quantizes(dequantizeLinear);
  return {
    found,
    stop() {
      Object.assign(kind, { input, constant, build });
      if (quantizeLinear) kind.quantizeLinear = quantizeLinear;
      if (dequantizeLinear) kind.dequantizeLinear = dequantizeLinear;
    },
  };
}
