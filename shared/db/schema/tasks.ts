import type { TaskKind } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";

export function defineTasksTables({ table, index, uuid, text, time, integer }: Kit) {
  /** Later work. Written in the transaction that makes it due, deleted by the one that does it. */
  const tasks = table(
    "tasks",
    {
      id: uuid().primaryKey(),
      kind: text().$type<TaskKind>().notNull(),
      /** A row that its kind names. There may be several tasks of it: they are done together. */
      subjectId: uuid("subject_id").notNull(),
      organizationId: uuid("organization_id").notNull(),
      /** Before it nobody starts the task: a process has it, or it has failed and is tried again. */
      dueAt: time("due_at").notNull(),
      /** Tries that failed. */
      failures: integer().notNull().default(0),
    },
    (t) => [index("tasks_subject").on(t.kind, t.subjectId), index("tasks_due").on(t.organizationId, t.dueAt)],
  );

  return { tasks };
}
