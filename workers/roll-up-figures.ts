import { buildFigures } from "../shared/builds/keeping/figures.ts";
import { sampleQueues } from "../shared/dispatch/figures.ts";
import { waitFigures } from "../shared/dispatch/wait-figures.ts";
import { rollUp } from "../shared/figures/roll-up.ts";
import type { Services } from "../shared/services/services.ts";
import { deliveryFigures } from "../shared/triggers/deliveries/figures.ts";

export async function rollUpFigures(services: Services): Promise<void> {
  await sampleQueues(services);
  await rollUp(services, deliveryFigures);
  await rollUp(services, buildFigures);
  await rollUp(services, waitFigures);
}
