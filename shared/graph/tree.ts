import type { Node, StepNode, UploadNode } from "../vocabulary.ts";

// The steps of a build in the order of its document, and what each of them waits for. Jobs refer to their step by its id.
//
// - A list is cut by its waits: a step without `dependsOn` waits for the waits before it, a wait for all steps before it.
// - A group is a list of its own. Its key stands for all its steps.
// - The steps that a job uploads are a list too, directly behind the step of that job. They wait for that job, and who
//   waits for its step waits for them.

/** A step of a build without a stored tree. */
export interface ListedStep {
  id: string;
  key?: string | undefined;
  isWait: boolean;
  continueOnFailure?: boolean | undefined;
}

/** The tree of steps that wait for nothing but the waits before them. */
export function treeOfList(steps: ListedStep[]): Node[] {
  return steps.map(({ id, key, isWait, continueOnFailure }) => ({
    id,
    ...(key !== undefined && { key }),
    ...(isWait && { wait: true as const }),
    ...(continueOnFailure && { continueOnFailure: true as const }),
  }));
}

/** Returns true if the waits before a step say all that it waits for, and nobody must unblock one. */
export function isList(nodes: Node[]): boolean {
  return nodes.every(
    (node) => isStep(node) && !node.dependsOn && !node.allowDependencyFailure && !node.manual,
  );
}

export function isStep(node: Node): node is StepNode {
  return !("steps" in node);
}

export function isUpload(node: Node): node is UploadNode {
  return "uploadedBy" in node;
}

/**
 * Puts uploaded steps directly behind the step of the job that uploads them, before what it uploaded earlier.
 * @returns the new tree
 */
export function withUpload(nodes: Node[], upload: UploadNode): Node[] {
  return nodes.flatMap((node): Node[] => {
    if (!isStep(node)) return [{ ...node, steps: withUpload(node.steps, upload) }];
    return node.id === upload.uploadedBy.step ? [node, upload] : [node];
  });
}

/**
 * Removes steps. Groups and uploads that are empty then go too, with their keys.
 * @returns the new tree
 */
export function withoutSteps(nodes: Node[], ids: ReadonlySet<string>): Node[] {
  return nodes.flatMap((node): Node[] => {
    if (isStep(node)) return ids.has(node.id) ? [] : [node];
    const steps = withoutSteps(node.steps, ids);
    return steps.length === 0 && node.steps.length > 0 ? [] : [{ ...node, steps }];
  });
}

/** By the step that a job uploaded: that job. The others are steps of the pipeline. */
export function uploadersOf(nodes: Node[], uploader?: string): Map<string, string> {
  return new Map(
    nodes.flatMap((node): [string, string][] => {
      if (isStep(node)) return uploader === undefined ? [] : [[node.id, uploader]];
      return [...uploadersOf(node.steps, isUpload(node) ? node.uploadedBy.job : uploader)];
    }),
  );
}

/** Counts the keys that steps and groups depend on. */
export function countDependencies(nodes: Node[]): number {
  return nodes.reduce((total, node) => {
    const own = "dependsOn" in node ? (node.dependsOn?.length ?? 0) : 0;
    return total + own + (isStep(node) ? 0 : countDependencies(node.steps));
  }, 0);
}

/** The keys of steps and groups. */
export function keysOf(nodes: Node[]): string[] {
  return nodes.flatMap((node) => [
    ...("key" in node && node.key !== undefined ? [node.key] : []),
    ...(isStep(node) ? [] : keysOf(node.steps)),
  ]);
}
