const blockSize = 4096;

/** A file as the kernel keeps it. */
class KeptFile {
  disk = Buffer.alloc(0);
  cache = Buffer.alloc(0);
  dirty = new Set<number>();

  write(bytes: Buffer, offset: number): void {
    const end = offset + bytes.length;
    if (end > this.cache.length)
      this.cache = Buffer.concat([this.cache, Buffer.alloc(end - this.cache.length)]);
    bytes.copy(this.cache, offset);
    for (let block = Math.floor(offset / blockSize); block * blockSize < end; block++) this.dirty.add(block);
  }

  /** Takes the blocks that a sync has to store. */
  takeDirty(): Map<number, Buffer> {
    const taken = new Map<number, Buffer>();
    for (const block of this.dirty)
      taken.set(block, Buffer.from(this.cache.subarray(block * blockSize, (block + 1) * blockSize)));
    this.dirty.clear(); // also if the sync fails: then the pages are clean, and lost with the power
    return taken;
  }

  store(blocks: Map<number, Buffer>): void {
    for (const [block, bytes] of blocks) {
      const end = block * blockSize + bytes.length;
      if (end > this.disk.length)
        this.disk = Buffer.concat([this.disk, Buffer.alloc(end - this.disk.length)]);
      bytes.copy(this.disk, block * blockSize);
    }
  }

  truncate(length: number): void {
    const cut = (bytes: Buffer) =>
      Buffer.concat([bytes.subarray(0, length), Buffer.alloc(Math.max(0, length - bytes.length))]);
    [this.disk, this.cache] = [cut(this.disk), cut(this.cache)];
    for (const block of this.dirty) if (block * blockSize >= length) this.dirty.delete(block);
  }
}

interface Call {
  process: string;
  name: string;
  args: string;
  result: string;
}

/** The options of strace whose output `replay` reads. */
export const traceOptions = [
  ...["-y", "-xx", "-s", "4000000"],
  ...["-e", "trace=pwrite64,pwritev,fdatasync,fsync,write,ftruncate"],
];

const calls =
  /^(\d+) +(?:(\w+)\((.*?)(?: <unfinished \.\.\.>|\) += (-?\w+).*)|<\.\.\. (\w+) resumed>.*?= (-?\w+).*)$/;
const path = /^\d+<([^>]*)>/;

/**
 * Replays the writes and syncs of a trace as a kernel does whose syncs drop the pages that they cannot store. Calls
 * `onPrinted` for each line that a process printed, when it printed it, with what a power cut would leave of the files.
 */
export function replay(
  trace: string,
  initial: Map<string, Buffer>,
  onPrinted: (text: string, contentOf: (file: string) => Buffer) => void,
): void {
  const files = new Map<string, KeptFile>();
  const fileOf = (name: string) => {
    const file = files.get(name) ?? new KeptFile();
    if (!files.has(name)) {
      const content = initial.get(name) ?? Buffer.alloc(0);
      [file.disk, file.cache] = [Buffer.from(content), Buffer.from(content)];
    }
    files.set(name, file);
    return file;
  };
  const begun = new Map<string, { call: Omit<Call, "result">; taken: Map<number, Buffer> }>();

  const begin = (call: Omit<Call, "result">) => {
    const isSync = call.name === "fdatasync" || call.name === "fsync";
    begun.set(call.process, { call, taken: isSync ? fileOf(nameIn(call.args)).takeDirty() : new Map() });
  };
  const end = (process: string, result: string) => {
    const { call, taken } = begun.get(process) ?? {};
    begun.delete(process);
    if (!call || !taken || result.startsWith("-")) return;
    const name = nameIn(call.args);
    if (call.name === "write") return onPrinted(textOf(call.args).toString(), (file) => fileOf(file).disk);
    if (call.name === "pwrite64") {
      const offset = Number(call.args.slice(call.args.lastIndexOf(",") + 1));
      fileOf(name).write(textOf(call.args).subarray(0, Number(result)), offset);
    } else if (call.name === "ftruncate") fileOf(name).truncate(Number(call.args.split(", ").at(-1)));
    else fileOf(name).store(taken);
  };

  for (const line of trace.split("\n")) {
    const [, process = "", name, args = "", result, , resumed] = calls.exec(line) ?? [];
    if (name !== undefined) begin({ process, name, args });
    if (result !== undefined) end(process, result);
    if (resumed !== undefined) end(process, resumed);
  }
}

function nameIn(args: string): string {
  return bytesOf(path.exec(args)?.[1] ?? "").toString();
}

function textOf(args: string): Buffer {
  return bytesOf(/, "([^"]*)"/.exec(args)?.[1] ?? "");
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}
