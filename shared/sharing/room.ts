import type { Problem } from "../refusal.ts";
import type { Config } from "../settings/config.ts";
import { settings } from "../settings/settings.ts";
import type { NumberBound } from "./bounds.ts";

/**
 * The reason why an owner may not have one more of a thing: it has as many as the bound allows, or more from before.
 * Call with the owner's row locked: of two that create at once, the second has to count the first.
 * @param count counts what the owner has, no further than `limit`
 */
export async function roomProblems(
  config: Config,
  bound: NumberBound,
  count: (limit: number) => Promise<number>,
): Promise<Problem[]> {
  const max = maxOf(config, bound);
  return (await count(max)) < max ? [] : [{ field: "", message: messageOf(bound, max) }];
}

/** The number that the bound or its setting allows. */
export function maxOf(config: Config, { max }: NumberBound): number {
  const [limit] = Object.values(max) as [NumberBound["max"][string]];
  return typeof limit === "number" ? limit : config[limit];
}

function messageOf({ owner, max, remedy }: NumberBound, number: number): string {
  const [[things, limit]] = Object.entries(max) as [[string, NumberBound["max"][string]]];
  const subject = owner.charAt(0).toUpperCase() + owner.slice(1);
  const reached = `${subject} has reached ${owner === "member" ? "their" : "its"} limit of ${number.toLocaleString("en")} ${things}`;
  if (remedy === undefined) return reached;
  const orRaise = typeof limit === "number" ? "" : `, or ask the operator to raise ${settings[limit].name}`;
  return `${reached}: ${remedy}${orRaise}`;
}
