import { type Document, parseDocument } from "yaml";
import { YamlProblem } from "./values.ts";

/**
 * Parses one document of YAML 1.2. Values are read from it with `YamlValues`.
 * @throws YamlProblem for the first error, RangeError if it is nested too deeply
 */
export function parseYaml(text: string): Document {
  const document = parseDocument(text, {
    version: "1.2",
    resolveKnownTags: false,
    // Compares each with each. Values are read with a faster check.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error?.code === "MULTIPLE_DOCS")
    throw new YamlProblem("must be one document, without ---", error.pos[0]);
  if (error?.code === "RESOURCE_EXHAUSTION") throw new RangeError(error.message);
  if (error) throw new YamlProblem(error.message, error.pos[0]);
  if (document.directives?.yaml.explicit && document.directives.yaml.version !== "1.2")
    throw new YamlProblem("must be YAML 1.2", 0);
  return document;
}
