import type { GroupNode, Node, StepNode } from "../vocabulary.ts";
import { inOrder } from "./progress.ts";
import { isStep, isUpload } from "./tree.ts";
import { wireWithUploads } from "./wiring.ts";

/** A part of a stage: a step, or a group with all its steps. */
export interface StageItem {
  /** Absent: the step belongs to no group. */
  group?: Pick<GroupNode, "id" | "label" | "key">;
  steps: StepNode[];
}

/**
 * Parts a build into stages. The stage of a step is the next one after the highest of what it needs; steps that are not
 * shown, such as waits, take none. A group is in the stage of its first step.
 * @param isShown chooses the steps
 */
export function stagesOf(tree: Node[], isShown: (step: StepNode) => boolean): StageItem[][] {
  const ranks = rankSteps(tree, isShown);
  const stages: StageItem[][] = [];
  for (const item of itemsOf(tree, isShown)) {
    item.steps.sort((one, other) => rankOf(one) - rankOf(other));
    const [first] = item.steps;
    if (!first) continue;
    const rank = rankOf(first);
    stages[rank] ??= [];
    stages[rank].push(item);
  }
  return stages.filter((items) => items !== undefined); // those that had only later steps of groups

  function rankOf({ id }: StepNode): number {
    return ranks.get(id) ?? ranks.size; // a circle, behind all else
  }
}

/** The number of stages before each step, by its id. */
function rankSteps(tree: Node[], isShown: (step: StepNode) => boolean): Map<string, number> {
  const vertices = wireWithUploads(tree);
  const ranks = new Map<string, number>();
  const ends: number[] = [];
  for (const { index, step, needs } of inOrder(vertices)) {
    const rank = needs.reduce((highest, need) => Math.max(highest, ends[need.vertex.index] ?? 0), 0);
    const takesStage = step !== undefined && isShown(step);
    if (takesStage) ranks.set(step.id, rank);
    ends[index] = takesStage ? rank + 1 : rank;
  }
  return ranks;
}

/** In the order of the document. Uploaded steps belong to the list of the step that uploads them. */
function itemsOf(nodes: Node[], isShown: (step: StepNode) => boolean): StageItem[] {
  return nodes.flatMap((node): StageItem[] => {
    if (isStep(node)) return isShown(node) ? [{ steps: [node] }] : [];
    const inner = itemsOf(node.steps, isShown);
    if (isUpload(node)) return inner;
    const { id, label, key } = node;
    return [
      { group: { id, label, ...(key !== undefined && { key }) }, steps: inner.flatMap(({ steps }) => steps) },
    ];
  });
}
