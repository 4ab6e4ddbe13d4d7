import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { excerpt } from "../../refusal.ts";

// Values of a YAML document: the package bounds neither merges nor the size of aliases
// (shared/decisions/27-a-trick-has-its-figures.md). Aliases share their value, so the whole is counted as if each were a copy: a few lines can
// stand for millions of values.

const maxDepth = 100;
/** With a copy for each alias: 8 for a value, and the length of its text. */
const maxSize = 1024 * 1024;
/** A short document would become thousands of times as large otherwise. */
const sizeOfAny = 32 * 1024;
const maxGrowth = 16;
const maxAliases = 1000;

/** Carries a problem and its place, in UTF-16 units. */
export class YamlProblem extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

interface Read {
  value: unknown;
  size: number;
  /** Levels below it, itself included. */
  height: number;
}

interface Anchored extends Read {
  node: unknown;
}

type OnRepeatedKey = (key: string, at: number) => void;

/** Reads a document once, and then says where its values are. */
export class YamlValues {
  readonly value: unknown;
  readonly #contents: unknown;
  readonly #anchors = new Map<string, Anchored>();
  readonly #targets = new Map<Alias, Anchored>();
  readonly #onRepeatedKey: OnRepeatedKey;
  readonly #maxSize: number;

  /**
   * Of a key that a map has twice, the last value counts.
   * @param onRepeatedKey may refuse it
   * @throws YamlProblem
   */
  constructor({ contents, range }: Document, onRepeatedKey: OnRepeatedKey = refuseRepeatedKey) {
    this.#contents = contents;
    this.#maxSize = Math.min(maxSize, sizeOfAny + maxGrowth * (range?.[2] ?? 0));
    this.#onRepeatedKey = onRepeatedKey;
    this.value = this.#read(contents, 1).value;
  }

  /** Returns the index of the value at a path, or of the nearest that is there. Of a member: its name. */
  locate(path: readonly PropertyKey[]): number {
    let node = this.#contents;
    let at = offsetOf(node) ?? 0;
    for (const part of path) {
      const found = this.#step(node, part);
      if (!found) break;
      node = found.node;
      at = found.at ?? at;
    }
    return at;
  }

  #read(node: unknown, depth: number): Read {
    const read = this.#readAny(node, depth);
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor !== undefined && !isAlias(node)) this.#anchors.set(anchor, { ...read, node });
    if (read.size > this.#maxSize) throw tooLarge(node);
    if (depth + read.height - 1 > maxDepth)
      throw new YamlProblem(`is nested deeper than ${maxDepth} levels`, offsetOf(node) ?? 0);
    return read;
  }

  #readAny(node: unknown, depth: number): Read {
    if (isAlias(node)) return this.#readAlias(node);
    if (isScalar(node)) return readScalar(node);
    if (depth > maxDepth) return { value: null, size: 0, height: 2 };
    if (isMap(node)) return this.#readMap(node, depth);
    if (isSeq(node)) return this.#readList(node, depth);
    return { value: null, size: 8, height: 1 };
  }

  #readAlias(alias: Alias): Read {
    const at = offsetOf(alias) ?? 0;
    const target = this.#anchors.get(alias.source);
    if (!target) throw new YamlProblem(`has no anchor &${excerpt(alias.source)} before this alias`, at);
    this.#targets.set(alias, target);
    if (this.#targets.size > maxAliases)
      throw new YamlProblem(`has more than ${maxAliases.toLocaleString("en")} aliases`, at);
    return target;
  }

  #readList({ items }: YAMLSeq, depth: number): Read {
    let size = 0;
    const reads = items.map((item) => {
      const read = this.#read(item, depth + 1);
      size += read.size;
      if (size > this.#maxSize) throw tooLarge(item);
      return read;
    });
    return combine(reads, (values) => values);
  }

  #readMap(map: YAMLMap, depth: number): Read {
    const own = new Map<string, unknown>();
    const merged = new Map<string, unknown>();
    let size = 0;
    const reads = map.items.map((pair) => {
      if (isAlias(pair.key)) this.#readAlias(pair.key);
      const key = isMerge(pair) ? "<<" : this.#keyOf(pair);
      if (!isMerge(pair) && own.has(key)) this.#onRepeatedKey(key, offsetOf(pair.key) ?? 0);
      const read = this.#read(pair.value, depth + 1);
      size += read.size + key.length;
      if (size > this.#maxSize) throw tooLarge(pair.key);
      if (isMerge(pair)) this.#merge(read.value, merged, pair);
      else own.set(key, read.value);
      return { ...read, size: read.size + key.length };
    });
    return combine(reads, () => Object.fromEntries([...merged, ...own]));
  }

  /** Of several maps the first wins. */
  #merge(value: unknown, merged: Map<string, unknown>, { key }: Pair): void {
    for (const map of [value].flat()) {
      if (typeof map !== "object" || map === null || Array.isArray(map))
        throw new YamlProblem("merges with << what is no map", offsetOf(key) ?? 0);
      for (const [name, inner] of Object.entries(map)) if (!merged.has(name)) merged.set(name, inner);
    }
  }

  #keyOf({ key }: Pair): string {
    const node = this.#follow(key);
    if (node === null) return "";
    if (!isScalar(node)) throw new YamlProblem("has a key that is no text", offsetOf(key) ?? 0);
    return typeof node.value === "string" ? node.value : (node.source ?? "");
  }

  #step(given: unknown, part: PropertyKey): { node: unknown; at: number | undefined } | undefined {
    const node = this.#follow(given);
    if (isSeq(node) && typeof part === "number" && part in node.items)
      return { node: node.items[part], at: offsetOf(node.items[part]) };
    if (!isMap(node)) return undefined;
    const pair = node.items.findLast((each) => !isMerge(each) && this.#keyOf(each) === part);
    if (pair) return { node: pair.value, at: offsetOf(pair.key) };
    for (const { value } of node.items.filter(isMerge)) {
      const maps = this.#follow(value);
      for (const map of isSeq(maps) ? maps.items : [maps]) {
        const found = this.#step(map, part);
        if (found) return found;
      }
    }
    return undefined;
  }

  #follow(node: unknown): unknown {
    return isAlias(node) ? this.#targets.get(node)?.node : node;
  }
}

function refuseRepeatedKey(key: string, at: number): never {
  throw new YamlProblem(`has the key ${excerpt(key)} twice`, at);
}

function tooLarge(node: unknown): YamlProblem {
  return new YamlProblem("becomes too large by its aliases", offsetOf(node) ?? 0);
}

function combine(reads: Read[], make: (values: unknown[]) => unknown): Read {
  const size = reads.reduce((total, read) => total + read.size, 8);
  const height = reads.reduce((most, read) => Math.max(most, read.height), 0) + 1;
  return { value: make(reads.map(({ value }) => value)), size, height };
}

function readScalar({ value, source = "" }: Scalar): Read {
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  const read = isLarge ? source : value;
  return { value: read, size: 8 + (typeof read === "string" ? read.length : 0), height: 1 };
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.type === "PLAIN" && key.value === "<<";
}

function offsetOf(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] | null } | null)?.range?.[0];
}
