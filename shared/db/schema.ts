import { isNotNull, isNull, sql } from "drizzle-orm";
import type {
  BuildState,
  DeliveryReason,
  DeliveryStatus,
  DeviceCodeState,
  Feature,
  JobState,
  RefusalCause,
  RetryAgentAffinity,
  Role,
  Step,
  StoredHeader,
} from "../vocabulary.ts";
import type { Kit } from "./columns.ts";

/**
 * All tables, for both dialects. Ids are UUIDv7, so rows of a table sort by age and new ones stay on one page.
 * What a timestamp implies is not stored beside it: a queue is paused when `dispatchPausedAt` is set.
 */
export function defineSchema(kit: Kit) {
  const { table, index, uniqueIndex, primaryKey, foreignKey } = kit;
  const { uuid, text, integer, boolean, time, json, bytes } = kit;

  /** Facts about the database itself, such as which SECRET_KEY its secrets were stored under. */
  const settings = table("settings", {
    name: text().primaryKey(),
    value: text().notNull(),
  });

  const organizations = table("organizations", {
    id: uuid().primaryKey(),
    slug: text().notNull().unique(),
    name: text().notNull(),
    deliveriesPerHour: integer("deliveries_per_hour").notNull(),
    features: json<Feature[]>().notNull(),
    createdAt: time("created_at").notNull(),
  });

  /** People, and one built-in `Operator` an organization, who made what the operator's command made. */
  const users = table("users", {
    id: uuid().primaryKey(),
    email: text().notNull().unique(),
    name: text().notNull(),
    passwordHash: text("password_hash"),
    operatorOfId: uuid("operator_of_id")
      .unique()
      .references(() => organizations.id),
    deactivatedAt: time("deactivated_at"),
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
      createdAt: time("created_at").notNull(),
    },
    (t) => [primaryKey({ columns: [t.organizationId, t.userId] }), index("members_user").on(t.userId)],
  );

  /** Who is signed in at the pages; a browser holds the token in a cookie. */
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
    (t) => [index("sessions_user").on(t.userId), index("sessions_expiry").on(t.expiresAt)],
  );

  /** OAuth clients, of the whole installation. Public ones have no secret. */
  const applications = table("applications", {
    id: uuid().primaryKey(),
    clientId: text("client_id").notNull().unique(),
    name: text().notNull(),
    secretHash: text("secret_hash"),
    deviceFlow: boolean("device_flow").notNull(),
    refreshTokens: boolean("refresh_tokens").notNull(),
    /** How long an access token works; null: it does not expire. */
    accessTokenMinutes: integer("access_token_minutes"),
    disabledAt: time("disabled_at"),
    createdAt: time("created_at").notNull(),
  });

  /** What a member allowed an application to do. With the grant, or the membership, all its tokens go. */
  const grants = table(
    "grants",
    {
      id: uuid().primaryKey(),
      applicationId: uuid("application_id")
        .notNull()
        .references(() => applications.id),
      userId: uuid("user_id").notNull(),
      organizationId: uuid("organization_id").notNull(),
      scopes: json<string[]>().notNull(),
      /** The browser and address of the approval. */
      approvedUserAgent: text("approved_user_agent"),
      approvedIp: text("approved_ip"),
      createdAt: time("created_at").notNull(),
      lastUsedAt: time("last_used_at"),
      lastUserAgent: text("last_user_agent"),
      lastIp: text("last_ip"),
    },
    (t) => [
      foreignKey({
        name: "grants_member",
        columns: [t.organizationId, t.userId],
        foreignColumns: [members.organizationId, members.userId],
      }).onDelete("cascade"),
      index("grants_of_member").on(t.organizationId, t.userId),
      index("grants_user").on(t.userId, t.id),
      index("grants_application").on(t.applicationId),
    ],
  );

  const refreshTokens = table(
    "refresh_tokens",
    {
      tokenHash: text("token_hash").primaryKey(),
      grantId: uuid("grant_id")
        .notNull()
        .references(() => grants.id, { onDelete: "cascade" }),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
      /** When it was exchanged for the next one. */
      rotatedAt: time("rotated_at"),
    },
    (t) => [index("refresh_tokens_grant").on(t.grantId), index("refresh_tokens_expiry").on(t.expiresAt)],
  );

  /** A device that asks to be signed in (RFC 8628). The states and their transitions: `device/store.ts`. */
  const deviceCodes = table(
    "device_codes",
    {
      id: uuid().primaryKey(),
      deviceCodeHash: text("device_code_hash").notNull().unique(),
      /** HMAC under SECRET_KEY: a user code has too few values for a plain hash to hide it. */
      userCodeMac: text("user_code_mac").notNull(),
      applicationId: uuid("application_id")
        .notNull()
        .references(() => applications.id),
      scopes: json<string[]>().notNull(),
      state: text().$type<DeviceCodeState>().notNull(),
      /** The organization to preselect, as the client asked. */
      preselectedOrganizationId: uuid("hinted_organization_id"),
      requestIp: text("request_ip").notNull(),
      requestUserAgent: text("request_user_agent"),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
      /** Who entered the code: the only one who may decide. */
      claimedById: uuid("claimed_by_id").references(() => users.id),
      /** Whether the code was in the address and not typed, so that the user has to say whose device it is. */
      cameByLink: boolean("came_by_link").notNull(),
      decidedAt: time("decided_at"),
      organizationId: uuid("organization_id"),
      grantedScopes: json<string[]>("granted_scopes"),
      approvedUserAgent: text("approved_user_agent"),
      approvedIp: text("approved_ip"),
    },
    (t) => [
      uniqueIndex("device_codes_user_code").on(t.userCodeMac).where(sql`${t.state} = 'pending'`),
      index("device_codes_claim").on(t.userCodeMac, t.claimedById),
      index("device_codes_expiry").on(t.expiresAt),
    ],
  );

  const accessTokens = table(
    "access_tokens",
    {
      id: uuid().primaryKey(),
      tokenHash: text("token_hash").notNull().unique(),
      userId: uuid("user_id")
        .notNull()
        .references(() => users.id),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      scopes: json<string[]>().notNull(),
      description: text().notNull(),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at"),
      revokedAt: time("revoked_at"),
      /** The grant that it was issued under; null for a user's own API access token. */
      grantId: uuid("grant_id").references(() => grants.id, { onDelete: "cascade" }),
      lastUsedAt: time("last_used_at"),
    },
    (t) => [
      index("access_tokens_user").on(t.userId),
      index("access_tokens_grant").on(t.grantId),
      index("access_tokens_expiry").on(t.expiresAt).where(isNotNull(t.expiresAt)),
      index("access_tokens_revocation").on(t.revokedAt).where(isNotNull(t.revokedAt)),
    ],
  );

  const clusters = table(
    "clusters",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      name: text().notNull(),
      description: text(),
      emoji: text(),
      color: text(),
      /** No foreign key: queues refer to clusters already. The domain keeps it within the cluster. */
      defaultQueueId: uuid("default_queue_id"),
      /** Of those that are not deleted: a limit to keep and a total to show without counting rows. */
      queueCount: integer("queue_count").notNull().default(0),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      deletedAt: time("deleted_at"),
    },
    (t) => [uniqueIndex("clusters_name").on(t.organizationId, t.name).where(isNull(t.deletedAt))],
  );

  const queues = table(
    "queues",
    {
      id: uuid().primaryKey(),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      key: text().notNull(),
      description: text(),
      retryAgentAffinity: text("retry_agent_affinity").$type<RetryAgentAffinity>().notNull(),
      dispatchPausedAt: time("dispatch_paused_at"),
      dispatchPausedById: uuid("dispatch_paused_by_id").references(() => users.id),
      dispatchPausedNote: text("dispatch_paused_note"),
      /** Of a hosted queue; null: agents are the organization's own. */
      instanceShape: text("instance_shape"),
      /** Null: the default image. */
      agentImageRef: text("agent_image_ref"),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      /** A deleted queue keeps its row for the finished jobs that ran on it. */
      deletedAt: time("deleted_at"),
    },
    (t) => [
      uniqueIndex("queues_key").on(t.clusterId, t.key).where(isNull(t.deletedAt)),
      index("queues_list").on(t.clusterId, t.createdAt, t.id).where(isNull(t.deletedAt)),
    ],
  );

  const pipelines = table(
    "pipelines",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      clusterId: uuid("cluster_id")
        .notNull()
        .references(() => clusters.id),
      slug: text().notNull(),
      name: text().notNull(),
      defaultBranch: text("default_branch").notNull(),
      steps: json<Step[]>().notNull(),
      lastBuildNumber: integer("last_build_number").notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      /** A deleted pipeline keeps its row until its builds are gone. */
      deletedAt: time("deleted_at"),
    },
    (t) => [
      uniqueIndex("pipelines_slug").on(t.organizationId, t.slug).where(isNull(t.deletedAt)),
      index("pipelines_cluster").on(t.clusterId),
    ],
  );

  /** A deleted trigger keeps its row for the deliveries that it accepted, but no token leads to it. */
  const triggers = table(
    "triggers",
    {
      id: uuid().primaryKey(),
      pipelineId: uuid("pipeline_id")
        .notNull()
        .references(() => pipelines.id),
      type: text().notNull(),
      label: text().notNull(),
      enabled: boolean().notNull(),
      /** Rises with every change, so that who read an older one notices. */
      version: integer().notNull(),
      /** Null: the default of spec §2.6. */
      buildMessage: text("build_message"),
      buildCommit: text("build_commit"),
      buildBranch: text("build_branch"),
      environmentSealed: text("environment_sealed"),
      /** A CEL expression; null: every delivery builds. */
      filter: text(),
      secretSealed: text("secret_sealed"),
      tokenHash: text("token_hash").notNull().unique(),
      tokenHint: text("token_hint").notNull(),
      createdAt: time("created_at").notNull(),
      createdById: uuid("created_by_id")
        .notNull()
        .references(() => users.id),
      updatedAt: time("updated_at").notNull(),
      updatedById: uuid("updated_by_id")
        .notNull()
        .references(() => users.id),
      deletedAt: time("deleted_at"),
    },
    (t) => [index("triggers_pipeline").on(t.pipelineId, t.id)],
  );

  /** A webhook that was answered 201. Until a worker has judged it, `status` is null. */
  const deliveries = table(
    "deliveries",
    {
      id: uuid().primaryKey(),
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id),
      receivedAt: time("received_at").notNull(),
      contentType: text("content_type").notNull(),
      externalId: text("external_id"),
      size: integer().notNull(),
      status: text().$type<DeliveryStatus>(),
      reason: text().$type<DeliveryReason>(),
      /** When a job was last sent for it: a lost job is sent again some time after. */
      enqueuedAt: time("enqueued_at").notNull(),
    },
    (t) => [
      index("deliveries_trigger").on(t.triggerId, t.id),
      index("deliveries_waiting").on(t.enqueuedAt).where(isNull(t.status)),
    ],
  );

  /** The bytes of a delivery exactly as they came, until they are evicted. */
  const payloads = table(
    "payloads",
    {
      deliveryId: uuid("delivery_id")
        .primaryKey()
        .references(() => deliveries.id, { onDelete: "cascade" }),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      size: integer().notNull(),
      headers: json<StoredHeader[]>().notNull(),
      body: bytes().notNull(),
    },
    (t) => [index("payloads_organization").on(t.organizationId, t.deliveryId, t.size)],
  );

  /** Deliveries that a trigger did not accept, so that a sender's trouble can be found: they leave no other record. */
  const refusedDeliveries = table(
    "refused_deliveries",
    {
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id, { onDelete: "cascade" }),
      /** The beginning of the hour in which they came. */
      hour: time("hour").notNull(),
      cause: text().$type<RefusalCause>().notNull(),
      count: integer().notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.triggerId, t.hour, t.cause] }),
      index("refused_deliveries_age").on(t.hour),
    ],
  );

  const idempotencyKeys = table(
    "idempotency_keys",
    {
      triggerId: uuid("trigger_id")
        .notNull()
        .references(() => triggers.id),
      key: text().notNull(),
      deliveryId: uuid("delivery_id").notNull(),
      createdAt: time("created_at").notNull(),
    },
    (t) => [primaryKey({ columns: [t.triggerId, t.key] }), index("idempotency_keys_age").on(t.createdAt)],
  );

  const builds = table(
    "builds",
    {
      id: uuid().primaryKey(),
      organizationId: uuid("organization_id")
        .notNull()
        .references(() => organizations.id),
      pipelineId: uuid("pipeline_id")
        .notNull()
        .references(() => pipelines.id),
      number: integer().notNull(),
      deliveryId: uuid("delivery_id").references(() => deliveries.id, { onDelete: "set null" }),
      /** 0: made by the delivery's job; 1, 2, …: built again by hand. */
      rebuild: integer().notNull().default(0),
      state: text().$type<BuildState>().notNull(),
      message: text().notNull(),
      commit: text().notNull(),
      branch: text().notNull(),
      environment: json<Record<string, string>>().notNull(),
      source: text().notNull(),
      creatorId: uuid("creator_id").references(() => users.id),
      /** A paused queue that holds back a waiting job of the build, as far as fan-out has come. */
      pausedQueueId: uuid("paused_queue_id"),
      createdAt: time("created_at").notNull(),
      startedAt: time("started_at"),
      finishedAt: time("finished_at"),
    },
    (t) => [
      uniqueIndex("builds_number").on(t.pipelineId, t.number),
      // However often a delivery's job runs, it makes one build.
      uniqueIndex("builds_delivery").on(t.deliveryId, t.rebuild),
      index("builds_organization").on(t.organizationId, t.id),
      index("builds_finished").on(t.finishedAt).where(isNotNull(t.finishedAt)),
    ],
  );

  const jobs = table(
    "jobs",
    {
      id: uuid().primaryKey(),
      buildId: uuid("build_id")
        .notNull()
        .references(() => builds.id, { onDelete: "cascade" }),
      queueId: uuid("queue_id")
        .notNull()
        .references(() => queues.id),
      label: text(),
      command: text().notNull(),
      state: text().$type<JobState>().notNull(),
      exitStatus: integer("exit_status"),
      /** When the queue was paused on which the job waits, as far as fan-out has come. */
      dispatchPausedAt: time("dispatch_paused_at"),
      createdAt: time("created_at").notNull(),
      assignedAt: time("assigned_at"),
      startedAt: time("started_at"),
      finishedAt: time("finished_at"),
    },
    (t) => [
      index("jobs_build").on(t.buildId),
      index("jobs_queue").on(t.queueId, t.state, t.id),
      index("jobs_paused").on(t.queueId, t.id).where(isNotNull(t.dispatchPausedAt)),
    ],
  );

  const metaData = table(
    "meta_data",
    {
      buildId: uuid("build_id")
        .notNull()
        .references(() => builds.id, { onDelete: "cascade" }),
      key: text().notNull(),
      value: text().notNull(),
    },
    (t) => [primaryKey({ columns: [t.buildId, t.key] })],
  );

  const jobTokens = table(
    "job_tokens",
    {
      tokenHash: text("token_hash").primaryKey(),
      jobId: uuid("job_id")
        .notNull()
        .references(() => jobs.id, { onDelete: "cascade" }),
      readOnly: boolean("read_only").notNull(),
      createdAt: time("created_at").notNull(),
      expiresAt: time("expires_at").notNull(),
    },
    (t) => [index("job_tokens_job").on(t.jobId), index("job_tokens_expiry").on(t.expiresAt)],
  );

  /** Who did what to what, and when. `subject` stays readable after the row it names is gone. */
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
      createdAt: time("created_at").notNull(),
    },
    (t) => [
      index("audit_events_subject").on(t.organizationId, t.subjectType, t.subjectId, t.id),
      index("audit_events_organization").on(t.organizationId, t.id),
      index("audit_events_age").on(t.createdAt),
    ],
  );

  return {
    settings,
    organizations,
    users,
    members,
    sessions,
    applications,
    grants,
    refreshTokens,
    deviceCodes,
    accessTokens,
    clusters,
    queues,
    pipelines,
    triggers,
    deliveries,
    payloads,
    refusedDeliveries,
    idempotencyKeys,
    builds,
    jobs,
    metaData,
    jobTokens,
    auditEvents,
  };
}

export type Tables = ReturnType<typeof defineSchema>;
