import { type FigureSource, rollUp } from "../shared/figures/roll-up.ts";
import type { Services } from "../shared/runtime/services.ts";
import { deliveryFigures } from "../shared/triggers/deliveries/figures.ts";

export const figureSources: FigureSource[] = [deliveryFigures];

export async function rollUpFigures(services: Services): Promise<void> {
  for (const source of figureSources) await rollUp(services, source);
}
