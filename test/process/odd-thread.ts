const never = new Int32Array(new SharedArrayBuffer(4));

/** Handles "throw", "exit", "spin", "spin 40 ms", "rest" and "rest 400 ms"; echoes other input. */
export function echo({ body }: { body: Uint8Array }): string {
  const told = Buffer.from(body).toString();
  if (told === "throw") throw new Error("thrown in the thread");
  if (told === "exit") process.exit(3);
  while (told === "spin");
  const until = performance.now() + 40;
  while (told === "spin 40 ms" && performance.now() < until);
  if (told.startsWith("rest")) Atomics.wait(never, 0, 0, told === "rest" ? Number.POSITIVE_INFINITY : 400);
  return told;
}

const given: Uint8Array[] = [];

/** @returns the bytes, which move or are copied, and the lengths of the bytes that it returned before */
export function giveBack({ bytes, moves = false }: { bytes: Uint8Array<ArrayBuffer>; moves?: boolean }) {
  const before = given.map(({ length }) => length);
  given.push(bytes);
  return { bytes, before, ...(moves && { transferred: [bytes.buffer] }) };
}
