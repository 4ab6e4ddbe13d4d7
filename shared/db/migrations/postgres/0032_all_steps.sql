CREATE TABLE "concurrency_groups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
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
CREATE TABLE "follow_ups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "has_members" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "triggered_by_job_id" uuid;--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "cancel_reason" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "limited_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "ends_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "promised_exit_status" integer;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "promised_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "unblockable" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "unblocked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "unblocked_by_id" uuid;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "branch_configuration" text;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "skip_queued_branch_builds" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "skip_queued_branch_builds_filter" text;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "cancel_running_branch_builds" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "cancel_running_branch_builds_filter" text;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "default_timeout_in_minutes" integer;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "maximum_timeout_in_minutes" integer;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "archived_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "concurrency_groups" ADD CONSTRAINT "concurrency_groups_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "concurrency_members" ADD CONSTRAINT "concurrency_members_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "concurrency_members" ADD CONSTRAINT "concurrency_members_group_id_concurrency_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."concurrency_groups"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "concurrency_groups_name" ON "concurrency_groups" USING btree ("organization_id","name");--> statement-breakpoint
CREATE INDEX "concurrency_members_order" ON "concurrency_members" USING btree ("group_id","standing","ordered_at","position","job_id");--> statement-breakpoint
CREATE INDEX "concurrency_members_limit" ON "concurrency_members" USING btree ("group_id","max_holders");--> statement-breakpoint
CREATE INDEX "concurrency_members_eager" ON "concurrency_members" USING btree ("group_id","max_holders","priority" desc,"ordered_at","position","job_id") WHERE "concurrency_members"."standing" = 'limited' and "concurrency_members"."is_eager";--> statement-breakpoint
CREATE INDEX "concurrency_members_build" ON "concurrency_members" USING btree ("build_id");--> statement-breakpoint
CREATE INDEX "follow_ups_subject" ON "follow_ups" USING btree ("kind","subject_id");--> statement-breakpoint
CREATE UNIQUE INDEX "builds_triggered" ON "builds" USING btree ("triggered_by_job_id") WHERE "builds"."triggered_by_job_id" is not null;--> statement-breakpoint
CREATE INDEX "jobs_ends" ON "jobs" USING btree ("ends_at") WHERE "jobs"."ends_at" is not null;