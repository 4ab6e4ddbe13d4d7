import type { Organization } from "../accounts/organization-store.ts";
import { validationFailed } from "../refusal.ts";
import { isStorable } from "../validation.ts";
import { findShape, type InstanceShape, requireShape, unknownShape } from "./shapes.ts";
import type { Queue } from "./store.ts";

/** As sent: the queue decides which check fails first. */
export interface HostedChange {
  instanceShape?: unknown;
  /** Absent: unchanged; null or blank: the default image. */
  agentImageRef?: unknown;
}

const maxImageRefLength = 1000;
const platformNames = { linux: "linux", macos: "mac", windows: "windows" } as const;

/**
 * Checks a change of a hosted queue. The first rule that fails is the answer (ingress/README.md, "Queues").
 * @returns the columns to change
 * @throws Refusal 422
 */
export function checkHostedChange(
  queue: Queue,
  organization: Organization,
  { instanceShape, agentImageRef }: HostedChange,
): Partial<Pick<Queue, "instanceShape" | "agentImageRef">> {
  if (queue.instanceShape === null)
    throw validationFailed({ field: "hostedAgents", message: "Queue is not hosted" });
  const shape = checkShape(requireShape(queue.instanceShape), instanceShape);
  if (agentImageRef === undefined) return { instanceShape: shape.name };
  return { instanceShape: shape.name, agentImageRef: checkImage(shape, organization, agentImageRef) };
}

function checkShape(present: InstanceShape, given: unknown): InstanceShape {
  const fail = (message: string) => validationFailed({ field: "hostedAgents.instanceShape", message });
  if (given === undefined || given === null || given === "")
    throw fail("Instance shape cannot be changed to ");
  const shape = typeof given === "string" ? findShape(given) : undefined;
  if (!shape) throw fail(unknownShape(given));
  if (shape.machineType !== present.machineType || shape.architecture !== present.architecture)
    throw fail(`Instance shape cannot be changed to ${shape.name}`);
  return shape;
}

function checkImage(
  { machineType }: InstanceShape,
  { features }: Organization,
  given: unknown,
): string | null {
  const fail = (message: string) => validationFailed({ field: "hostedAgents.agentImageRef", message });
  if (given === null || (typeof given === "string" && given.trim() === "")) return null;
  if (machineType !== "linux")
    throw fail(`Agent image ref cannot be configured for hosted ${platformNames[machineType]} queues`);
  if (!features.includes("custom_agent_images"))
    throw fail("Custom agent images are not available to this organization");
  if (typeof given !== "string" || !isStorable(given)) throw fail("Agent image ref must be text");
  if (given.length > maxImageRefLength)
    throw fail("Agent image ref is too long (maximum is 1,000 characters)");
  return given;
}
