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
CREATE TABLE "job_log_chunks" (
	"job_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"sequence" integer NOT NULL,
	"start" bigint NOT NULL,
	"size" integer NOT NULL,
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
CREATE TABLE "log_totals" (
	"organization_id" uuid NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "log_totals_organization_id_hour_pk" PRIMARY KEY("organization_id","hour")
);
--> statement-breakpoint
CREATE TABLE "pipeline_uploads" (
	"job_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "pipeline_uploads_job_id_id_pk" PRIMARY KEY("job_id","id")
);
--> statement-breakpoint
DROP INDEX "jobs_build";--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "queue_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "command" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "author" json;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "rebuilt_from_id" uuid;--> statement-breakpoint
ALTER TABLE "job_tokens" ADD COLUMN "attempt" integer;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "type" text DEFAULT 'script' NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "step_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "position" integer;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "options" json;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "signal" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "signal_reason" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "failure_reason" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "soft_failed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "agent_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "attempt" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "retry_of_job_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "retried_in_job_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "retry_type" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "retries_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "scheduled_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "accepted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "times_out_at" timestamp (3) with time zone;--> statement-breakpoint
UPDATE "jobs" SET "step_id" = "jobs"."id", "scheduled_at" = "jobs"."created_at", "position" = "numbered"."position" FROM (SELECT "id", row_number() OVER (PARTITION BY "build_id" ORDER BY "id") - 1 AS "position" FROM "jobs") AS "numbered" WHERE "numbered"."id" = "jobs"."id";--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "step_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "position" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "repository" text;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "environment_sealed" text;--> statement-breakpoint
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
ALTER TABLE "job_log_chunks" ADD CONSTRAINT "job_log_chunks_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_logs" ADD CONSTRAINT "job_logs_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_logs" ADD CONSTRAINT "job_logs_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "log_totals" ADD CONSTRAINT "log_totals_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipeline_uploads" ADD CONSTRAINT "pipeline_uploads_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_tokens_cluster" ON "agent_tokens" USING btree ("cluster_id","id");--> statement-breakpoint
CREATE INDEX "agents_organization" ON "agents" USING btree ("organization_id","state","id");--> statement-breakpoint
CREATE INDEX "agents_cluster" ON "agents" USING btree ("cluster_id","state","id");--> statement-breakpoint
CREATE INDEX "agents_queue" ON "agents" USING btree ("queue_id","state","id");--> statement-breakpoint
CREATE INDEX "agents_seen" ON "agents" USING btree ("state","seen_at");--> statement-breakpoint
CREATE INDEX "job_log_chunks_start" ON "job_log_chunks" USING btree ("job_id","attempt","start");--> statement-breakpoint
CREATE INDEX "job_logs_organization" ON "job_logs" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "job_logs_age" ON "job_logs" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "jobs_times_out" ON "jobs" USING btree ("times_out_at") WHERE "jobs"."times_out_at" is not null;--> statement-breakpoint
CREATE INDEX "pipelines_environment_key" ON "pipelines" USING btree (substr("environment_sealed", length("environment_sealed") - 8),"id") WHERE "pipelines"."environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX "jobs_build" ON "jobs" USING btree ("build_id","state","position");