import { z } from "zod";

/** Converts to JSON Schema. Collects schemas that have an id, and refers to them. */
export class Schemas {
  /** By id. */
  readonly named: Record<string, unknown> = {};

  convert(schema: z.ZodType): Record<string, unknown> {
    const {
      $schema: _,
      $defs = {},
      ...rest
    } = z.toJSONSchema(schema, {
      io: "input",
      unrepresentable: "any",
      target: "draft-2020-12",
      reused: "inline",
    }) as Record<string, unknown> & { $defs?: Record<string, unknown> };
    const moved = JSON.parse(
      JSON.stringify({ rest, $defs }).replaceAll('"#/$defs/', '"#/components/schemas/'),
    );
    for (const [name, { id: __, ...body }] of Object.entries<Record<string, unknown>>(moved.$defs))
      this.named[name] = body;
    return moved.rest;
  }
}
