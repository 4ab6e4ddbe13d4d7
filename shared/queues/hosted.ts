import type { Organization } from "../accounts/organization-store.ts";
import { validationFailed } from "../refusal.ts";
import { findShape, type InstanceShape, requireShape, unknownShape } from "./shapes.ts";
import type { Queue } from "./store.ts";

/** What a request wants of a hosted queue, as it came: which check fails first depends on the queue. */
export interface HostedChange {
  instanceShape?: unknown;
  /** Absent: unchanged; null or blank: the default image. */
  agentImageRef?: unknown;
}

const maxImageRefLength = 1000;
/** What the image of a platform is called in messages (spec §4.3.3 rule 4). */
const platformWord = { linux: "linux", macos: "mac", windows: "windows" } as const;

/**
 * The rules of spec §4.3.3, in their order: the first that fails is the answer.
 * @returns the columns to change
 * @throws Refusal 422
 */
export function checkHostedChange(
  queue: Queue,
  organization: Organization,
  { instanceShape, agentImageRef }: HostedChange,
): Partial<Pick<Queue, "instanceShape" | "agentImageRef">> {
  if (queue.instanceShape === null) throw validationFailed("Queue is not hosted");
  const present = requireShape(queue.instanceShape);
  const wanted = wantedShape(present, instanceShape);
  if (agentImageRef === undefined) return { instanceShape: wanted.name };
  return { instanceShape: wanted.name, agentImageRef: wantedImage(wanted, organization, agentImageRef) };
}

function wantedShape(present: InstanceShape, given: unknown): InstanceShape {
  if (given === undefined || given === null || given === "")
    throw validationFailed("Instance shape cannot be changed to ");
  const wanted = typeof given === "string" ? findShape(given) : undefined;
  if (!wanted) throw validationFailed(unknownShape(given));
  if (wanted.machineType !== present.machineType || wanted.architecture !== present.architecture)
    throw validationFailed(`Instance shape cannot be changed to ${wanted.name}`);
  return wanted;
}

function wantedImage(
  { machineType }: InstanceShape,
  organization: Organization,
  given: unknown,
): string | null {
  if (given === null || (typeof given === "string" && given.trim() === "")) return null;
  if (machineType !== "linux") {
    throw validationFailed(
      `Agent image ref cannot be configured for hosted ${platformWord[machineType]} queues`,
    );
  }
  if (!organization.features.includes("custom_agent_images"))
    throw validationFailed("Custom agent images are not available to this organization");
  if (typeof given !== "string" || given.includes("\0") || !given.isWellFormed())
    throw validationFailed("Agent image ref must be text");
  if (given.length > maxImageRefLength)
    throw validationFailed("Agent image ref is too long (maximum is 1,000 characters)");
  return given;
}
