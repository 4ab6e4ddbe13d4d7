CREATE TABLE `refused_requests` (
	`id` text PRIMARY KEY NOT NULL,
	`trigger_id` text NOT NULL,
	`cause` text NOT NULL,
	`received_at` integer NOT NULL,
	`network` text NOT NULL,
	`headers` text NOT NULL,
	`query` text NOT NULL,
	`size` integer,
	`body` blob,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `refused_requests_cause` ON `refused_requests` (`trigger_id`,`cause`,`id`);--> statement-breakpoint
CREATE INDEX `refused_requests_trigger` ON `refused_requests` (`trigger_id`,`received_at`,`id`);--> statement-breakpoint
CREATE INDEX `refused_requests_age` ON `refused_requests` (`received_at`);