import { type InstanceShape, shapes } from "../../../shared/queues/shapes.ts";
import { machineInWords, sizeInWords } from "../clusters/show.tsx";
import { Select } from "../ui/form.tsx";

const affinities = [
  ["prefer-warmest", "agents that just finished a job"],
  ["prefer-different", "a different agent"],
] as const;

/** Where a job of a self-hosted queue goes that is tried again. */
export function AffinityField({ value }: { value: string }) {
  return <Select label="Retries prefer" name="affinity" value={value} options={affinities} />;
}

/** Your own agents, or hosted ones of a shape. */
export function AgentsField({ value, available }: { value: string; available: InstanceShape[] }) {
  return (
    <Select
      label="Agents"
      name="shape"
      value={value}
      options={[["", "Self-hosted: your own agents"]]}
      groups={[...Map.groupBy(available, machineInWords)].map(([machine, ofMachine]) => ({
        label: `Hosted on ${machine}`,
        options: ofMachine.map((shape) => [shape.name, `${machine} ${sizeInWords(shape)}`]),
      }))}
    />
  );
}

/** The sizes that a hosted queue may change to: its machines stay of their kind. */
export function SizeField({ value, present }: { value: string; present: InstanceShape }) {
  const sizes = shapes.filter(
    ({ machineType, architecture }) =>
      machineType === present.machineType && architecture === present.architecture,
  );
  return (
    <Select
      label={`Size, ${machineInWords(present)}`}
      name="shape"
      value={value}
      options={sizes.map((shape) => [shape.name, sizeInWords(shape)] as const)}
    />
  );
}
