import { z } from "zod";
import { nullable, oneOf, text, truthOf } from "./forms.ts";

const maxReasonLength = 1000;

export function givenSkip(name: string) {
  return nullable(
    oneOf({ boolean: z.boolean(), text: text(name, maxReasonLength) }, `${name} must be true, false or text`),
  ).meta({ description: "True, or the reason: its jobs are left out" });
}

/** False and blank count as absent. */
export function toSkip(given: string | boolean | undefined): true | string | undefined {
  const isSkipped = truthOf(given) ?? given;
  if (typeof isSkipped !== "string") return isSkipped || undefined;
  return isSkipped.trim() === "" ? undefined : isSkipped;
}
