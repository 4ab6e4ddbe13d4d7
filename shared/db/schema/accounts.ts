import { sql } from "drizzle-orm";
import type { AuditChange, BuildMails, Feature, Role } from "../../vocabulary.ts";
import type { Kit } from "../columns.ts";

export function defineAccountsTables(kit: Kit) {
  const { table, index, primaryKey, uuid, text, integer, bigint, boolean, time, json } = kit;

  const organizations = table("organizations", {
    id: uuid().primaryKey(),
    slug: text().notNull().unique(),
    name: text().notNull(),
    deliveriesPerHour: integer("deliveries_per_hour").notNull(),
    features: json<Feature[]>().notNull(),
    /** Bytes of all that is stored and counted, as `count-stored-bytes` found them last. */
    storedBytes: bigint("stored_bytes").notNull().default(0),
    /** Those of them that are not evicted: records, and logs of running jobs. */
    keptBytes: bigint("kept_bytes").notNull().default(0),
    /** Records: the sum of `recordTotals`. */
    recordBytes: bigint("record_bytes").notNull().default(0),
    createdAt: time("created_at").notNull(),
  });

  /** Stored bytes of an organization's records by the hour of their ids; jobs count with their build. */
  const recordTotals = table(
    "record_totals",
    {
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      hour: time("hour").notNull(),
      bytes: bigint().notNull(),
    },
    (t) => [primaryKey({ columns: [t.organizationId, t.hour] }), index("record_totals_hour").on(t.hour)],
  );

  /** People, and per organization a built-in `Operator` for the operator's command. */
  const users = table("users", {
    id: uuid().primaryKey(),
    email: text().notNull().unique(),
    name: text().notNull(),
    passwordHash: text("password_hash"),
    operatorOfId: uuid("operator_of_id")
      .unique()
      .references(() => organizations.id),
    deactivatedAt: time("deactivated_at"),
    /** Single letters are shortcuts on pages. */
    hasShortcuts: boolean("has_shortcuts").notNull().default(true),
    createdAt: time("created_at").notNull(),
  });

  const members = table(
    "members",
    {
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      userId: uuid("user_id")
        .notNull()
        .references(() => users.id),
      role: text().$type<Role>().notNull(),
      /** Of which of their own builds they get mail. */
      buildMails: text("build_mails").$type<BuildMails>().notNull().default("failed"),
      createdAt: time("created_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.organizationId, t.userId] }),
      index("members_user").on(t.userId),
      index("members_list").on(t.organizationId, t.createdAt, t.userId),
      index("members_admins").on(t.organizationId).where(sql`${t.role} = 'admin'`),
    ],
  );

  /** A row is a link that works once, until it expires: joining and revoking delete it. */
  const invitations = table(
    "invitations",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      tokenHash: text("token_hash").notNull().unique(),
      role: text().$type<Role>().notNull(),
      /** The invited person, in the words of the admin. */
      recipient: text().notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      expiresAt: time("expires_at").notNull(),
    },
    (t) => [
      index("invitations_list").on(t.organizationId, t.createdAt, t.id),
      index("invitations_expiry").on(t.expiresAt),
    ],
  );

  const sessions = table(
    "sessions",
    {
      tokenHash: text("token_hash").primaryKey(),
      userId: uuid("user_id")
        .notNull()
        .references(() => users.id),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
    },
    (t) => [
      index("sessions_user").on(t.userId),
      index("sessions_oldest").on(t.userId, t.createdAt),
      index("sessions_expiry").on(t.expiresAt),
    ],
  );

  /** `subject` stays readable after its row is gone. */
  const auditEvents = table(
    "audit_events",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      actorId: uuid("actor_id")
        .notNull()
        .references(() => users.id),
      action: text().notNull(),
      subjectType: text("subject_type").notNull(),
      subjectId: uuid("subject_id").notNull(),
      subject: text().notNull(),
      /** Null: none. */
      changes: json<AuditChange[]>(),
      /** The access token that asked for it, by its description. Null: none, or its entry is older. */
      token: text(),
      createdAt: time("created_at").notNull(),
    },
    (t) => [
      index("audit_events_subject").on(t.organizationId, t.subjectType, t.subjectId, t.id),
      index("audit_events_organization").on(t.organizationId, t.id),
      index("audit_events_actor").on(t.organizationId, t.actorId, t.id),
      index("audit_events_action").on(t.organizationId, t.action, t.id),
      index("audit_events_type").on(t.organizationId, t.subjectType, t.id),
      index("audit_events_age").on(t.createdAt),
    ],
  );

  return { organizations, recordTotals, users, members, invitations, sessions, auditEvents };
}

export type AccountsTables = ReturnType<typeof defineAccountsTables>;
