//! The program as its users meet it: arguments in, text, files and exit codes out. The built-in
//! servers make these tests work with nothing but Rust.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod ab;
mod action;
mod bad_input;
mod balance;
mod cohort_groups;
mod cohort_processes;
mod cohorts;
mod compare;
mod costs;
mod curated;
mod detect;
mod figures;
mod foreign;
mod forge;
mod fresh;
mod from;
mod gates;
mod goals;
mod golden;
mod hosts;
mod idle_modes;
mod join;
mod journals;
mod labels;
mod list;
mod load;
mod load_metrics;
mod load_results;
mod old_trees;
mod open_files;
mod own_suite;
mod phases;
mod published_rows;
mod report;
mod requests;
mod resume;
mod revisions;
mod run;
mod same_programs;
mod scripted;
mod second_look;
mod secrets;
mod servers;
mod services;
mod services_elsewhere;
mod shared_cpus;
mod silence;
mod slurm;
mod sources;
mod stalled;
mod standalone;
mod start_up;
mod suites;
mod survive;
mod terminal;
mod topologies;
mod tune;
mod verbs;
mod why;
mod workflow;

mod world;
