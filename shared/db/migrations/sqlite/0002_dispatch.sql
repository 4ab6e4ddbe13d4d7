DROP INDEX `clusters_name`;--> statement-breakpoint
ALTER TABLE `clusters` ADD `queue_count` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `clusters` ADD `deleted_at` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `clusters_name` ON `clusters` (`organization_id`,`name`) WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
DROP INDEX `pipelines_slug`;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `deleted_at` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `pipelines_slug` ON `pipelines` (`organization_id`,`slug`) WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
DROP INDEX `queues_key`;--> statement-breakpoint
ALTER TABLE `queues` ADD `instance_shape` text;--> statement-breakpoint
ALTER TABLE `queues` ADD `agent_image_ref` text;--> statement-breakpoint
ALTER TABLE `queues` ADD `deleted_at` integer;--> statement-breakpoint
CREATE INDEX `queues_list` ON `queues` (`cluster_id`,`created_at`,`id`) WHERE "queues"."deleted_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `queues_key` ON `queues` (`cluster_id`,`key`) WHERE "queues"."deleted_at" is null;--> statement-breakpoint
ALTER TABLE `builds` ADD `paused_queue_id` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `dispatch_paused_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `assigned_at` integer;--> statement-breakpoint
CREATE INDEX `jobs_paused` ON `jobs` (`queue_id`,`id`) WHERE "jobs"."dispatch_paused_at" is not null;--> statement-breakpoint
CREATE INDEX `audit_events_organization` ON `audit_events` (`organization_id`,`id`);
--> statement-breakpoint
-- By hand: what stands there already is counted.
UPDATE `clusters` SET `queue_count` = (SELECT count(*) FROM `queues` WHERE `queues`.`cluster_id` = `clusters`.`id`);
