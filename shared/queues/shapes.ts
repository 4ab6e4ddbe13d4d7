import type { Organization } from "../accounts/organization-store.ts";
import { excerpt, type Problem } from "../refusal.ts";

// Name, machine type, architecture, size, vCPUs, memory and disk in GB. Shapes removed on 1 July 2025 are left out.
const table = [
  ["LINUX_AMD64_2X4", "linux", "amd64", "Small", 2, 4, 47],
  ["LINUX_AMD64_4X16", "linux", "amd64", "Medium", 4, 16, 95],
  ["LINUX_AMD64_8X32", "linux", "amd64", "Large", 8, 32, 158],
  ["LINUX_AMD64_16X64", "linux", "amd64", "Extra Large", 16, 64, 284],
  ["LINUX_AMD64_32X128", "linux", "amd64", "Extra Extra Large", 32, 128, 544],
  ["LINUX_AMD64_64X256", "linux", "amd64", "3XL", 64, 256, 1056],
  ["LINUX_ARM64_2X4", "linux", "arm64", "Small", 2, 4, 47],
  ["LINUX_ARM64_4X16", "linux", "arm64", "Medium", 4, 16, 95],
  ["LINUX_ARM64_8X32", "linux", "arm64", "Large", 8, 32, 158],
  ["LINUX_ARM64_16X64", "linux", "arm64", "Extra Large", 16, 64, 284],
  ["LINUX_ARM64_32X128", "linux", "arm64", "Extra Extra Large", 32, 128, 544],
  ["LINUX_ARM64_64X256", "linux", "arm64", "3XL", 64, 256, 1056],
  ["MACOS_ARM64_M4_6X28", "macos", "arm64", "Medium", 6, 28, 182],
  ["MACOS_ARM64_M4_12X56", "macos", "arm64", "Large", 12, 56, 294],
  ["WINDOWS_AMD64_2X8", "windows", "amd64", "Small", 2, 8, null],
  ["WINDOWS_AMD64_4X16", "windows", "amd64", "Medium", 4, 16, null],
  ["WINDOWS_AMD64_8X32", "windows", "amd64", "Large", 8, 32, null],
  ["WINDOWS_AMD64_16X64", "windows", "amd64", "Extra Large", 16, 64, null],
] as const;

export type ShapeName = (typeof table)[number][0];

export interface InstanceShape {
  name: ShapeName;
  machineType: "linux" | "macos" | "windows";
  architecture: "amd64" | "arm64";
  size: string;
  cpu: number;
  memoryGb: number;
  /** Null: unspecified. */
  diskGb: number | null;
}

export const shapes: InstanceShape[] = table.map(
  ([name, machineType, architecture, size, cpu, memoryGb, diskGb]) => ({
    name,
    machineType,
    architecture,
    size,
    cpu,
    memoryGb,
    diskGb,
  }),
);

const shapeByName = new Map<string, InstanceShape>(shapes.map((shape) => [shape.name, shape]));

export function findShape(name: string): InstanceShape | undefined {
  return shapeByName.get(name);
}

/** The message repeats no list or object: some cannot become a string. */
export function unknownShape(given: unknown): string {
  return typeof given === "object"
    ? "Instance shape must be text"
    : `Instance shape ${excerpt(String(given))} is not a valid instance shape`;
}

export function requireShape(name: string): InstanceShape {
  const shape = findShape(name);
  if (!shape) throw new Error(`${name} is not an instance shape.`);
  return shape;
}

/** Checks that the organization may create a queue of this shape. */
export function shapeProblems(name: string, { features }: Pick<Organization, "features">): Problem[] {
  if (findShape(name)?.machineType !== "windows" || features.includes("windows_hosted_agents")) return [];
  const message = "Windows instance shapes are not available to this organization";
  return [{ field: "hostedAgents.instanceShape", message }];
}
