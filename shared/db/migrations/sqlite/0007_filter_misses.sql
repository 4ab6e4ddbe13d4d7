CREATE TABLE `filter_misses` (
	`trigger_id` text PRIMARY KEY NOT NULL,
	`filter` text NOT NULL,
	`count` integer NOT NULL,
	`retry_at` integer NOT NULL,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade
);
