ALTER TABLE "builds" ADD COLUMN "is_paused" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "payloads" ADD COLUMN "codec" text DEFAULT 'identity' NOT NULL;--> statement-breakpoint
CREATE INDEX "builds_organization_state" ON "builds" USING btree ("organization_id","state","id");--> statement-breakpoint
CREATE INDEX "builds_organization_branch" ON "builds" USING btree ("organization_id",substr("branch", 1, 100),"state","id");--> statement-breakpoint
CREATE INDEX "builds_organization_commit" ON "builds" USING btree ("organization_id",substr("commit", 1, 100),"state","id");--> statement-breakpoint
CREATE INDEX "builds_pipeline_state" ON "builds" USING btree ("pipeline_id","state","number");--> statement-breakpoint
CREATE INDEX "builds_pipeline_branch" ON "builds" USING btree ("pipeline_id",substr("branch", 1, 100),"state","number");--> statement-breakpoint
CREATE INDEX "builds_pipeline_commit" ON "builds" USING btree ("pipeline_id",substr("commit", 1, 100),"state","number");--> statement-breakpoint
CREATE INDEX "clusters_list" ON "clusters" USING btree ("organization_id","created_at","id") WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "pipelines_list" ON "pipelines" USING btree ("organization_id","created_at","id") WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "pipelines_deleted" ON "pipelines" USING btree ("organization_id") WHERE "pipelines"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX "queues_paused" ON "queues" USING btree ("id") WHERE "queues"."dispatch_paused_at" is not null;--> statement-breakpoint
UPDATE "builds" SET "is_paused" = true WHERE "paused_queue_id" is not null AND not exists (SELECT 1 FROM "jobs" WHERE "jobs"."build_id" = "builds"."id" AND "jobs"."state" = 'scheduled' AND "jobs"."dispatch_paused_at" is null);
