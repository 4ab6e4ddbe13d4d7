CREATE TABLE `refused_deliveries` (
	`trigger_id` text NOT NULL,
	`hour` integer NOT NULL,
	`cause` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`trigger_id`, `hour`, `cause`),
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `refused_deliveries_age` ON `refused_deliveries` (`hour`);--> statement-breakpoint
DROP INDEX `builds_delivery_id_unique`;--> statement-breakpoint
ALTER TABLE `builds` ADD `rebuild` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `builds_delivery` ON `builds` (`delivery_id`,`rebuild`);--> statement-breakpoint
ALTER TABLE `triggers` ADD `filter` text;