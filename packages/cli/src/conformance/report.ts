/** The result of a run: what every report format is made from. */
import type { BindingName, Evidence, Level, Verdict, VersionName } from './verdict.ts'

/** One interface of the agent. */
export interface Target {
  readonly url: string
  readonly version: VersionName
  readonly binding: BindingName
  readonly tenant?: string
}

export interface CheckResult {
  readonly id: string
  readonly title: string
  readonly level: Level
  readonly section: string
  readonly rules: readonly string[]
  readonly version: VersionName
  /** Absent: not about a binding. */
  readonly binding?: BindingName
  readonly url: string
  readonly outcome: Verdict['outcome']
  readonly note?: string
  /** What to do about a failure that the profile does not accept. */
  readonly advice?: string
  readonly evidence?: Evidence
  /** Why a failure does not count: from the profile. */
  readonly accepted?: string
  readonly durationMs: number
}

export interface OutcomeCounts {
  readonly pass: number
  readonly fail: number
  /** Failures that the profile accepts. */
  readonly accepted: number
  readonly undecided: number
  readonly notApplicable: number
}

export interface ConformanceReport {
  readonly schema: 'a2a-conformance/1'
  readonly agent: { readonly url: string; readonly name?: string; readonly version?: string }
  readonly startedAt: string
  readonly durationMs: number
  readonly targets: readonly Target[]
  readonly messagesSent: number
  readonly summary: Readonly<Record<Level, OutcomeCounts>>
  readonly results: readonly CheckResult[]
}

export function summarize(results: readonly CheckResult[]): ConformanceReport['summary'] {
  const countsOf = (level: Level): OutcomeCounts => {
    const of = results.filter((result) => result.level === level)
    const failed = of.filter(({ outcome }) => outcome === 'fail')
    return {
      pass: of.filter(({ outcome }) => outcome === 'pass').length,
      fail: failed.filter(({ accepted }) => accepted === undefined).length,
      accepted: failed.filter(({ accepted }) => accepted !== undefined).length,
      undecided: of.filter(({ outcome }) => outcome === 'undecided').length,
      notApplicable: of.filter(({ outcome }) => outcome === 'not-applicable').length,
    }
  }
  return { must: countsOf('must'), should: countsOf('should'), info: countsOf('info') }
}

/** The note of a check whose request lacks credentials. One for all checks, so that a report groups them. */
export const unauthenticatedNote =
  'the agent answers that the caller is not authenticated: set --bearer, --api-key or --svc-param'

/** Whether the run fails for `--fail-on`. */
export function breaks(report: ConformanceReport, failOn: 'must' | 'should' | 'never'): boolean {
  const { must, should } = report.summary
  if (failOn === 'never') return false
  return must.fail > 0 || (failOn === 'should' && should.fail > 0) || isShutOut(report)
}

/** Their rules can be decided by refusals, and by what an agent answers before it authenticates the caller. */
const decidedByRefusals = /^(card|auth|version|jsonrpc|rest|error|params|limits|robustness)\./

/** Whether the agent let no request in, so that only its card and its refusals were judged: a token may have expired. */
export function isShutOut({ results }: ConformanceReport): boolean {
  const isDecided = ({ id, outcome }: CheckResult): boolean =>
    !decidedByRefusals.test(id) && (outcome === 'pass' || outcome === 'fail')
  return results.some(({ note }) => note === unauthenticatedNote) && !results.some(isDecided)
}
