/** One check of a live agent, and what it found. A check is a function over a URL, so that our own tests call it too. */
import type { Exchange } from './wire/exchange.ts'
import type { Subject } from './subject.ts'

/** `must` and `should` are the official specification's words; our own decisions and practices are `info`. */
export type Level = 'must' | 'should' | 'info'
export type VersionName = '0.2' | '0.3' | '1.0'
export type BindingName = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'

export const versionNames: readonly VersionName[] = ['1.0', '0.3', '0.2']
export const bindingNames: readonly BindingName[] = ['JSONRPC', 'HTTP+JSON', 'GRPC']

/**
 * What a check concludes. `undecided`: the agent did not show it, or a limit such as `--read-only` forbids to look. `not-applicable`:
 * the rule is about something that this agent does not have, such as a capability that its card does not declare.
 */
export type Verdict =
  | { readonly outcome: 'pass'; readonly note?: string }
  | { readonly outcome: 'fail'; readonly note: string; readonly evidence?: Evidence }
  | { readonly outcome: 'undecided'; readonly note: string }
  | { readonly outcome: 'not-applicable'; readonly note: string }

/** The exchange that shows a failure, redacted and cut to a readable length. */
export interface Evidence {
  readonly request: string
  readonly response: string
}

/** One value for every version, or one per version where the specification changed. */
export type PerVersion<T> = T | Partial<Readonly<Record<VersionName, T>>>

export interface Check {
  /** `card.required-fields`: stable, for `--only`, JUnit and profiles. */
  readonly id: string
  /** The ids of docs/contributing/conformance.md that it decides, such as `B-43`. */
  readonly rules: readonly string[]
  readonly level: PerVersion<Level>
  /** The section of the official specification: `A2A 1.0 §3.1.1`. For level `info`: where the silence or contradiction is. */
  readonly section: PerVersion<string>
  /** What a conforming agent does: `An unknown task id is refused with TaskNotFoundError`. */
  readonly title: string
  readonly versions: readonly VersionName[]
  /** Absent: not about a binding, so run once per version. */
  readonly bindings?: readonly BindingName[]
  /** Whether it sends messages to the agent or changes a task: not run with `--read-only`. */
  readonly sends: boolean
  run(subject: Subject): Promise<Verdict>
}

/** Thrown by a helper of `Subject`, or by a check, when the agent does not show what is to be judged. */
export class Undecided extends Error {
  override readonly name = 'Undecided'
}

/** Thrown by a check whose rule is not about this agent: it lacks the capability, or requires no credentials. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}

/** Thrown by a helper of `Subject`, or by a check, when the agent is wrong in a way that ends the check. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure'
  readonly exchange: Exchange | undefined
  constructor(note: string, exchange?: Exchange) {
    super(note)
    this.exchange = exchange
  }
}

export const pass = (note?: string): Verdict => (note === undefined ? { outcome: 'pass' } : { outcome: 'pass', note })
export const notApplicable = (note: string): Verdict => ({ outcome: 'not-applicable', note })
export const undecided = (note: string): Verdict => ({ outcome: 'undecided', note })
/** With the exchange that shows it; the runner redacts and shortens it. */
export function fail(note: string, exchange?: Exchange | { readonly exchange: Exchange }): Verdict {
  const shown = exchange === undefined ? undefined : 'exchange' in exchange ? exchange.exchange : exchange
  throw new CheckFailure(note, shown)
}

export function valueFor<T>(perVersion: PerVersion<T>, version: VersionName): T | undefined {
  if (typeof perVersion !== 'object' || perVersion === null) return perVersion
  return (perVersion as Partial<Record<VersionName, T>>)[version]
}
