import type { z } from "zod";

/** Its field in forms. */
export interface MemberField {
  label: string;
  /** Default: the member's name. */
  name?: string;
  hint?: string;
  placeholder?: string;
  /**
   * `name`: a line that browsers neither complete nor correct. `code`: several lines, kept as they are typed. `text`:
   * several lines. `number`: at least 1; empty is none. `check`: true or false. `choice`: the page offers the choices; the
   * empty one is none. Default: a line.
   */
  kind?: "line" | "name" | "code" | "text" | "number" | "check" | "choice";
}

/** A member of any resource. */
export interface AnyMember {
  /** Default: the column as REST writes it, `defaultQueueId` → `default_queue_id`. `build.branch` is in the object `build`. */
  name?: string;
  /** Its name in answers. Default: `name`. */
  shownAs?: string;
  /** Markdown, for the table of the wire contract. Null: its schema in `/openapi.json` says all. */
  rule: string | null;
  /** Reads it in a create. Absent: creates ignore it. */
  create?: z.ZodType;
  /** Reads it in a change. Absent: changes ignore it. */
  change?: z.ZodType;
  /** The column of a row that is created without it. Absent: null. */
  default?: unknown;
  /** Its form in answers. Null: no answer has it. */
  shown: z.ZodType | null;
  /** Its value in answers. Undefined: absent. Default: the column. */
  show?(row: never): unknown;
  /** The column that has its value, if it is no column itself. */
  stored?: string;
  /** Of an entry in the audit log about a change: the values before and after, or only the member's name. Null: nothing. */
  audited: "values" | "name" | null;
  /** Its value of the text in a form or an option. Default: the text, where an empty choice is null. */
  fromText?(text: string): unknown;
  /** Absent: no form has it. */
  field?: MemberField;
  /** Its option of the operator's command. Its own name by default. Absent: the command does not take it. */
  option?: readonly [value: string, summary: string, name?: string];
}

/** A member that creates and changes take alike. */
export function changeable<Schema extends z.ZodType, Shown extends z.ZodType | null>(
  schema: Schema,
  shown: Shown,
) {
  return { create: schema, change: schema, shown, audited: "values" } as const;
}

/** A member whose value is a column of `Row`. */
export interface Member<Value, Row> extends AnyMember {
  create?: z.ZodType<Value | null | undefined>;
  change?: z.ZodType<Value | null | undefined>;
  default?: Value;
  show?(row: Row): unknown;
}

/**
 * The members of a resource, by column, in the order of their problems and of their fields. Each is declared once: bodies,
 * answers, forms, options of the operator's command, audit entries and the table of the wire contract follow from it.
 * A column is either a member or one of `Kept`, which no caller gives.
 * @template More members that are no column, such as the value of a secret
 */
export type Members<Row, Kept extends keyof Row, More extends string = never> = {
  readonly [Column in Exclude<keyof Row, Kept>]: Member<Row[Column], Row>;
} & { readonly [Name in More]: AnyMember };

export type AnyMembers = Readonly<Record<string, AnyMember>>;

/**
 * Makes the objects that have members, by name, from the schemas of their members. `""` is the whole body. Default:
 * objects that ignore unknown members.
 */
export type Objects = Readonly<Record<string, (shape: Record<string, z.ZodType>) => z.ZodType>>;

/** Requests that give members. */
export type Request = "create" | "change";

/** A member with its names. */
export interface NamedMember extends AnyMember {
  column: string;
  name: string;
}

const listed = new WeakMap<AnyMembers, NamedMember[]>();

export function listMembers(members: AnyMembers): NamedMember[] {
  const known =
    listed.get(members) ?? Object.entries(members).map(([column, member]) => named(column, member));
  listed.set(members, known);
  return known;
}

function named(column: string, member: AnyMember): NamedMember {
  return { ...member, column, name: nameOf(column, member) };
}

/** True of one without which a request is refused. An object may be absent with its members. */
export function isRequired({ name, create }: NamedMember): boolean {
  return create !== undefined && !name.includes(".") && !create.safeParse(undefined).success;
}

/**
 * Puts values into the objects that their names say: `build.branch`.
 * @param make makes an object from its values
 */
export function nest<Value>(
  values: (readonly [name: string, value: Value])[],
  make: (name: string, values: Record<string, Value>) => Value,
): Record<string, Value> {
  const byObject = Map.groupBy(values, ([name]) => name.split(".")[0] ?? "");
  return Object.fromEntries(
    [...byObject].map(([object, inner]) => {
      const [[name, value]] = inner as [readonly [string, Value]];
      if (name === object) return [object, value];
      const ownNames = inner.map(([each, own]) => [each.slice(object.length + 1), own] as const);
      return [object, make(object, Object.fromEntries(ownNames))];
    }),
  );
}

function nameOf(column: string, { name }: AnyMember): string {
  return name ?? column.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
