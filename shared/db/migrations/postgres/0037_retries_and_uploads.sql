ALTER TABLE "jobs" ADD COLUMN "retried_by_id" uuid;--> statement-breakpoint
ALTER TABLE "pipeline_uploads" ADD COLUMN "jobs_made" integer;--> statement-breakpoint
ALTER TABLE "pipeline_uploads" ADD COLUMN "is_replacing" boolean DEFAULT false NOT NULL;