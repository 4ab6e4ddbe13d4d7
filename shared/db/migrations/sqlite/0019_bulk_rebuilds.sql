CREATE TABLE `bulk_rebuilds` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`trigger_id` text NOT NULL,
	`filter` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`total` integer NOT NULL,
	`last_delivery_id` text NOT NULL,
	`position` text,
	`built` integer NOT NULL,
	`skipped` integer NOT NULL,
	`failed` integer NOT NULL,
	`canceled_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `bulk_rebuilds_trigger` ON `bulk_rebuilds` (`trigger_id`,`id`);--> statement-breakpoint
CREATE INDEX `bulk_rebuilds_running` ON `bulk_rebuilds` (`organization_id`,`trigger_id`) WHERE "bulk_rebuilds"."finished_at" is null;--> statement-breakpoint
CREATE INDEX `bulk_rebuilds_age` ON `bulk_rebuilds` (`finished_at`);