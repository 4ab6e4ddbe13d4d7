CREATE TABLE `stacks` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`queue_id` text NOT NULL,
	`key` text NOT NULL,
	`type` text NOT NULL,
	`metadata` text NOT NULL,
	`created_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`lost_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`queue_id`) REFERENCES `queues`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `stacks_key` ON `stacks` (`cluster_id`,`key`);--> statement-breakpoint
CREATE INDEX `stacks_organization` ON `stacks` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `stacks_seen` ON `stacks` (`lost_at`,`seen_at`);--> statement-breakpoint
CREATE TABLE `stack_notifications` (
	`id` text PRIMARY KEY NOT NULL,
	`job_id` text NOT NULL,
	`detail` text NOT NULL,
	`notified_at` integer NOT NULL,
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `stack_notifications_job` ON `stack_notifications` (`job_id`,`notified_at`,`id`);--> statement-breakpoint
ALTER TABLE `jobs` ADD `stack_id` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `reserved_until` integer;--> statement-breakpoint
CREATE INDEX `jobs_scheduled` ON `jobs` (`queue_id`,`scheduled_at`,`id`) WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
CREATE INDEX `jobs_reserved` ON `jobs` (`reserved_until`) WHERE "jobs"."state" = 'reserved';--> statement-breakpoint
CREATE INDEX `jobs_reserved_by` ON `jobs` (`stack_id`,`id`) WHERE "jobs"."state" = 'reserved';