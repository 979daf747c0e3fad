/** One check of a live agent, and what it found. A check is a function over a URL, so that our own tests call it too. */
import type { Exchange } from './wire/exchange.ts'
import type { Subject } from './subject.ts'
import type { BindingName, Level, PerVersion, Verdict, VersionName } from './verdict.ts'

export * from './verdict.ts'

export interface Check {
  /** `card.required-fields`: stable, for `--only`, JUnit and profiles. */
  readonly id: string
  /** The ids of docs/contributing/conformance that it decides, such as `B-43`. */
  readonly rules: readonly string[]
  readonly level: PerVersion<Level>
  /** The section of the official specification: `A2A 1.0 §3.1.1`. For level `info`: where the silence or contradiction is. */
  readonly section: PerVersion<string>
  /** What a conforming agent does: `An unknown task id is refused with TaskNotFoundError`. */
  readonly title: string
  /** What the author of an agent that fails can do, if that is not plain from the rule. */
  readonly advice?: string
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

/** Tries again what a busy machine was too slow for: to reach a task before it ends. */
export async function tryThrice<T>(run: () => Promise<T>): Promise<T> {
  for (let left = 2; ; left -= 1) {
    try {
      return await run()
    } catch (reason) {
      if (!(reason instanceof Undecided) || left === 0) throw reason
    }
  }
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
