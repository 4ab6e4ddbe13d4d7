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

export interface Stages {
  stages: StageItem[][];
  /** The waits, blocks and inputs before each stage, by its place; the last ones are behind all stages. */
  gates: StepNode[][];
}

/**
 * Parts a build into stages. The stage of a step is the next one after the highest of what it needs; steps that are not
 * shown, such as waits, take none. A group is in the stage of its first step. Its waits are no gates of the build.
 * @param isShown chooses the steps
 */
export function stagesOf(tree: Node[], isShown: (step: StepNode) => boolean): Stages {
  const ranks = rankSteps(tree);
  const byRank: StageItem[][] = [];
  for (const item of itemsOf(tree, isShown)) {
    item.steps.sort((one, other) => rankOf(one) - rankOf(other));
    const [first] = item.steps;
    if (!first) continue;
    const rank = rankOf(first);
    byRank[rank] ??= [];
    byRank[rank].push(item);
  }
  const gates = Map.groupBy(gatesOf(tree), rankOf);
  const taken = byRank.flatMap((_, rank) => rank); // without ranks that have only later steps of groups
  return {
    stages: taken.map((rank) => byRank[rank] ?? []),
    gates: [...taken, Number.POSITIVE_INFINITY].map((rank, place) =>
      [...gates].flatMap(([own, steps]) => (own <= rank && own > (taken[place - 1] ?? -1) ? steps : [])),
    ),
  };

  function rankOf({ id }: StepNode): number {
    return ranks.get(id) ?? ranks.size; // a circle, behind all else
  }

  /** The number of stages before each step, by its id. */
  function rankSteps(tree: Node[]): Map<string, number> {
    const vertices = wireWithUploads(tree);
    const ranks = new Map<string, number>();
    const ends: number[] = [];
    for (const { index, step, needs } of inOrder(vertices)) {
      const rank = needs.reduce((highest, need) => Math.max(highest, ends[need.vertex.index] ?? 0), 0);
      if (step) ranks.set(step.id, rank);
      ends[index] = step && isShown(step) ? rank + 1 : rank;
    }
    return ranks;
  }
}

function gatesOf(nodes: Node[], isInGroup = false): StepNode[] {
  return nodes.flatMap((node): StepNode[] => {
    if (!isStep(node)) return gatesOf(node.steps, isInGroup || !isUpload(node));
    return node.manual || (node.wait && !isInGroup) ? [node] : [];
  });
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
