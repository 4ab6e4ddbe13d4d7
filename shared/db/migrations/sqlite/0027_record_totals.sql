CREATE TABLE `record_totals` (
	`organization_id` text NOT NULL,
	`hour` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `hour`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `record_totals_hour` ON `record_totals` (`hour`);--> statement-breakpoint
ALTER TABLE `organizations` ADD `stored_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizations` ADD `record_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO `settings` (`name`, `value`) VALUES ('records_counted_below', '00000000-0000-0000-0000-000000000000');
