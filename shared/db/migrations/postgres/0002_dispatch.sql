DROP INDEX "clusters_name";--> statement-breakpoint
DROP INDEX "pipelines_slug";--> statement-breakpoint
DROP INDEX "queues_key";--> statement-breakpoint
ALTER TABLE "builds" ADD COLUMN "paused_queue_id" uuid;--> statement-breakpoint
ALTER TABLE "clusters" ADD COLUMN "queue_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "clusters" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "dispatch_paused_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "assigned_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "pipelines" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "instance_shape" text;--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "agent_image_ref" text;--> statement-breakpoint
ALTER TABLE "queues" ADD COLUMN "deleted_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "audit_events_organization" ON "audit_events" USING btree ("organization_id","id");--> statement-breakpoint
CREATE INDEX "jobs_paused" ON "jobs" USING btree ("queue_id","id") WHERE "jobs"."dispatch_paused_at" is not null;--> statement-breakpoint
CREATE INDEX "queues_list" ON "queues" USING btree ("cluster_id","created_at","id") WHERE "queues"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "clusters_name" ON "clusters" USING btree ("organization_id","name") WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "pipelines_slug" ON "pipelines" USING btree ("organization_id","slug") WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "queues_key" ON "queues" USING btree ("cluster_id","key") WHERE "queues"."deleted_at" is null;
--> statement-breakpoint
-- By hand: what stands there already is counted.
UPDATE "clusters" SET "queue_count" = (SELECT count(*) FROM "queues" WHERE "queues"."cluster_id" = "clusters"."id");
