/** The public API of `@parley/cli/conformance`: the checks of a live agent. */
export type { BindingName, Check, Evidence, Level, PerVersion, Verdict, VersionName } from './check.ts'
export { CheckFailure, fail, notApplicable, pass, Undecided, undecided } from './check.ts'
export { allChecks } from './checks/index.ts'
export type { Discovery, ServedCard } from './discover.ts'
export type { ConformanceOptions, MessageHint, Profile, Scenario } from './options.ts'
export { breaks, type CheckResult, type ConformanceReport, type OutcomeCounts, type Target } from './report.ts'
export { runConformance, type RunOptions } from './run-conformance.ts'
export type * from './subject.ts'
