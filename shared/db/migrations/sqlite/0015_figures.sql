CREATE TABLE `figures` (
	`subject_id` text NOT NULL,
	`time` integer NOT NULL,
	`figure` text NOT NULL,
	`minutes` integer NOT NULL,
	`value` integer NOT NULL,
	PRIMARY KEY(`subject_id`, `time`, `figure`, `minutes`)
);
--> statement-breakpoint
CREATE INDEX `figures_age` ON `figures` (`figure`,`minutes`,`time`);