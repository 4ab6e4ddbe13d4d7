import { availableParallelism, totalmem } from "node:os";
import { architecture } from "../wire/client.ts";
import type { HostedQueue } from "./queues.ts";

export interface Machine {
  machineType: string;
  architecture: string;
  cpu: number;
  memoryBytes: number;
}

const machineTypes: Partial<Record<NodeJS.Platform, string>> = {
  linux: "linux",
  darwin: "macos",
  win32: "windows",
};
/** A machine sold as one of 4 GB shows somewhat less: its kernel takes a part. */
const tolerance = 0.9;
const gigabyte = 1e9;

export function describeMachine(): Machine {
  const constrained = process.constrainedMemory();
  return {
    machineType: machineTypes[process.platform] ?? process.platform,
    architecture,
    cpu: availableParallelism(),
    memoryBytes: constrained > 0 ? Math.min(constrained, totalmem()) : totalmem(),
  };
}

/** Returns a sentence if the machine cannot run the queue's jobs. */
export function reasonNotToServe({ shape, image }: HostedQueue, machine: Machine): string | undefined {
  if (shape.machine_type !== machine.machineType || shape.architecture !== machine.architecture) {
    return `The queue needs ${shape.machine_type} on ${shape.architecture}, and this machine is ${machine.machineType} on ${machine.architecture}.`;
  }
  if (image) return `The queue needs the image ${image}, and this machine runs no images.`;
  const memoryGb = machine.memoryBytes / gigabyte;
  if (shape.cpu > machine.cpu || shape.memory * tolerance > memoryGb) {
    return `The queue needs ${shape.cpu} CPUs and ${shape.memory} GB, and this machine has ${machine.cpu} and ${Math.round(memoryGb)}.`;
  }
  return undefined;
}
