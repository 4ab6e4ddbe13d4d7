DROP INDEX `queues_paused`;--> statement-breakpoint
CREATE INDEX `queues_paused` ON `queues` (`cluster_id`,`id`) WHERE "queues"."dispatch_paused_at" is not null;--> statement-breakpoint
ALTER TABLE `audit_events` ADD `changes` text;--> statement-breakpoint
CREATE INDEX `audit_events_actor` ON `audit_events` (`organization_id`,`actor_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_action` ON `audit_events` (`organization_id`,`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_type` ON `audit_events` (`organization_id`,`subject_type`,`id`);--> statement-breakpoint
ALTER TABLE `deliveries` ADD `event` text;--> statement-breakpoint
CREATE INDEX `deliveries_status` ON `deliveries` (`trigger_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_event` ON `deliveries` (`trigger_id`,`event`,`id`) WHERE "deliveries"."event" is not null;--> statement-breakpoint
CREATE INDEX `deliveries_external_id` ON `deliveries` (`trigger_id`,`external_id`,`id`) WHERE "deliveries"."external_id" is not null;--> statement-breakpoint
ALTER TABLE `refused_deliveries` ADD `organization_id` text REFERENCES organizations(id);--> statement-breakpoint
CREATE INDEX `refused_deliveries_organization` ON `refused_deliveries` (`organization_id`,`hour`);--> statement-breakpoint
CREATE INDEX `builds_organization_creator` ON `builds` (`organization_id`,`creator_id`,`id`) WHERE "builds"."creator_id" is not null;--> statement-breakpoint
CREATE INDEX `builds_pipeline_creator` ON `builds` (`pipeline_id`,`creator_id`,`number`) WHERE "builds"."creator_id" is not null;