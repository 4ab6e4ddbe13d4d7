ALTER TABLE "agents" ADD COLUMN "name_pattern" text;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "name_number" integer;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "unaccepted_job_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "wide_exit_status" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "wide_promised_exit_status" bigint;--> statement-breakpoint
CREATE INDEX "agents_named" ON "agents" USING btree ("organization_id",coalesce("name_pattern", "name"),"name_number") WHERE "agents"."state" <> 'disconnected';--> statement-breakpoint
CREATE INDEX "jobs_offered" ON "jobs" USING btree ("assigned_at") WHERE "jobs"."state" = 'assigned' and "jobs"."accepted_at" is null;