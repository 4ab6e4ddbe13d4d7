import type { Organization } from "../accounts/organization-store.ts";
import type { Problem } from "../refusal.ts";
import { blankToNull, isStorable } from "../validation.ts";
import { findShape, type InstanceShape, requireShape, shapeProblems, unknownShape } from "./shapes.ts";
import type { Queue } from "./store.ts";

/** The members as sent: the queue decides which check fails first. */
export interface HostedChange {
  instanceShape?: unknown;
  /** Absent: unchanged; null or blank: the default image. */
  agentImageRef?: unknown;
}

export const maxImageRefLength = 1000;
const platformNames = { linux: "linux", macos: "mac", windows: "windows" } as const;

type HostedColumns = Partial<Pick<Queue, "instanceShape" | "agentImageRef">>;

/**
 * Checks a change of a hosted queue. The first rule that fails is the answer (ingress/api/README.md, "Queues").
 * @returns the columns to change
 */
export function checkHostedChange(
  queue: Queue,
  organization: Organization,
  { instanceShape, agentImageRef }: HostedChange,
): { columns: HostedColumns } | { problem: Problem } {
  if (queue.instanceShape === null)
    return { problem: { field: "hostedAgents", message: "Queue is not hosted" } };
  const shape = checkShape(requireShape(queue.instanceShape), organization, instanceShape);
  if ("problem" in shape) return shape;
  if (agentImageRef === undefined) return { columns: { instanceShape: shape.name } };
  const problem = imageProblem(shape, organization, agentImageRef);
  if (problem !== undefined) return { problem: { field: "hostedAgents.agentImageRef", message: problem } };
  const image = blankToNull(agentImageRef as string | null);
  return { columns: { instanceShape: shape.name, agentImageRef: image } };
}

function checkShape(
  present: InstanceShape,
  organization: Organization,
  given: unknown,
): InstanceShape | { problem: Problem } {
  const fail = (message: string) => ({ problem: { field: "hostedAgents.instanceShape", message } });
  if (given === undefined || given === null || given === "")
    return fail("Instance shape cannot be changed to ");
  const shape = typeof given === "string" ? findShape(given) : undefined;
  if (!shape) return fail(unknownShape(given));
  if (shape.machineType !== present.machineType || shape.architecture !== present.architecture)
    return fail(`Instance shape cannot be changed to ${shape.name}`);
  // A queue keeps the shape that it has when the organization loses the feature.
  const [problem] = shape.name === present.name ? [] : shapeProblems(shape.name, organization);
  return problem ? { problem } : shape;
}

function imageProblem(
  { machineType }: InstanceShape,
  { features }: Organization,
  given: unknown,
): string | undefined {
  if (given === null || (typeof given === "string" && given.trim() === "")) return undefined;
  if (machineType !== "linux")
    return `Agent image ref cannot be configured for hosted ${platformNames[machineType]} queues`;
  if (!features.includes("custom_agent_images"))
    return "Custom agent images are not available to this organization";
  if (typeof given !== "string" || !isStorable(given)) return "Agent image ref must be text";
  if (given.length > maxImageRefLength) return "Agent image ref is too long (maximum is 1,000 characters)";
  return undefined;
}
