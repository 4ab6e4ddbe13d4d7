const blockSize = 4096;

/** A file as the kernel keeps it. */
class KeptFile {
  disk = Buffer.alloc(0);
  cache = Buffer.alloc(0);
  dirty = new Set<number>();

  write(bytes: Buffer, offset = this.cache.length): void {
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

/** The files of a folder, by their paths. */
type Names = Map<string, KeptFile>;

interface Call {
  process: string;
  name: string;
  args: string;
}

/** The options of strace whose output `replay` reads. */
export const traceOptions = [
  ...["-y", "-xx", "-s", "4000000"],
  ...["-e", "trace=pwrite64,pwritev,fdatasync,fsync,write,ftruncate,rename,unlink,unlinkat,link,linkat"],
];

const calls =
  /^(\d+) +(?:(\w+)\((.*?)(?: <unfinished \.\.\.>|\) += (-?\w+).*)|<\.\.\. (\w+) resumed>.*?= (-?\w+).*)$/;
const path = /^\d+<([^>]*)>/;

/** The content that a power cut may leave of a file. Undefined: the file is not there. */
export type AfterCut = (file: string) => Buffer | undefined;

/**
 * Replays the writes and syncs of a trace as a kernel does whose syncs drop the pages that they cannot store. Calls
 * `onPrinted` for each line that a process printed, when it printed it, and `onNamed` for each file that got or lost its
 * name, with what a power cut would leave: a name that no sync of its folder has stored may be kept or lost.
 */
export function replay(
  trace: string,
  initial: Map<string, Buffer>,
  on: Record<"onPrinted" | "onNamed", (text: string, outcomes: AfterCut[]) => void>,
): void {
  const names: Names = new Map();
  for (const [name, content] of initial) {
    const file = new KeptFile();
    [file.disk, file.cache] = [Buffer.from(content), Buffer.from(content)];
    names.set(name, file);
  }
  let stored: Names = new Map(names);
  const begun = new Map<string, { call: Call; taken: Map<number, Buffer> }>();

  const fileOf = (name: string) => {
    const file = names.get(name) ?? new KeptFile();
    names.set(name, file);
    return file;
  };
  const outcomes: AfterCut[] = [(name) => names.get(name)?.disk, (name) => stored.get(name)?.disk];
  const begin = (call: Call) => {
    const isOfFile = isSync(call.name) && names.has(nameIn(call.args));
    begun.set(call.process, { call, taken: isOfFile ? fileOf(nameIn(call.args)).takeDirty() : new Map() });
  };
  const end = (process: string, result: string) => {
    const { call, taken } = begun.get(process) ?? {};
    begun.delete(process);
    if (!call || !taken || result.startsWith("-")) return;
    const name = nameIn(call.args);
    const [from = "", to = ""] = textsOf(call.args).map(String);
    if (call.name === "write" && !name.startsWith("/")) on.onPrinted(from, outcomes);
    else if (call.name === "write") fileOf(name).write(textsOf(call.args)[0] ?? Buffer.alloc(0));
    else if (call.name === "pwrite64") {
      const offset = Number(call.args.slice(call.args.lastIndexOf(",") + 1));
      fileOf(name).write((textsOf(call.args)[0] ?? Buffer.alloc(0)).subarray(0, Number(result)), offset);
    } else if (call.name === "ftruncate") fileOf(name).truncate(Number(call.args.split(", ").at(-1)));
    else if (isSync(call.name)) {
      const file = names.get(name);
      file?.store(taken);
      if (file) stored.set(name, file);
      else stored = new Map(names); // of the folder
    } else {
      const file = names.get(from);
      if (file && to) names.set(to, file);
      if (!call.name.startsWith("link")) names.delete(from);
      on.onNamed(to || from, outcomes);
    }
  };

  for (const line of trace.split("\n")) {
    const [, process = "", name, args = "", result, , resumed] = calls.exec(line) ?? [];
    if (name !== undefined) begin({ process, name, args });
    if (result !== undefined) end(process, result);
    if (resumed !== undefined) end(process, resumed);
  }
}

function isSync(name: string): boolean {
  return name === "fdatasync" || name === "fsync";
}

function nameIn(args: string): string {
  return bytesOf(path.exec(args)?.[1] ?? "").toString();
}

function textsOf(args: string): Buffer[] {
  return [...args.matchAll(/"([^"]*)"/g)].map(([, text = ""]) => bytesOf(text));
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}
