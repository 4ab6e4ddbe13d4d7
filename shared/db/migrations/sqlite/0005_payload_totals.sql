CREATE TABLE `payload_totals` (
	`organization_id` text NOT NULL,
	`hour` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `hour`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);--> statement-breakpoint
INSERT INTO `settings` (`name`, `value`) VALUES ('payloads_counted_below', '00000000-0000-0000-0000-000000000000');
