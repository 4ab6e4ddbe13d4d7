import type { Fault } from "./fault.ts";
import { clock } from "./machine/clock.ts";
import { fullDisk } from "./machine/full-disk.ts";
import { cut } from "./network/cut.ts";
import { delay } from "./network/delay.ts";
import { refuse } from "./network/refuse.ts";
import { silence } from "./network/silence.ts";
import { postgresFreeze } from "./postgres/freeze.ts";
import { postgresKill } from "./postgres/kill.ts";
import { killBackend } from "./postgres/kill-backend.ts";
import { postgresRestart } from "./postgres/restart.ts";
import { terminateBackends } from "./postgres/terminate-backends.ts";
import { freeze } from "./processes/freeze.ts";
import { kill } from "./processes/kill.ts";
import { terminate } from "./processes/terminate.ts";
import { redisClients } from "./redis/clients.ts";
import { redisFlush } from "./redis/flush.ts";
import { redisFreeze } from "./redis/freeze.ts";
import { redisKill } from "./redis/kill.ts";
import { redisLoss } from "./redis/loss.ts";
import { redisRestart } from "./redis/restart.ts";

export const allFaults: Fault[] = [
  ...[kill, terminate, freeze],
  ...[redisKill, redisRestart, redisFreeze, redisFlush, redisLoss, redisClients],
  ...[postgresKill, postgresRestart, postgresFreeze, terminateBackends, killBackend],
  ...[cut, refuse, delay, silence],
  ...[fullDisk, clock],
];
