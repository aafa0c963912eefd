// Tensors as bytes.

const ARRAYS = {
  float16: globalThis.Float16Array ?? Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};

export function elements(type, bytes) {
  return new ARRAYS[type](bytes);
}

/// Ports of a session. A dimension is a size, or a name where it is open.
export function describe(metadata) {
  return metadata.map(({ name, isTensor, type, shape }) => ({ name, type: isTensor ? type : null, dims: shape ?? [] }));
}
