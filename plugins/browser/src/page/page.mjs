// The page's end of the link: takes one message at a time, and answers each.
//
// A message is JSON text, or, where bytes come with it: the length of the JSON (4 bytes, little endian), the JSON, the bytes.

import { operations } from './operations.mjs';

const link = new WebSocket(new URLSearchParams(location.search).get('link'));
link.binaryType = 'arraybuffer';

function unpack(data) {
  if (typeof data === 'string') return [JSON.parse(data), null];
  const length = new DataView(data).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(data, 4, length));
  // A copy: elements of 8 bytes must start at a multiple of 8.
  return [JSON.parse(text), data.slice(4 + length)];
}

function pack(reply, bytes) {
  if (!bytes) return JSON.stringify(reply);
  const text = new TextEncoder().encode(JSON.stringify(reply));
  const whole = new Uint8Array(4 + text.length + bytes.byteLength);
  new DataView(whole.buffer).setUint32(0, text.length, true);
  whole.set(text, 4);
  whole.set(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), 4 + text.length);
  return whole;
}

link.onmessage = async ({ data }) => {
  const [message, bytes] = unpack(data);
  try {
    const { bytes: out, ...reply } = (await operations[message.op](message, bytes)) ?? {};
    link.send(pack({ id: message.id, ...reply }, out));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    link.send(JSON.stringify({ id: message.id, error: text || 'no message', lost: Boolean(error?.lost) }));
  }
};
