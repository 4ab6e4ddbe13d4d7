import { Composer, type Document, type ErrorCode, Parser, type YAMLError } from "yaml";
import { excerpt } from "../../refusal.ts";
import { YamlProblem } from "./values.ts";

type OnError = (source: unknown, code: ErrorCode, message: string, isWarning?: boolean) => void;

type Problems = Record<"errors" | "warnings", YAMLError[]>;

const options = {
  version: "1.2",
  resolveKnownTags: false,
  // Compares each with each. Values are read with a faster check.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "error",
} as const;

/** Some messages of the library have a whole tag or directive of the document. */
const maxMessageLength = 200;

/**
 * Parses one document of YAML 1.2. Values are read from it with `YamlValues`.
 * @throws YamlProblem for the first error, RangeError if it is nested too deeply
 */
export function parseYaml(text: string): Document {
  const document = composeOne(text);
  if (document.directives?.yaml.explicit && document.directives.yaml.version !== "1.2")
    throw new YamlProblem("must be YAML 1.2", 0);
  return document;
}

/** The library's `parseDocument` collects all errors: 60 KB of them take 300 ms. */
function composeOne(text: string): Document {
  const composer = openComposer();
  let first: Document | undefined;
  for (const document of composer.compose(new Parser().parse(text), true, text.length)) {
    if (first) throw new YamlProblem("must be one document, without ---", document.range[0]);
    first = document;
    const problem = findFirst(document);
    if (problem) throw problem;
  }
  return first as Document;
}

/** Throws at the first error or warning. The library has no setting for that. */
function openComposer(): Composer {
  const composer = new Composer(options);
  const inside = composer as unknown as Problems & { onError: OnError };
  const keep = inside.onError;
  let first: Error | undefined;
  inside.onError = (...error) => {
    if (!first) keep(...error);
    first ??= findFirst(inside);
    // The library catches some of these, and reports them as errors of their own.
    throw first;
  };
  return composer;
}

function findFirst({ errors, warnings }: Problems): Error | undefined {
  const [problem] = [...errors, ...warnings];
  if (!problem) return undefined;
  const { code, message, pos } = problem;
  return code === "RESOURCE_EXHAUSTION"
    ? new RangeError(message)
    : new YamlProblem(excerpt(message, maxMessageLength), pos[0]);
}
