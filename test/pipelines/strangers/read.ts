import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { sendSteps } from "./agent-parser.ts";

/** A pipeline that somebody wrote for the hosted service, without its texts. Its folder's `index.yaml` says this of it. */
export interface Stranger {
  /** Its folder and its file, without `.yaml`. */
  name: string;
  /** The features that it uses, for people. */
  uses: string;
  /** Members that nothing here does yet. Its upload is refused, and they are named. */
  refused: string[];
  /** Members that have no effect here. They are named when it is uploaded. */
  warned: string[];
  /** By slug: the pipelines that its steps trigger, each another file of the folder. Without one, a trigger fails. */
  triggers: Record<string, string>;
  /** The rules of its jobs, each `tag=value`. */
  agents: string[][];
  builds: ExpectedBuild[];
}

/** A build to upload the pipeline to, and what becomes of it. A name is the key of a step, or else its label. */
export interface ExpectedBuild {
  branch?: string;
  message?: string;
  env?: Record<string, string>;
  /** By the step whose command uploads it: another file of the folder. */
  uploads?: Record<string, string>;
  /** By step: the exit statuses of its first attempts. All others are 0. */
  exits?: Record<string, number[]>;
  /** By step: what the person who unblocks it fills in, by the key of the field. */
  answers?: Record<string, Record<string, string>>;
  /** The context and style of each annotation that is left, and the body. */
  annotations?: string[];
  /** The jobs with commands. */
  jobs: number;
  left_out?: LeftOut;
  failed?: string[];
  waiting_failed?: string[];
  blocked_failed?: string[];
  /** Default: passed. */
  state?: string;
}

export interface LeftOut {
  if?: string[];
  branches?: string[];
  skip?: string[];
  /** By step: how many combinations of its matrix. */
  matrix?: Record<string, number>;
  waits?: number;
}

const folder = import.meta.dirname;

export function listStrangers(): Stranger[] {
  const kinds = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return kinds.flatMap(({ name: kind }) => {
    const index: Record<string, Partial<Stranger>> = readYaml(join(kind, "index.yaml"));
    return Object.entries(index).map(([file, given]) => ({
      uses: "",
      refused: [],
      warned: [],
      triggers: {},
      agents: [],
      builds: [],
      ...given,
      name: `${kind}/${file}`,
    }));
  });
}

/** The pipelines that the builds of another one upload or trigger. */
export function reachedBy(stranger: Stranger): Stranger[] {
  const uploads = stranger.builds.flatMap(({ uploads = {} }) => Object.values(uploads));
  const files = [...uploads, ...Object.values(stranger.triggers)];
  const names = new Set(files.map((file) => siblingOf(stranger, file)));
  return listStrangers().filter(({ name }) => names.has(name));
}

/** The name of another file of its folder. */
export function siblingOf({ name }: Stranger, file: string): string {
  return `${name.slice(0, name.indexOf("/"))}/${file}`;
}

/** The files beside the index of each folder. */
export function listFiles(): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".yaml") && !file.endsWith("index.yaml"));
}

/** The document that an agent sends of the file. Agents before v3.40 send the document as it is. */
export function readPipeline(name: string, { isParsed }: { isParsed: boolean }): unknown {
  const document = readYaml(`${name}.yaml`);
  return isParsed ? sendSteps(document) : document;
}

/** The document as its author keeps it. */
export const readText = (name: string) => readFileSync(join(folder, `${name}.yaml`), "utf8");

/** The keys of all secrets that a document names. */
export function secretsIn(document: unknown): string[] {
  if (typeof document !== "object" || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) => {
    if (name !== "secrets") return secretsIn(value);
    const keys = Object.values(value as object).map((each) => (each as { key?: string }).key ?? String(each));
    return keys.filter((key) => /^[a-z]\w*$/i.test(key));
  });
}

/** Parsed once: the indexes are read for each pipeline, and a document for each of its builds. */
// biome-ignore lint/suspicious/noExplicitAny: documents have any form
const documents = new Map<string, any>();

/** The agents' parser has no bound of aliases. */
// biome-ignore lint/suspicious/noExplicitAny: documents have any form
function readYaml(file: string): any {
  const known = documents.get(file);
  if (known !== undefined) return known;
  const document = parse(readFileSync(join(folder, file), "utf8"), { merge: true, maxAliasCount: -1 });
  documents.set(file, document);
  return document;
}
