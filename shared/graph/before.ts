import type { Node } from "../vocabulary.ts";
import { type Vertex, wire } from "./wiring.ts";

/** The ids of all steps that a step waits for, through others. */
export function stepsBefore(tree: Node[], stepId: string): Set<string> {
  const vertices = wire(tree);
  const bySteps = new Map(vertices.map((vertex) => [vertex.step?.id, vertex]));
  const found = new Set<string>();
  const seen = new Set<Vertex>();
  const next = [bySteps.get(stepId)];
  for (const vertex of next) {
    if (!vertex || seen.has(vertex)) continue;
    seen.add(vertex);
    if (vertex.step && vertex.step.id !== stepId) found.add(vertex.step.id);
    // The steps of an upload are also behind all that its job was behind.
    if (vertex.uploader !== undefined) next.push(bySteps.get(vertex.uploader));
    for (const need of vertex.needs) next.push(need.vertex);
  }
  return found;
}
