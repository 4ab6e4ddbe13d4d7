import type { Dependency, GroupNode, Node, StepNode, UploadNode } from "../vocabulary.ts";
import { isStep, isUpload } from "./tree.ts";

// A tree as a graph of needs. Its size is that of the tree and of its dependencies together.

/** A step, the job of an uploader, or all that it needs together. */
export interface Vertex {
  /** Its place in the list of all. */
  index: number;
  needs: Need[];
  step: StepNode | undefined;
  /** The id of a job. */
  job: string | undefined;
  /** The id of that job's step. */
  uploader: string | undefined;
  /** Keys that it names and nothing has. Undefined: none. */
  missing: string[] | undefined;
}

export interface Need {
  vertex: Vertex;
  /** A failure satisfies it, a cancelation does not. */
  forgives: boolean;
}

/** All that the steps of a list wait for besides the waits of their list. */
interface Context {
  /** By every step: the dependencies of its groups. */
  always: Vertex[];
  /** By steps without `dependsOn`. */
  implicit: Vertex[];
  /** A group of theirs allows failures. */
  forgives: boolean;
}

interface NamedDependencies {
  vertex: Vertex;
  dependsOn: Dependency[];
  forgives: boolean;
}

/** Lists the vertices of a tree. */
export function wire(tree: Node[]): Vertex[] {
  const vertices: Vertex[] = [];
  const add = ({ needs = [], step, job, uploader }: Partial<Vertex> = {}): Vertex => {
    const vertex: Vertex = { index: vertices.length, needs, step, job, uploader, missing: undefined };
    vertices.push(vertex);
    return vertex;
  };
  const byKey = new Map<string, StepNode | Vertex>();
  const steps = new Map<string, Vertex>();
  /** Steps with all that their jobs upload. */
  const wholes = new Map<string, Vertex>();
  /** Where the vertices of what a step's jobs upload are. */
  const uploads = new Map<string, { from: number; to: number }>();
  const named: NamedDependencies[] = [];

  const addList = (nodes: Node[], context: Context): Vertex => {
    let waits: Vertex[] = [];
    let before: Vertex[] = [];
    let sinceWait: Vertex[] = [];
    const addStep = (step: StepNode): Vertex => {
      const vertex = add({ step });
      const { dependsOn, wait, continueOnFailure = false } = step;
      const forgives = context.forgives || step.allowDependencyFailure === true;
      vertex.needs = needs(context.always, forgives);
      const implicit = [...context.implicit, ...waits];
      if (dependsOn) named.push({ vertex, dependsOn, forgives: forgives || continueOnFailure });
      else if (!wait) vertex.needs.push(...needs(implicit, forgives));
      else {
        // A wait that failed stops later ones, whatever they forgive.
        vertex.needs.push(...needs(implicit, false));
        vertex.needs.push(...needs(continueOnFailure ? sinceWait : before, continueOnFailure || forgives));
      }
      steps.set(step.id, vertex);
      wholes.set(step.id, vertex);
      if (step.key !== undefined) byKey.set(step.key, step);
      return vertex;
    };
    const addGroup = ({ key, dependsOn, allowDependencyFailure, steps: inner }: GroupNode): Vertex => {
      const { always } = context;
      const forgives = context.forgives || allowDependencyFailure === true;
      const gate = dependsOn && add();
      if (gate) named.push({ vertex: gate, dependsOn, forgives });
      // One vertex for all, as of waits: groups may be nested deeply by uploads.
      const gates = gate && always.length > 0 ? add({ needs: needs([...always, gate], false) }) : gate;
      const whole = addList(inner, {
        always: gates ? [gates] : always,
        implicit: gate ? [] : [...context.implicit, ...waits],
        forgives,
      });
      if (key !== undefined) byKey.set(key, whole);
      return whole;
    };
    const addUpload = ({ uploadedBy: { step, job }, steps: inner }: UploadNode): Vertex => {
      const from = uploads.get(step)?.from ?? vertices.length;
      const start = add({
        needs: needs([...context.implicit, ...waits, add({ job, uploader: step })], false),
      });
      const uploaded = addList(inner, { ...context, implicit: [start] });
      uploads.set(step, { from, to: vertices.length });
      const uploader = wholes.get(step);
      if (uploader) wholes.set(step, add({ needs: needs([uploader, uploaded], false) }));
      return uploaded;
    };
    for (const node of nodes) {
      const vertex = isStep(node) ? addStep(node) : isUpload(node) ? addUpload(node) : addGroup(node);
      if (!isStep(node) || !node.wait) {
        before.push(vertex);
        sinceWait.push(vertex);
        continue;
      }
      // One vertex for all so far: else long lists have needs without end.
      waits = [waits.length > 0 ? add({ needs: needs([...waits, vertex], false) }) : vertex];
      before = [add({ needs: needs(before, false) })];
      sinceWait = [];
    }
    return add({ needs: needs([...before, ...waits], false) });
  };

  addList(tree, { always: [], implicit: [], forgives: false });
  /** To what a step's jobs upload, its key means the step alone: else they would wait for themselves. */
  const vertexOf = (key: string, { index }: Vertex): Vertex | undefined => {
    const found = byKey.get(key);
    if (!found || !("id" in found)) return found;
    const { from, to } = uploads.get(found.id) ?? { from: 0, to: 0 };
    return (from <= index && index < to ? steps : wholes).get(found.id);
  };
  for (const { vertex, dependsOn, forgives } of named)
    for (const { step: key, allow_failure = false } of dependsOn) {
      const found = vertexOf(key, vertex);
      if (found) vertex.needs.push({ vertex: found, forgives: forgives || allow_failure });
      else vertex.missing = [...(vertex.missing ?? []), key];
    }
  return vertices;
}

/** Like `wire`, with what a job uploads behind the step of that job. */
export function wireWithUploads(tree: Node[]): Vertex[] {
  const vertices = wire(tree);
  const bySteps = new Map(vertices.map((vertex) => [vertex.step?.id, vertex]));
  for (const vertex of vertices) {
    const uploader = vertex.uploader === undefined ? undefined : bySteps.get(vertex.uploader);
    if (uploader) vertex.needs.push({ vertex: uploader, forgives: false });
  }
  return vertices;
}

/** Outside of the loops: tsx names each function that is made, which takes longer than all else here. */
function needs(vertices: Vertex[], forgives: boolean): Need[] {
  return vertices.map((vertex) => ({ vertex, forgives }));
}
