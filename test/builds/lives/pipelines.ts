/** A step of a random pipeline, as the model needs it. */
export interface Shape {
  type: "script" | "waiter" | "block" | "input" | "trigger";
  key: string;
  dependsOn?: string[];
  /** Jobs that it becomes. */
  copies: number;
  group?: string;
  priority: number;
  softFail: boolean;
  cancelsOnFailing: boolean;
  /** Retried by a rule, so many times. */
  retries: number;
  continueOnFailure: boolean;
  isAsync: boolean;
  /** The pipeline that it triggers, by its place. */
  target: number;
  blockedState?: "failed" | "running";
}

export interface Group {
  name: string;
  limit: number;
  isEager: boolean;
}

type Random = (below: number) => number;

/** Three pipelines: each may trigger the ones after it, and their jobs share two groups. */
export function randomPipelines(random: Random): { pipelines: Shape[][]; groups: Group[] } {
  const groups = [
    { name: "gate", limit: 1, isEager: false },
    { name: "shared", limit: 2, isEager: random(2) === 0 },
  ];
  return { groups, pipelines: [0, 1, 2].map((place) => randomPipeline(random, place, groups)) };
}

function randomPipeline(random: Random, place: number, groups: Group[]): Shape[] {
  const oneIn = (times: number) => random(times) === 0;
  const shapes: Shape[] = [];
  const typeOf = (index: number): Shape["type"] => {
    if (place < 2 && oneIn(4)) return "trigger";
    if (index > 0 && oneIn(4)) return "waiter";
    return oneIn(8) ? "block" : oneIn(6) ? "input" : "script";
  };
  const count = 3 + random(4);
  for (let index = 0; index < count; index++) {
    const type = typeOf(index);
    const isScript = type === "script";
    const runs = isScript || type === "trigger";
    shapes.push({
      type,
      key: `k${index}`,
      ...(runs && index > 0 && oneIn(5) && { dependsOn: oneIn(3) ? [] : [`k${random(index)}`] }),
      copies: runs && oneIn(5) ? 2 : 1,
      ...(isScript && !oneIn(4) && { group: groups[random(2)]?.name as string }),
      priority: isScript ? random(3) : 0,
      softFail: runs && oneIn(6),
      cancelsOnFailing: isScript && oneIn(3),
      retries: isScript && oneIn(6) ? 1 : 0,
      continueOnFailure: type === "waiter" && oneIn(3),
      isAsync: type === "trigger" && oneIn(4),
      target: place + 1 + (place === 0 ? random(2) : 0),
      ...(oneIn(2) && { blockedState: oneIn(2) ? "failed" : "running" }),
    });
  }
  return shapes;
}

/** The step as a caller of REST sends it. */
export function stepOf(shape: Shape, { groups, queue, slugs }: StepContext): object {
  const { type, key, dependsOn, copies, softFail } = shape;
  const common = { key, ...(dependsOn && { depends_on: dependsOn }) };
  const running = {
    ...common,
    ...(copies > 1 && { parallelism: copies }),
    ...(softFail && { soft_fail: true }),
  };
  if (type === "waiter") return { ...common, wait: null, continue_on_failure: shape.continueOnFailure };
  if (type === "block" || type === "input")
    return { ...common, [type]: key, ...(shape.blockedState && { blocked_state: shape.blockedState }) };
  if (type === "trigger") return { ...running, trigger: slugs[shape.target], async: shape.isAsync };
  const group = groups.find(({ name }) => name === shape.group);
  return {
    ...running,
    command: key,
    agents: { queue },
    priority: shape.priority,
    cancel_on_build_failing: shape.cancelsOnFailing,
    ...(shape.retries > 0 && { retry: { automatic: { exit_status: "*", limit: shape.retries } } }),
    ...(group && { concurrency_group: group.name, concurrency: group.limit }),
    ...(group?.isEager && { concurrency_method: "eager" }),
  };
}

interface StepContext {
  groups: Group[];
  queue: string;
  /** Of the pipelines, by their place; those that are triggered exist already. */
  slugs: (string | undefined)[];
}
