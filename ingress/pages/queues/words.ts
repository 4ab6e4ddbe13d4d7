import { findShape, type InstanceShape } from "../../../shared/queues/shapes.ts";
import type { Queue } from "../../../shared/queues/store.ts";

const machineWords = { linux: "Linux", macos: "macOS", windows: "Windows" } as const;

export const affinityWords = {
  "prefer-warmest": "agents that just finished a job",
  "prefer-different": "a different agent",
} as const;

export const maxCountedJobs = 1000;

/** A number, or `1,000 or more`. */
export function jobCountInWords(count: number): string {
  return count >= maxCountedJobs ? `${maxCountedJobs.toLocaleString("en")} or more` : String(count);
}

/** `Self-hosted`, or `Hosted, Linux AMD64 Small (2 vCPU, 4 GB, 47 GB disk)`. */
export function agentsInWords({ instanceShape }: Queue): string {
  const shape = instanceShape === null ? undefined : findShape(instanceShape);
  return shape ? `Hosted, ${machineInWords(shape)} ${sizeInWords(shape)}` : "Self-hosted";
}

/** `Linux AMD64`. */
export function machineInWords({ machineType, architecture }: InstanceShape): string {
  return `${machineWords[machineType]} ${architecture.toUpperCase()}`;
}

/** `Small (2 vCPU, 4 GB, 47 GB disk)`. */
export function sizeInWords({ size, cpu, memoryGb, diskGb }: InstanceShape): string {
  const disk = diskGb === null ? "" : `, ${diskGb} GB disk`;
  return `${size} (${cpu} vCPU, ${memoryGb} GB${disk})`;
}
