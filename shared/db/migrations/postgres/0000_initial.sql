CREATE TABLE "access_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"user_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"scopes" json NOT NULL,
	"description" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"grant_id" uuid,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "access_tokens_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "agent_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"queue_id" uuid,
	"token_hash" text NOT NULL,
	"description" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "agent_tokens_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"queue_id" uuid NOT NULL,
	"agent_token_id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"name" text NOT NULL,
	"name_pattern" text,
	"name_number" integer,
	"hostname" text NOT NULL,
	"os" text NOT NULL,
	"arch" text NOT NULL,
	"version" text NOT NULL,
	"build" text NOT NULL,
	"pid" text,
	"meta_data" json NOT NULL,
	"priority" integer,
	"ip" text NOT NULL,
	"user_agent" text,
	"ignore_in_dispatches" boolean NOT NULL,
	"state" text NOT NULL,
	"job_id" uuid,
	"lost_job_id" uuid,
	"unaccepted_job_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"connected_at" timestamp (3) with time zone,
	"seen_at" timestamp (3) with time zone NOT NULL,
	"lost_at" timestamp (3) with time zone,
	"disconnected_at" timestamp (3) with time zone,
	"last_job_finished_at" timestamp (3) with time zone,
	"stop_requested_at" timestamp (3) with time zone,
	"stop_requested_by_id" uuid,
	"paused_at" timestamp (3) with time zone,
	"paused_by_id" uuid,
	"paused_note" text,
	"paused_until" timestamp (3) with time zone,
	CONSTRAINT "agents_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "annotations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"build_id" uuid NOT NULL,
	"job_id" uuid,
	"scope" text NOT NULL,
	"scope_id" uuid NOT NULL,
	"context" text NOT NULL,
	"style" text,
	"priority" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"body" text NOT NULL,
	"html" text
);
--> statement-breakpoint
CREATE TABLE "applications" (
	"id" uuid PRIMARY KEY NOT NULL,
	"client_id" text NOT NULL,
	"name" text NOT NULL,
	"secret_hash" text,
	"device_flow" boolean NOT NULL,
	"refresh_tokens" boolean NOT NULL,
	"access_token_minutes" integer,
	"disabled_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "applications_client_id_unique" UNIQUE("client_id")
);
--> statement-breakpoint
CREATE TABLE "artifact_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "artifact_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
CREATE TABLE "artifacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"build_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"batch_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"path" text NOT NULL,
	"absolute_path" text NOT NULL,
	"glob_path" text,
	"size" bigint NOT NULL,
	"sha1" text NOT NULL,
	"sha256" text,
	"content_type" text NOT NULL,
	"upload_destination" text,
	"url" text,
	"state" text NOT NULL,
	"upload_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"stored_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"is_counted" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"actor_id" uuid NOT NULL,
	"action" text NOT NULL,
	"subject_type" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"subject" text NOT NULL,
	"changes" json,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "build_graphs" (
	"build_id" uuid PRIMARY KEY NOT NULL,
	"tree" json,
	"warnings" json
);
--> statement-breakpoint
CREATE TABLE "builds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"pipeline_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"delivery_id" uuid,
	"rebuild" integer DEFAULT 0 NOT NULL,
	"state" text NOT NULL,
	"message" text NOT NULL,
	"commit" text NOT NULL,
	"branch" text NOT NULL,
	"environment_sealed" text,
	"source" text NOT NULL,
	"creator_id" uuid,
	"author" json,
	"rebuilt_from_id" uuid,
	"options" json,
	"uploaded_environment_sealed" text,
	"has_graph" boolean DEFAULT false NOT NULL,
	"has_members" boolean DEFAULT false NOT NULL,
	"triggered_by_job_id" uuid,
	"root_build_id" uuid,
	"cancel_reason" text,
	"paused_queue_id" uuid,
	"is_paused" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"failing_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "bulk_rebuilds" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"trigger_id" uuid NOT NULL,
	"filter" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"total" integer NOT NULL,
	"last_delivery_id" uuid NOT NULL,
	"position" uuid,
	"built" integer NOT NULL,
	"skipped" integer NOT NULL,
	"failed" integer NOT NULL,
	"canceled_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "clusters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"emoji" text,
	"color" text,
	"default_queue_id" uuid,
	"steps_version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "concurrency_groups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"reached_at" timestamp (3) with time zone,
	"reached_build_id" uuid
);
--> statement-breakpoint
CREATE TABLE "concurrency_members" (
	"job_id" uuid PRIMARY KEY NOT NULL,
	"group_id" uuid NOT NULL,
	"build_id" uuid NOT NULL,
	"standing" text NOT NULL,
	"max_holders" integer NOT NULL,
	"is_eager" boolean NOT NULL,
	"priority" integer NOT NULL,
	"ordered_at" timestamp (3) with time zone NOT NULL,
	"position" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trigger_id" uuid NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"content_type" text NOT NULL,
	"external_id" text,
	"event" text,
	"size" integer NOT NULL,
	"status" text,
	"reason" text,
	"enqueued_at" timestamp (3) with time zone NOT NULL,
	"organization_id" uuid,
	"is_filtered" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "device_codes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"device_code_hash" text NOT NULL,
	"user_code_mac" text NOT NULL,
	"application_id" uuid NOT NULL,
	"scopes" json NOT NULL,
	"state" text NOT NULL,
	"hinted_organization_id" uuid,
	"request_ip" text NOT NULL,
	"request_user_agent" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"claimed_by_id" uuid,
	"came_by_link" boolean NOT NULL,
	"decided_at" timestamp (3) with time zone,
	"organization_id" uuid,
	"granted_scopes" json,
	"approved_user_agent" text,
	"approved_ip" text,
	CONSTRAINT "device_codes_device_code_hash_unique" UNIQUE("device_code_hash")
);
--> statement-breakpoint
CREATE TABLE "figures" (
	"subject_id" uuid NOT NULL,
	"time" timestamp (3) with time zone NOT NULL,
	"figure" text NOT NULL,
	"minutes" integer NOT NULL,
	"value" integer NOT NULL,
	CONSTRAINT "figures_subject_id_time_figure_minutes_pk" PRIMARY KEY("subject_id","time","figure","minutes")
);
--> statement-breakpoint
CREATE TABLE "filter_misses" (
	"trigger_id" uuid PRIMARY KEY NOT NULL,
	"filter" text NOT NULL,
	"count" integer NOT NULL,
	"retry_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"application_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"scopes" json NOT NULL,
	"approved_user_agent" text,
	"approved_ip" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"last_user_agent" text,
	"last_ip" text
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"trigger_id" uuid NOT NULL,
	"key" text NOT NULL,
	"delivery_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_trigger_id_key_pk" PRIMARY KEY("trigger_id","key")
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"role" text NOT NULL,
	"recipient" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "invitations_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "job_log_chunks" (
	"job_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"sequence" integer NOT NULL,
	"start" bigint NOT NULL,
	"size" integer NOT NULL,
	"lines" integer DEFAULT 0 NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "job_log_chunks_job_id_attempt_sequence_pk" PRIMARY KEY("job_id","attempt","sequence")
);
--> statement-breakpoint
CREATE TABLE "job_logs" (
	"job_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"organization_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"size" bigint NOT NULL,
	"stored_bytes" bigint NOT NULL,
	"dropped_bytes" bigint NOT NULL,
	"is_counted" boolean DEFAULT false NOT NULL,
	"evicted_at" timestamp (3) with time zone,
	CONSTRAINT "job_logs_job_id_attempt_pk" PRIMARY KEY("job_id","attempt")
);
--> statement-breakpoint
CREATE TABLE "job_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"job_id" uuid NOT NULL,
	"attempt" integer,
	"read_only" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"build_id" uuid NOT NULL,
	"type" text DEFAULT 'script' NOT NULL,
	"queue_id" uuid,
	"step_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"label" text,
	"command" text,
	"options" json,
	"state" text NOT NULL,
	"exit_status" bigint,
	"signal" text,
	"signal_reason" text,
	"failure_reason" text,
	"soft_failed" boolean DEFAULT false NOT NULL,
	"broken_reason" text,
	"priority" integer DEFAULT 0 NOT NULL,
	"agent_rules" text DEFAULT '' NOT NULL,
	"dispatch_paused_at" timestamp (3) with time zone,
	"agent_id" uuid,
	"attempt" integer DEFAULT 0 NOT NULL,
	"retry_of_job_id" uuid,
	"retried_in_job_id" uuid,
	"retried_by_id" uuid,
	"retry_type" text,
	"retries_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"arrived_at" timestamp (3) with time zone,
	"limited_at" timestamp (3) with time zone,
	"scheduled_at" timestamp (3) with time zone,
	"assigned_at" timestamp (3) with time zone,
	"accepted_at" timestamp (3) with time zone,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"times_out_at" timestamp (3) with time zone,
	"ends_at" timestamp (3) with time zone,
	"promised_exit_status" bigint,
	"promised_at" timestamp (3) with time zone,
	"unblockable" boolean DEFAULT false NOT NULL,
	"unblocked_at" timestamp (3) with time zone,
	"unblocked_by_id" uuid
);
--> statement-breakpoint
CREATE TABLE "log_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "log_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"organization_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "members_organization_id_user_id_pk" PRIMARY KEY("organization_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "meta_data" (
	"build_id" uuid NOT NULL,
	"key" text NOT NULL,
	"value" text NOT NULL,
	CONSTRAINT "meta_data_build_id_key_pk" PRIMARY KEY("build_id","key")
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"deliveries_per_hour" integer NOT NULL,
	"features" json NOT NULL,
	"stored_bytes" bigint DEFAULT 0 NOT NULL,
	"kept_bytes" bigint DEFAULT 0 NOT NULL,
	"record_bytes" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "organizations_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
CREATE TABLE "payload_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "payload_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
CREATE TABLE "payloads" (
	"delivery_id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"size" integer NOT NULL,
	"headers" json NOT NULL,
	"codec" text DEFAULT 'identity' NOT NULL,
	"body" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "pipeline_uploads" (
	"job_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"jobs_made" integer,
	"is_replacing" boolean DEFAULT false NOT NULL,
	CONSTRAINT "pipeline_uploads_job_id_id_pk" PRIMARY KEY("job_id","id")
);
--> statement-breakpoint
CREATE TABLE "pipelines" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"default_branch" text NOT NULL,
	"repository" text,
	"environment_sealed" text,
	"steps" json NOT NULL,
	"configuration" text,
	"document" json,
	"branch_configuration" text,
	"skip_queued_branch_builds" boolean DEFAULT false NOT NULL,
	"skip_queued_branch_builds_filter" text,
	"cancel_running_branch_builds" boolean DEFAULT false NOT NULL,
	"cancel_running_branch_builds_filter" text,
	"default_timeout_in_minutes" integer,
	"maximum_timeout_in_minutes" integer,
	"last_build_number" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"archived_at" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "queues" (
	"id" uuid PRIMARY KEY NOT NULL,
	"cluster_id" uuid NOT NULL,
	"key" text NOT NULL,
	"description" text,
	"retry_agent_affinity" text NOT NULL,
	"dispatch_paused_at" timestamp (3) with time zone,
	"dispatch_paused_by_id" uuid,
	"dispatch_paused_note" text,
	"instance_shape" text,
	"agent_image_ref" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "record_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "record_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
CREATE TABLE "refresh_tokens" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"grant_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"rotated_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "refused_deliveries" (
	"trigger_id" uuid NOT NULL,
	"organization_id" uuid,
	"hour" timestamp (3) with time zone NOT NULL,
	"cause" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "refused_deliveries_trigger_id_hour_cause_pk" PRIMARY KEY("trigger_id","hour","cause")
);
--> statement-breakpoint
CREATE TABLE "refused_requests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"trigger_id" uuid NOT NULL,
	"cause" text NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"network" text NOT NULL,
	"headers" json NOT NULL,
	"query" text NOT NULL,
	"size" integer,
	"body" "bytea"
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"cluster_id" uuid NOT NULL,
	"key" text NOT NULL,
	"description" text,
	"policy" text,
	"value_sealed" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by_id" uuid NOT NULL,
	"last_read_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"public_key" json NOT NULL,
	"private_key_sealed" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"active_at" timestamp (3) with time zone NOT NULL,
	"is_newest" boolean NOT NULL,
	"retires_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"organization_id" uuid NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "triggers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"pipeline_id" uuid NOT NULL,
	"type" text NOT NULL,
	"label" text NOT NULL,
	"enabled" boolean NOT NULL,
	"version" integer NOT NULL,
	"build_message" text,
	"build_commit" text,
	"build_branch" text,
	"environment_sealed" text,
	"filter" text,
	"secret_sealed" text,
	"signature" json,
	"token_hash" text NOT NULL,
	"token_hint" text NOT NULL,
	"refused_bodies_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by_id" uuid NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "triggers_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"name" text NOT NULL,
	"password_hash" text,
	"operator_of_id" uuid,
	"deactivated_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email"),
	CONSTRAINT "users_operator_of_id_unique" UNIQUE("operator_of_id")
);
--> statement-breakpoint
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_tokens" ADD CONSTRAINT "agent_tokens_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_tokens" ADD CONSTRAINT "agent_tokens_cluster_id_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_tokens" ADD CONSTRAINT "agent_tokens_queue_id_queues_id_fk" FOREIGN KEY ("queue_id") REFERENCES "public"."queues"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_tokens" ADD CONSTRAINT "agent_tokens_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_cluster_id_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_queue_id_queues_id_fk" FOREIGN KEY ("queue_id") REFERENCES "public"."queues"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_agent_token_id_agent_tokens_id_fk" FOREIGN KEY ("agent_token_id") REFERENCES "public"."agent_tokens"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_stop_requested_by_id_users_id_fk" FOREIGN KEY ("stop_requested_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_paused_by_id_users_id_fk" FOREIGN KEY ("paused_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "annotations" ADD CONSTRAINT "annotations_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "annotations" ADD CONSTRAINT "annotations_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifact_totals" ADD CONSTRAINT "artifact_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_events" ADD CONSTRAINT "audit_events_actor_id_users_id_fk" FOREIGN KEY ("actor_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "build_graphs" ADD CONSTRAINT "build_graphs_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "builds" ADD CONSTRAINT "builds_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "builds" ADD CONSTRAINT "builds_pipeline_id_pipelines_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "public"."pipelines"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "builds" ADD CONSTRAINT "builds_delivery_id_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."deliveries"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "builds" ADD CONSTRAINT "builds_creator_id_users_id_fk" FOREIGN KEY ("creator_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bulk_rebuilds" ADD CONSTRAINT "bulk_rebuilds_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bulk_rebuilds" ADD CONSTRAINT "bulk_rebuilds_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bulk_rebuilds" ADD CONSTRAINT "bulk_rebuilds_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "clusters" ADD CONSTRAINT "clusters_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "clusters" ADD CONSTRAINT "clusters_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "concurrency_groups" ADD CONSTRAINT "concurrency_groups_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "concurrency_members" ADD CONSTRAINT "concurrency_members_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "concurrency_members" ADD CONSTRAINT "concurrency_members_group_id_concurrency_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."concurrency_groups"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_codes" ADD CONSTRAINT "device_codes_application_id_applications_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_codes" ADD CONSTRAINT "device_codes_claimed_by_id_users_id_fk" FOREIGN KEY ("claimed_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "filter_misses" ADD CONSTRAINT "filter_misses_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_application_id_applications_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_member" FOREIGN KEY ("organization_id","user_id") REFERENCES "public"."members"("organization_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_log_chunks" ADD CONSTRAINT "job_log_chunks_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_logs" ADD CONSTRAINT "job_logs_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_logs" ADD CONSTRAINT "job_logs_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_tokens" ADD CONSTRAINT "job_tokens_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_queue_id_queues_id_fk" FOREIGN KEY ("queue_id") REFERENCES "public"."queues"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "log_totals" ADD CONSTRAINT "log_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "meta_data" ADD CONSTRAINT "meta_data_build_id_builds_id_fk" FOREIGN KEY ("build_id") REFERENCES "public"."builds"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payload_totals" ADD CONSTRAINT "payload_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payloads" ADD CONSTRAINT "payloads_delivery_id_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payloads" ADD CONSTRAINT "payloads_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipeline_uploads" ADD CONSTRAINT "pipeline_uploads_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipelines" ADD CONSTRAINT "pipelines_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipelines" ADD CONSTRAINT "pipelines_cluster_id_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipelines" ADD CONSTRAINT "pipelines_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "queues" ADD CONSTRAINT "queues_cluster_id_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "queues" ADD CONSTRAINT "queues_dispatch_paused_by_id_users_id_fk" FOREIGN KEY ("dispatch_paused_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "queues" ADD CONSTRAINT "queues_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "record_totals" ADD CONSTRAINT "record_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refused_deliveries" ADD CONSTRAINT "refused_deliveries_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refused_deliveries" ADD CONSTRAINT "refused_deliveries_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refused_requests" ADD CONSTRAINT "refused_requests_trigger_id_triggers_id_fk" FOREIGN KEY ("trigger_id") REFERENCES "public"."triggers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_cluster_id_clusters_id_fk" FOREIGN KEY ("cluster_id") REFERENCES "public"."clusters"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_updated_by_id_users_id_fk" FOREIGN KEY ("updated_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_pipeline_id_pipelines_id_fk" FOREIGN KEY ("pipeline_id") REFERENCES "public"."pipelines"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_created_by_id_users_id_fk" FOREIGN KEY ("created_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_updated_by_id_users_id_fk" FOREIGN KEY ("updated_by_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_operator_of_id_organizations_id_fk" FOREIGN KEY ("operator_of_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_tokens_user" ON "access_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "access_tokens_own" ON "access_tokens" USING btree ("user_id","organization_id") WHERE "access_tokens"."grant_id" is null and "access_tokens"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "access_tokens_grant" ON "access_tokens" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "access_tokens_expiry" ON "access_tokens" USING btree ("expires_at") WHERE "access_tokens"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "access_tokens_revocation" ON "access_tokens" USING btree ("revoked_at") WHERE "access_tokens"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX "agent_tokens_cluster" ON "agent_tokens" USING btree ("cluster_id","id");--> statement-breakpoint
CREATE INDEX "agent_tokens_list" ON "agent_tokens" USING btree ("cluster_id","created_at","id") WHERE "agent_tokens"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "agents_organization" ON "agents" USING btree ("organization_id","state","id");--> statement-breakpoint
CREATE INDEX "agents_cluster" ON "agents" USING btree ("cluster_id","state","id");--> statement-breakpoint
CREATE INDEX "agents_queue" ON "agents" USING btree ("queue_id","state","id");--> statement-breakpoint
CREATE INDEX "agents_preferred" ON "agents" USING btree ("queue_id","priority","id") WHERE "agents"."priority" is not null and "agents"."state" = 'connected' and "agents"."job_id" is null;--> statement-breakpoint
CREATE INDEX "agents_named" ON "agents" USING btree ("organization_id",coalesce("name_pattern", "name"),"name_number") WHERE "agents"."state" <> 'disconnected';--> statement-breakpoint
CREATE INDEX "agents_seen" ON "agents" USING btree ("state","seen_at");--> statement-breakpoint
CREATE INDEX "agents_described" ON "agents" USING btree ("disconnected_at") WHERE "agents"."disconnected_at" is not null and "agents"."ip" <> '';--> statement-breakpoint
CREATE UNIQUE INDEX "annotations_context" ON "annotations" USING btree ("scope_id","context");--> statement-breakpoint
CREATE INDEX "annotations_build" ON "annotations" USING btree ("build_id","id");--> statement-breakpoint
CREATE INDEX "annotations_job" ON "annotations" USING btree ("job_id");--> statement-breakpoint
CREATE UNIQUE INDEX "artifacts_batch" ON "artifacts" USING btree ("job_id","batch_id","position");--> statement-breakpoint
CREATE INDEX "artifacts_build" ON "artifacts" USING btree ("build_id","id");--> statement-breakpoint
CREATE INDEX "artifacts_job" ON "artifacts" USING btree ("job_id","id");--> statement-breakpoint
CREATE INDEX "artifacts_counted" ON "artifacts" USING btree ("organization_id","created_at") WHERE "artifacts"."is_counted";--> statement-breakpoint
CREATE INDEX "artifacts_open" ON "artifacts" USING btree ("created_at") WHERE "artifacts"."state" = 'new';--> statement-breakpoint
CREATE INDEX "audit_events_subject" ON "audit_events" USING btree ("organization_id","subject_type","subject_id","id");--> statement-breakpoint
CREATE INDEX "audit_events_organization" ON "audit_events" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "audit_events_actor" ON "audit_events" USING btree ("organization_id","actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_events_action" ON "audit_events" USING btree ("organization_id","action","id");--> statement-breakpoint
CREATE INDEX "audit_events_type" ON "audit_events" USING btree ("organization_id","subject_type","id");--> statement-breakpoint
CREATE INDEX "audit_events_age" ON "audit_events" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "builds_number" ON "builds" USING btree ("pipeline_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "builds_delivery" ON "builds" USING btree ("delivery_id","rebuild");--> statement-breakpoint
CREATE UNIQUE INDEX "builds_triggered" ON "builds" USING btree ("triggered_by_job_id") WHERE "builds"."triggered_by_job_id" is not null;--> statement-breakpoint
CREATE INDEX "builds_root" ON "builds" USING btree ("root_build_id") WHERE "builds"."root_build_id" is not null;--> statement-breakpoint
CREATE INDEX "builds_organization" ON "builds" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "builds_organization_state" ON "builds" USING btree ("organization_id","state","id");--> statement-breakpoint
CREATE INDEX "builds_organization_branch" ON "builds" USING btree ("organization_id",substr("branch", 1, 100),"state","id");--> statement-breakpoint
CREATE INDEX "builds_organization_commit" ON "builds" USING btree ("organization_id",substr("commit", 1, 100),"state","id");--> statement-breakpoint
CREATE INDEX "builds_pipeline_state" ON "builds" USING btree ("pipeline_id","state","number");--> statement-breakpoint
CREATE INDEX "builds_pipeline_branch" ON "builds" USING btree ("pipeline_id",substr("branch", 1, 100),"state","number");--> statement-breakpoint
CREATE INDEX "builds_pipeline_commit" ON "builds" USING btree ("pipeline_id",substr("commit", 1, 100),"state","number");--> statement-breakpoint
CREATE INDEX "builds_organization_creator" ON "builds" USING btree ("organization_id","creator_id","id") WHERE "builds"."creator_id" is not null;--> statement-breakpoint
CREATE INDEX "builds_pipeline_creator" ON "builds" USING btree ("pipeline_id","creator_id","number") WHERE "builds"."creator_id" is not null;--> statement-breakpoint
CREATE INDEX "builds_sealing_key" ON "builds" USING btree (substr("environment_sealed", length("environment_sealed") - 8),"id") WHERE "builds"."environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX "builds_uploaded_sealing_key" ON "builds" USING btree (substr("uploaded_environment_sealed", length("uploaded_environment_sealed") - 8),"id") WHERE "builds"."uploaded_environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX "builds_finished" ON "builds" USING btree ("finished_at") WHERE "builds"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX "bulk_rebuilds_trigger" ON "bulk_rebuilds" USING btree ("trigger_id","id");--> statement-breakpoint
CREATE INDEX "bulk_rebuilds_running" ON "bulk_rebuilds" USING btree ("organization_id","trigger_id") WHERE "bulk_rebuilds"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "bulk_rebuilds_age" ON "bulk_rebuilds" USING btree ("finished_at");--> statement-breakpoint
CREATE UNIQUE INDEX "clusters_name" ON "clusters" USING btree ("organization_id","name") WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "clusters_list" ON "clusters" USING btree ("organization_id","created_at","id") WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "concurrency_groups_name" ON "concurrency_groups" USING btree ("organization_id","name");--> statement-breakpoint
CREATE INDEX "concurrency_members_place" ON "concurrency_members" USING btree ("group_id","standing","ordered_at","build_id","position","job_id");--> statement-breakpoint
CREATE INDEX "concurrency_members_limit" ON "concurrency_members" USING btree ("group_id","max_holders");--> statement-breakpoint
CREATE INDEX "concurrency_members_eager_place" ON "concurrency_members" USING btree ("group_id","max_holders","priority" desc,"ordered_at","build_id","position","job_id") WHERE "concurrency_members"."standing" = 'limited' and "concurrency_members"."is_eager";--> statement-breakpoint
CREATE INDEX "concurrency_members_build" ON "concurrency_members" USING btree ("build_id");--> statement-breakpoint
CREATE INDEX "deliveries_trigger" ON "deliveries" USING btree ("trigger_id","id","event","external_id");--> statement-breakpoint
CREATE INDEX "deliveries_status" ON "deliveries" USING btree ("trigger_id","status","id");--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("is_filtered","organization_id","enqueued_at") WHERE "deliveries"."status" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "device_codes_user_code" ON "device_codes" USING btree ("user_code_mac") WHERE "device_codes"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "device_codes_claimed" ON "device_codes" USING btree ("user_code_mac","claimed_by_id") WHERE "device_codes"."claimed_by_id" is not null;--> statement-breakpoint
CREATE INDEX "device_codes_approved" ON "device_codes" USING btree ("claimed_by_id","organization_id") WHERE "device_codes"."state" = 'approved';--> statement-breakpoint
CREATE INDEX "device_codes_expiry" ON "device_codes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "figures_age" ON "figures" USING btree ("figure","minutes","time");--> statement-breakpoint
CREATE INDEX "grants_of_member" ON "grants" USING btree ("organization_id","user_id");--> statement-breakpoint
CREATE INDEX "grants_user" ON "grants" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "grants_application" ON "grants" USING btree ("application_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "invitations_list" ON "invitations" USING btree ("organization_id","created_at","id");--> statement-breakpoint
CREATE INDEX "invitations_expiry" ON "invitations" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "job_log_chunks_start" ON "job_log_chunks" USING btree ("job_id","attempt","start","size","lines");--> statement-breakpoint
CREATE INDEX "job_logs_counted" ON "job_logs" USING btree ("organization_id","created_at") WHERE "job_logs"."is_counted";--> statement-breakpoint
CREATE INDEX "job_tokens_job" ON "job_tokens" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "job_tokens_expiry" ON "job_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "jobs_build" ON "jobs" USING btree ("build_id","state","position");--> statement-breakpoint
CREATE INDEX "jobs_queue" ON "jobs" USING btree ("queue_id","state","id");--> statement-breakpoint
CREATE INDEX "jobs_paused" ON "jobs" USING btree ("queue_id","id") WHERE "jobs"."dispatch_paused_at" is not null;--> statement-breakpoint
CREATE INDEX "jobs_mark" ON "jobs" USING btree ("queue_id","dispatch_paused_at","id") WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
CREATE INDEX "jobs_waiting" ON "jobs" USING btree ("queue_id","agent_rules","priority" desc,coalesce("arrived_at", "scheduled_at"),"id") WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
CREATE INDEX "jobs_offered" ON "jobs" USING btree ("assigned_at") WHERE "jobs"."state" = 'assigned' and "jobs"."accepted_at" is null;--> statement-breakpoint
CREATE INDEX "jobs_times_out" ON "jobs" USING btree ("times_out_at") WHERE "jobs"."times_out_at" is not null;--> statement-breakpoint
CREATE INDEX "jobs_ends" ON "jobs" USING btree ("ends_at") WHERE "jobs"."ends_at" is not null;--> statement-breakpoint
CREATE INDEX "members_user" ON "members" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "members_list" ON "members" USING btree ("organization_id","created_at","user_id");--> statement-breakpoint
CREATE INDEX "members_admins" ON "members" USING btree ("organization_id") WHERE "members"."role" = 'admin';--> statement-breakpoint
CREATE INDEX "payloads_organization" ON "payloads" USING btree ("organization_id","delivery_id","size");--> statement-breakpoint
CREATE UNIQUE INDEX "pipelines_slug" ON "pipelines" USING btree ("organization_id","slug") WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "pipelines_list" ON "pipelines" USING btree ("organization_id","created_at","id") WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "pipelines_deleted" ON "pipelines" USING btree ("organization_id") WHERE "pipelines"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX "pipelines_deleted_ids" ON "pipelines" USING btree ("id") WHERE "pipelines"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX "pipelines_cluster" ON "pipelines" USING btree ("cluster_id");--> statement-breakpoint
CREATE INDEX "pipelines_environment_key" ON "pipelines" USING btree (substr("environment_sealed", length("environment_sealed") - 8),"id") WHERE "pipelines"."environment_sealed" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "queues_key" ON "queues" USING btree ("cluster_id","key") WHERE "queues"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "queues_list" ON "queues" USING btree ("cluster_id","created_at","id") WHERE "queues"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "queues_paused" ON "queues" USING btree ("cluster_id","id") WHERE "queues"."dispatch_paused_at" is not null;--> statement-breakpoint
CREATE INDEX "record_totals_hour" ON "record_totals" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "refresh_tokens_grant" ON "refresh_tokens" USING btree ("grant_id");--> statement-breakpoint
CREATE INDEX "refresh_tokens_current" ON "refresh_tokens" USING btree ("grant_id","created_at") WHERE "refresh_tokens"."rotated_at" is null;--> statement-breakpoint
CREATE INDEX "refresh_tokens_expiry" ON "refresh_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "refused_deliveries_age" ON "refused_deliveries" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "refused_deliveries_organization" ON "refused_deliveries" USING btree ("organization_id","hour");--> statement-breakpoint
CREATE INDEX "refused_requests_cause" ON "refused_requests" USING btree ("trigger_id","cause","id");--> statement-breakpoint
CREATE INDEX "refused_requests_trigger" ON "refused_requests" USING btree ("trigger_id","received_at","id");--> statement-breakpoint
CREATE INDEX "refused_requests_age" ON "refused_requests" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "secrets_key" ON "secrets" USING btree ("cluster_id",lower("key"));--> statement-breakpoint
CREATE INDEX "secrets_list" ON "secrets" USING btree ("cluster_id","id");--> statement-breakpoint
CREATE INDEX "secrets_sealing_key" ON "secrets" USING btree (substr("value_sealed", length("value_sealed") - 8),"id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_oldest" ON "sessions" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "signing_keys_newest" ON "signing_keys" USING btree ("is_newest") WHERE "signing_keys"."is_newest";--> statement-breakpoint
CREATE INDEX "signing_keys_sealing_key" ON "signing_keys" USING btree (substr("private_key_sealed", length("private_key_sealed") - 8),"id");--> statement-breakpoint
CREATE INDEX "tasks_subject" ON "tasks" USING btree ("kind","subject_id");--> statement-breakpoint
CREATE INDEX "tasks_due" ON "tasks" USING btree ("organization_id","due_at");--> statement-breakpoint
CREATE INDEX "triggers_pipeline" ON "triggers" USING btree ("pipeline_id","id");--> statement-breakpoint
CREATE INDEX "triggers_environment_key" ON "triggers" USING btree (substr("environment_sealed", length("environment_sealed") - 8),"id") WHERE "triggers"."environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX "triggers_secret_key" ON "triggers" USING btree (substr("secret_sealed", length("secret_sealed") - 8),"id") WHERE "triggers"."secret_sealed" is not null;--> statement-breakpoint
INSERT INTO "settings" ("name", "value") VALUES
  ('installation', md5(random()::text || clock_timestamp()::text)),
  ('payloads_counted_below', '00000000-0000-0000-0000-000000000000'),
  ('records_counted_below', '00000000-0000-0000-0000-000000000000');
