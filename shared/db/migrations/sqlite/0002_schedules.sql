CREATE TABLE `schedules` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`label` text,
	`cronline` text NOT NULL,
	`message` text,
	`commit` text DEFAULT 'HEAD' NOT NULL,
	`branch` text,
	`environment_sealed` text,
	`enabled` integer DEFAULT true NOT NULL,
	`next_build_at` integer,
	`failed_at` integer,
	`failed_message` text,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `schedules_pipeline` ON `schedules` (`pipeline_id`,`id`);--> statement-breakpoint
CREATE INDEX `schedules_due` ON `schedules` (`organization_id`,`next_build_at`) WHERE "schedules"."next_build_at" is not null;--> statement-breakpoint
CREATE INDEX `schedules_environment_key` ON `schedules` (substr("environment_sealed", length("environment_sealed") - 8),`id`) WHERE "schedules"."environment_sealed" is not null;--> statement-breakpoint
ALTER TABLE `builds` ADD `schedule_id` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `scheduled_for` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `builds_schedule` ON `builds` (`schedule_id`,`scheduled_for`) WHERE "builds"."schedule_id" is not null;