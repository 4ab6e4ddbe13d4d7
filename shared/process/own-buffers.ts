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

/** Frees the rest of the memory that begins with these bytes. Nobody else may read it. */
export function trim({ buffer, length }: Buffer<ArrayBuffer>): Buffer {
  return Buffer.from(buffer.transfer(length));
}

const sentOnce = new WeakSet<Uint8Array>();

/** Says that nobody reads the bytes of an answer once they are sent. Returns them. */
export function forOneAnswer<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  sentOnce.add(bytes);
  return bytes;
}

/** Frees the bytes of an answer that was sent, if they were made for it alone. */
export function freeSent(bytes: Uint8Array): void {
  if (sentOnce.has(bytes)) freeBuffers([asBuffer(bytes)]);
}

/** The bytes that another thread gave. */
export function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
