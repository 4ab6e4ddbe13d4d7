CREATE TABLE `build_graphs` (
	`build_id` text PRIMARY KEY NOT NULL,
	`tree` text,
	`warnings` text,
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `builds` ADD `options` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `uploaded_environment_sealed` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `has_graph` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `builds` ADD `failing_at` integer;--> statement-breakpoint
CREATE INDEX `builds_uploaded_sealing_key` ON `builds` (substr("uploaded_environment_sealed", length("uploaded_environment_sealed") - 8),`id`) WHERE "builds"."uploaded_environment_sealed" is not null;--> statement-breakpoint
ALTER TABLE `jobs` ADD `broken_reason` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `priority` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `agent_rules` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `arrived_at` integer;--> statement-breakpoint
CREATE INDEX `jobs_waiting` ON `jobs` (`queue_id`,`agent_rules`,"priority" desc,coalesce("arrived_at", "scheduled_at"),`id`) WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
ALTER TABLE `pipelines` ADD `configuration` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `document` text;--> statement-breakpoint
CREATE INDEX `agents_preferred` ON `agents` (`queue_id`,`priority`,`id`) WHERE "agents"."priority" is not null and "agents"."state" = 'connected' and "agents"."job_id" is null;