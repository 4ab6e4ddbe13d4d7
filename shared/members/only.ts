import { z } from "zod";
import { excerpt } from "../refusal.ts";
import { nearestName } from "./nearest.ts";

/** An author needs no more to see what is wrong. */
const maxNamed = 5;
const alternatives = new Intl.ListFormat("en", { type: "disjunction" });

/** An object without other members. For a misplaced member it names the object that has it. */
export function only<Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? unknownMembers(name, shape, issue.keys as string[])
        : `${name} must be an object`,
  });
}

function unknownMembers(name: string, shape: z.core.$ZodLooseShape, keys: string[]): string {
  const named = keys.slice(0, maxNamed);
  const more = keys.length > maxNamed ? [`${keys.length - maxNamed} more`] : [];
  const listed = alternatives.format([...named.map((key) => excerpt(key)), ...more]);
  const places = named.flatMap((key) => {
    const inside = placesOf(shape, key);
    return inside.length > 0 ? inside : (nearestName(key, Object.keys(shape)) ?? []);
  });
  const hint = places.length > 0 ? `. Did you mean ${places.join(", ")}?` : "";
  return `${name} has no member named ${listed}${hint}`;
}

/** Finds a key in the objects that the members hold: `build.branch` for `branch`. */
function placesOf(shape: z.core.$ZodLooseShape, key: string): string[] {
  return Object.entries(shape)
    .filter(([, member]) => Object.hasOwn(membersOf(member as z.ZodType), key))
    .map(([parent]) => `${parent}.${key}`);
}

function membersOf(schema: z.ZodType): object {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return membersOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodObject ? schema.shape : {};
}
