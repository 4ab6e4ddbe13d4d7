import type { Fault } from "./fault.ts";
import { machineFaults } from "./machine.ts";
import { networkFaults } from "./network.ts";
import { postgresFaults } from "./postgres.ts";
import { processFaults } from "./processes.ts";
import { redisFaults } from "./redis.ts";

export const allFaults: Fault[] = [
  ...processFaults,
  ...redisFaults,
  ...postgresFaults,
  ...networkFaults,
  ...machineFaults,
];
