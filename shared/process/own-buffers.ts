/** The memory of buffers that share it with no others. Memory can be given away only once; an empty buffer has none. */
export function memoryOf(buffers: Iterable<Buffer>): ArrayBuffer[] {
  const own: ArrayBuffer[] = [];
  for (const { buffer, length } of buffers)
    if (length > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === length) own.push(buffer);
  return own;
}

/**
 * Frees the memory of buffers that nobody reads again. Otherwise V8 collects its whole heap whenever 64 MB of buffers
 * are garbage, which delays other requests by 20 ms. A buffer that shares its memory with others stays.
 */
export function freeBuffers(buffers: Iterable<Buffer>): void {
  for (const memory of memoryOf(buffers)) memory.transfer(0);
}

/** Cuts the memory of a buffer to the buffer's length. The buffer must be at its start, and nobody else may use it. */
export function trim({ buffer, length }: Buffer<ArrayBuffer>): Buffer {
  return Buffer.from(buffer.transfer(length));
}

const sentOnce = new WeakSet<Uint8Array>();

/** Marks the bytes of an answer: nobody reads them once it is sent. */
export function forOneAnswer<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  sentOnce.add(bytes);
  return bytes;
}

/** Frees the bytes of an answer that was sent, if they are marked. */
export function freeSent(bytes: Uint8Array): void {
  if (sentOnce.has(bytes)) freeBuffers([asBuffer(bytes)]);
}

/** Returns a Buffer of the same memory. Bytes from another thread are a Uint8Array. */
export function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
