import { z } from "zod";
import { text } from "../../validation.ts";
import { nullable, oneOf } from "./forms.ts";

const maxReasonLength = 1000;

export function givenSkip(name: string) {
  return nullable(
    oneOf({ boolean: z.boolean(), text: text(name, maxReasonLength) }, `${name} must be true, false or text`),
  ).meta({ description: "True, or the reason: its jobs are left out" });
}

/** False and blank count as absent. */
export function toSkip(given: string | boolean | undefined): true | string | undefined {
  if (typeof given !== "string") return given || undefined;
  if (given === "true") return true;
  return given === "false" || given.trim() === "" ? undefined : given;
}
