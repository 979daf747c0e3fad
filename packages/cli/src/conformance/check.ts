/** One check of a live agent, and what it found. A check is a function over a URL, so that our own tests call it too. */

export type Level = 'must' | 'should' | 'info'
export type VersionName = '0.2' | '0.3' | '1.0'
export type BindingName = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'

/** What a check concludes. `undecided`: the agent did not show it, or a limit such as `--read-only` forbids to look. */
export type Verdict =
  | { readonly outcome: 'pass'; readonly note?: string }
  | { readonly outcome: 'fail'; readonly note: string; readonly evidence?: Evidence }
  | { readonly outcome: 'undecided'; readonly note: string }

/** The exchange that shows a failure, redacted and cut to a readable length. */
export interface Evidence {
  readonly request: string
  readonly response: string
}

export interface Check {
  /** `card.required-fields`: stable, for `--only`, JUnit and profiles. */
  readonly id: string
  /** The ids of docs/contributing/conformance.md that it decides, such as `B-43`. */
  readonly rules: readonly string[]
  readonly level: Level
  /** The section of the official specification of that version: `A2A 1.0 §3.1.1`. */
  readonly section: string
  readonly title: string
  readonly versions: readonly VersionName[]
  /** Absent: not about a binding, so run once. */
  readonly bindings?: readonly BindingName[]
  /** Whether it sends messages to the agent: not run with `--read-only`. */
  readonly sends: boolean
  run(subject: Subject): Promise<Verdict>
}

/** The agent under test in one version over one binding, with helpers that record every exchange. The runner makes it. */
export interface Subject {
  readonly url: string
  readonly version: VersionName
  readonly binding: BindingName
  readonly signal: AbortSignal
}
