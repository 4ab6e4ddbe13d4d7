/**
 * Frees memory at once that nobody reads again. V8 collects its whole heap whenever buffers of 64 MB are waiting for
 * that, which delays other requests by 20 ms.
 * @param buffers that are parts of a shared memory stay
 */
export function freeBuffers(buffers: Iterable<Buffer>): void {
  for (const { buffer, length } of buffers)
    if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
