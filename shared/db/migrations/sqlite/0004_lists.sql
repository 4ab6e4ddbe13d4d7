ALTER TABLE `builds` ADD `is_paused` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `builds_organization_state` ON `builds` (`organization_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `builds_organization_branch` ON `builds` (`organization_id`,substr("branch", 1, 100),`state`,`id`);--> statement-breakpoint
CREATE INDEX `builds_organization_commit` ON `builds` (`organization_id`,substr("commit", 1, 100),`state`,`id`);--> statement-breakpoint
CREATE INDEX `builds_pipeline_state` ON `builds` (`pipeline_id`,`state`,`number`);--> statement-breakpoint
CREATE INDEX `builds_pipeline_branch` ON `builds` (`pipeline_id`,substr("branch", 1, 100),`state`,`number`);--> statement-breakpoint
CREATE INDEX `builds_pipeline_commit` ON `builds` (`pipeline_id`,substr("commit", 1, 100),`state`,`number`);--> statement-breakpoint
ALTER TABLE `payloads` ADD `codec` text DEFAULT 'identity' NOT NULL;--> statement-breakpoint
CREATE INDEX `clusters_list` ON `clusters` (`organization_id`,`created_at`,`id`) WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `pipelines_list` ON `pipelines` (`organization_id`,`created_at`,`id`) WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `pipelines_deleted` ON `pipelines` (`organization_id`) WHERE "pipelines"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX `queues_paused` ON `queues` (`id`) WHERE "queues"."dispatch_paused_at" is not null;--> statement-breakpoint
UPDATE "builds" SET "is_paused" = 1 WHERE "paused_queue_id" is not null AND not exists (SELECT 1 FROM "jobs" WHERE "jobs"."build_id" = "builds"."id" AND "jobs"."state" = 'scheduled' AND "jobs"."dispatch_paused_at" is null);
