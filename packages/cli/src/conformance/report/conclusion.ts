/** The result of a run in one sentence, for the reports of people. */
import { isShutOut, type ConformanceReport } from '../report.ts'

export function conclusionOf(report: ConformanceReport): string {
  const { results, summary } = report
  const { must, should } = summary
  const decided = must.pass + must.fail + must.accepted + should.pass + should.fail + should.accepted
  if (decided === 0) return 'no rule of the specification was decided'
  const broken = [
    ...(must.fail === 0 ? [] : [`${must.fail} must${repetition(results, 'must')}`]),
    ...(should.fail === 0 ? [] : [`${should.fail} should${repetition(results, 'should')}`]),
  ].join(' and ')
  const known = must.accepted + should.accepted
  const accepted = known === 0 ? '' : `; ${known} accepted by the profile`
  const open = must.undecided === 0 ? '' : `; ${must.undecided} must undecided`
  return `${broken === '' ? 'no must and no should is broken' : `the agent breaks ${broken}`}${accepted}${open}${isShutOut(report) ? ', because the agent let no request in' : ''}`
}

/** A check that fails over several interfaces counts for each. */
function repetition(results: ConformanceReport['results'], level: 'must' | 'should'): string {
  const failed = results.filter((one) => one.level === level && one.outcome === 'fail' && one.accepted === undefined)
  const checks = new Set(failed.map(({ id }) => id)).size
  if (checks === failed.length) return ''
  const interfaces = new Set(failed.map(({ version, binding, url }) => `${version} ${binding} ${url}`)).size
  return ` (${checks} ${checks === 1 ? 'check' : 'checks'} on ${interfaces} interfaces)`
}
