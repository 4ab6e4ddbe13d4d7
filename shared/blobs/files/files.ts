import { type FileHandle, open, opendir, readdir, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { hourMs } from "../../durations.ts";
import {
  type BlobContent,
  type Blobs,
  BlobsUnavailable,
  type ByteRange,
  NoRoomForBlob,
  type StoredBlob,
} from "../blobs.ts";
import { pieceBytes } from "../expected-content.ts";
import { openRoom } from "./room.ts";
import { unfinishedFolder, writeFile } from "./write.ts";

const maxNames = 1000;
/** A file that nothing was written to for so long belongs to a process that ended. */
const abandonedMs = hourMs;

/** Blobs are files, in a folder that all processes share. Makes no folder before the first write. */
export function openFiles(folder: string): Blobs {
  const root = resolve(folder);
  const room = openRoom(root);
  const pathOf = (name: string) => join(root, name);

  return {
    kind: "files",
    place: root,
    direct: undefined,
    write: (name, content, expected) =>
      translated(() =>
        room.use({ name, bytes: expected.bytes }, content, (within) =>
          writeFile(root, name, within, expected),
        ),
      ),
    read: (name, range) => translated(() => read(pathOf(name), range)),
    find: (name) => translated(() => find(pathOf(name))),
    delete: (names) =>
      translated(async () => {
        for (const name of names) await rm(pathOf(name), { force: true });
      }),
    list: ({ after }) => translated(() => list(root, after)),
    discardUnfinished: ({ now }) =>
      translated(() => discardAbandoned(join(root, unfinishedFolder), now.getTime() - abandonedMs)),
    close: async () => undefined,
  };
}

async function read(path: string, range?: ByteRange): Promise<BlobContent | undefined> {
  const found = await find(path);
  return found && { bytes: found.bytes, pieces: piecesOf(path, range ?? { from: 0, to: found.bytes - 1 }) };
}

async function* piecesOf(path: string, { from, to }: ByteRange): AsyncGenerator<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    for (let at = from; at <= to; ) {
      const { bytesRead, buffer } = await file.read({
        buffer: Buffer.allocUnsafe(Math.min(pieceBytes, to + 1 - at)),
        position: at,
      });
      if (bytesRead === 0) throw new BlobsUnavailable(`${path} is shorter than it was`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw translate(error);
  } finally {
    await file?.close();
  }
}

async function find(path: string): Promise<StoredBlob | undefined> {
  const found = await unlessMissing(stat(path));
  return found?.isFile() ? { bytes: found.size, storedAt: found.mtime } : undefined;
}

async function list(root: string, after = ""): Promise<{ names: string[]; next: string | undefined }> {
  let found: string[] = [];
  for (const kind of await foldersIn(root))
    for (const part of await foldersIn(join(root, kind))) {
      const prefix = `${kind}/${part}/`;
      if (prefix < after && !after.startsWith(prefix)) continue;
      const files = (await unlessMissing(readdir(join(root, prefix)))) ?? [];
      const names = files.map((file) => prefix + file).filter((name) => name > after);
      found = [...found, ...names.sort()];
      if (found.length >= maxNames) return { names: found.slice(0, maxNames), next: found[maxNames - 1] };
    }
  return { names: found, next: undefined };
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = (await unlessMissing(readdir(path, { withFileTypes: true }))) ?? [];
  return entries
    .filter((entry) => entry.isDirectory() && entry.name !== unfinishedFolder)
    .map(({ name }) => name)
    .sort();
}

async function discardAbandoned(folder: string, before: number): Promise<number> {
  let discarded = 0;
  for await (const { name } of (await unlessMissing(opendir(folder))) ?? []) {
    const path = join(folder, name);
    const found = await unlessMissing(stat(path));
    if (!found || found.mtimeMs >= before) continue;
    await rm(path, { force: true });
    discarded++;
  }
  return discarded;
}

async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translate(error);
  }
}

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException)?.code ?? "");
const fullCodes = new Set(["ENOSPC", "EDQUOT"]);
/** Of the connection that content comes from. */
const connectionCodes = /^E(CONN|PIPE)/;

/** A fault of the file system becomes BlobsUnavailable. */
function translate(error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException;
  if (error instanceof BlobsUnavailable || syscall === undefined || connectionCodes.test(codeOf(error)))
    return error;
  const Kind = fullCodes.has(codeOf(error)) ? NoRoomForBlob : BlobsUnavailable;
  return new Kind(`The folder of blobs is unavailable: ${message}`, { cause: error });
}
