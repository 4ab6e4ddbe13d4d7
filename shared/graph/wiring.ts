import type { Dependency, GroupNode, Node, StepNode, UploadNode } from "../vocabulary.ts";
import { isStep, isUpload } from "./tree.ts";

// A tree as a graph of needs. Its size is that of the tree and of its dependencies together.

/** A step, the job of an uploader, or all that it needs together. */
export interface Vertex {
  /** Its place in the list of all. */
  index: number;
  needs: Need[];
  step?: StepNode;
  /** The id of a job. */
  job?: string;
  /** It names a key that nothing has. */
  isMissing?: true;
}

export interface Need {
  vertex: Vertex;
  /** A failure satisfies it, a cancelation does not. */
  forgives: boolean;
}

/** What the steps of a list wait for besides the waits of their list. */
interface Context {
  /** By every step: the dependencies of its groups. */
  always: Vertex[];
  /** By steps without `dependsOn`. */
  implicit: Vertex[];
  /** A group of theirs allows failures. */
  forgives: boolean;
  /** Steps whose jobs uploaded the list. */
  uploaders: ReadonlySet<string>;
}

interface NamedDependencies {
  vertex: Vertex;
  dependsOn: Dependency[];
  forgives: boolean;
  uploaders: ReadonlySet<string>;
}

/** Lists the vertices of a tree. */
export function wire(tree: Node[]): Vertex[] {
  const vertices: Vertex[] = [];
  const add = (parts: Partial<Vertex> = {}): Vertex => {
    const vertex: Vertex = { index: vertices.length, needs: [], ...parts };
    vertices.push(vertex);
    return vertex;
  };
  const byKey = new Map<string, StepNode | Vertex>();
  const steps = new Map<string, Vertex>();
  /** Steps with all that their jobs upload. */
  const wholes = new Map<string, Vertex>();
  const named: NamedDependencies[] = [];

  const addList = (nodes: Node[], context: Context): Vertex => {
    let waits: Vertex[] = [];
    let before: Vertex[] = [];
    let sinceWait: Vertex[] = [];
    const addStep = (step: StepNode): Vertex => {
      const vertex = add({ step });
      const { dependsOn, wait, continueOnFailure = false } = step;
      const forgives = context.forgives || step.allowDependencyFailure === true;
      vertex.needs = context.always.map((each) => ({ vertex: each, forgives }));
      const need = (others: Vertex[], forgives: boolean) =>
        vertex.needs.push(...others.map((each) => ({ vertex: each, forgives })));
      if (dependsOn)
        named.push({
          vertex,
          dependsOn,
          forgives: forgives || continueOnFailure,
          uploaders: context.uploaders,
        });
      else if (!wait) need([...context.implicit, ...waits], forgives);
      else {
        // A wait that failed stops later ones, whatever they forgive.
        need([...context.implicit, ...waits], false);
        need(continueOnFailure ? sinceWait : before, continueOnFailure || forgives);
      }
      steps.set(step.id, vertex);
      wholes.set(step.id, vertex);
      if (step.key !== undefined) byKey.set(step.key, step);
      return vertex;
    };
    const addGroup = ({ key, dependsOn, allowDependencyFailure, steps: inner }: GroupNode): Vertex => {
      const { always, uploaders } = context;
      const forgives = context.forgives || allowDependencyFailure === true;
      const gate = dependsOn && add();
      if (gate) named.push({ vertex: gate, dependsOn, forgives, uploaders });
      const whole = addList(inner, {
        always: gate ? [...always, gate] : always,
        implicit: gate ? [] : [...context.implicit, ...waits],
        forgives,
        uploaders,
      });
      if (key !== undefined) byKey.set(key, whole);
      return whole;
    };
    const addUpload = ({ uploadedBy: { step, job }, steps: inner }: UploadNode): Vertex => {
      const uploaders = new Set([...context.uploaders, step]);
      const implicit = [...context.implicit, ...waits, add({ job })];
      const uploaded = addList(inner, { ...context, implicit, uploaders });
      const uploader = wholes.get(step);
      if (uploader) wholes.set(step, add({ needs: [uploader, uploaded].map(plain) }));
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
      waits = [waits.length > 0 ? add({ needs: [...waits, vertex].map(plain) }) : vertex];
      before = [add({ needs: before.map(plain) })];
      sinceWait = [];
    }
    return add({ needs: [...before, ...waits].map(plain) });
  };

  addList(tree, { always: [], implicit: [], forgives: false, uploaders: new Set() });
  for (const { vertex, dependsOn, forgives, uploaders } of named)
    for (const { step: key, allow_failure = false } of dependsOn) {
      const found = byKey.get(key);
      if (!found) vertex.isMissing = true;
      else vertex.needs.push({ vertex: vertexOf(found), forgives: forgives || allow_failure });
      // To what a step's jobs upload, its key means the step alone: else they would wait for themselves.
      function vertexOf(found: StepNode | Vertex): Vertex {
        if (!("id" in found)) return found;
        return (uploaders.has(found.id) ? steps : wholes).get(found.id) as Vertex;
      }
    }
  return vertices;
}

function plain(vertex: Vertex): Need {
  return { vertex, forgives: false };
}
