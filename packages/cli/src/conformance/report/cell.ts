/** One word per result, for the tables of people. */
import type { CheckResult } from '../report.ts'

/** `FAIL`: a broken must. `fail`: a broken should. `note`: our own expectation is not met. `known`: a failure that the profile accepts. */
export function cellOf({ outcome, level, accepted }: CheckResult): string {
  if (outcome === 'pass') return 'ok'
  if (outcome === 'undecided') return '?'
  if (outcome === 'not-applicable') return '-'
  if (accepted !== undefined) return 'known'
  return level === 'must' ? 'FAIL' : level === 'should' ? 'fail' : 'note'
}

export const legend =
  'ok passed · FAIL a must is broken · fail a should is broken · note only our expectation · known accepted by the profile · ? undecided · - does not apply'

/** The interface of a result, in words: `1.0 JSONRPC`, or `1.0` if it is not about a binding. */
export const interfaceOf = ({ version, binding }: CheckResult): string =>
  binding === undefined ? version : `${version} ${binding}`
