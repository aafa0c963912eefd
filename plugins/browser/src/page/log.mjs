// ONNX Runtime tells where it placed each node in its log alone, and its log goes to the console.

const WANTED = /GetCapability|VerifyEachNodeIsAssignedToAnEp/;
let taking = false;

export const log = {
  lines: [],
  start() {
    this.lines = [];
    taking = true;
  },
  stop() {
    taking = false;
  },
};

// In place before the engine is imported: it keeps the functions it finds.
for (const level of ['log', 'debug', 'info', 'warn', 'error']) {
  console[level] = (...words) => {
    if (!taking) return;
    const line = words.join(' ');
    if (WANTED.test(line)) log.lines.push(line);
  };
}
