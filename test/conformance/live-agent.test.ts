/** What `a2a conformance` finds on our own server: the same checks that authors of other agents run, in every version and binding. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { allChecks, runConformance, type CheckResult, type ConformanceReport } from '@parley/cli/conformance'
import type { Server, ServeOptions } from '@parley/a2a/node'
import { callerToken, liveProfile, openLiveServer } from './live-server.ts'
import { rules } from './rules.ts'

const describeResult = ({ id, level, version, binding, note = '', accepted }: CheckResult): string =>
  `${level} ${id} ${version} ${binding ?? ''}: ${note}${accepted === undefined ? '' : ` (${accepted})`}`

const failures = (results: readonly CheckResult[]): readonly string[] =>
  results.filter(({ outcome, accepted }) => outcome === 'fail' && accepted === undefined).map(describeResult)

describe('our server under `a2a conformance`', () => {
  let server: Server
  let reports: readonly ConformanceReport[]
  let results: readonly CheckResult[]
  before(async () => {
    server = await openLiveServer()
    // The checks of an interface mostly wait for slow tasks, one after the other: two halves of them wait at the same time.
    const areas = new Set(allChecks.map(({ id }) => id.slice(0, id.indexOf('.'))))
    const streams = ['streaming', 'subscribe']
    const halves = [[...areas].filter((area) => !streams.includes(area)), streams]
    const options = { profile: liveProfile, bearer: callerToken, maxMessages: 2_000, parallel: 9 }
    reports = await Promise.all(halves.map((only) => runConformance(server.url, { ...options, only })))
    results = reports.flatMap((report) => report.results)
  })
  after(() => server.close())

  it('is checked in three versions over three bindings', () => {
    const interfaces = reports[0]?.targets.map(({ version, binding }) => `${version} ${binding}`) ?? []
    const expected = ['1.0', '0.3', '0.2'].flatMap((version) =>
      ['JSONRPC', 'HTTP+JSON', 'GRPC'].map((binding) => `${version} ${binding}`),
    )
    assert.deepEqual(interfaces.toSorted(), expected.toSorted())
  })

  it('breaks no must, no should and none of our own expectations', () => {
    assert.deepEqual(failures(results), [])
    const passed = reports.reduce((sum, { summary }) => sum + summary.must.pass, 0)
    assert.ok(passed > 280, `only ${passed} musts were decided`)
  })

  it('breaks only the must that docs/contributing/conformance lists as a deviation', () => {
    const known = new Set(results.filter(({ accepted }) => accepted !== undefined).map(({ id }) => id))
    assert.deepEqual([...known], ['version.missing-is-not-1.0'])
  })

  it('shows everything that the checks need', () => {
    const open = results.filter(({ outcome }) => outcome === 'undecided')
    assert.deepEqual(open.map(describeResult), [])
  })
})

/** Checks that a server with every capability does not show, each with the server that does. */
const variants: readonly (readonly [what: string, only: readonly string[], options: Partial<ServeOptions>])[] = [
  ['without streams', ['honesty.streaming-not-declared'], { streaming: false }],
  ['without webhooks', ['honesty.push-not-declared'], { push: undefined as never }],
  [
    'with a required extension',
    ['honesty.required-extension', 'honesty.interface', 'send.result'],
    { extensions: [{ uri: 'https://example.com/ext/v1', required: true }] },
  ],
  ['that follows the text on missing versions', ['version'], { strict: true }],
]

describe('our server', () => {
  for (const [what, only, options] of variants) {
    it(`${what} passes ${only.join(', ')}`, async (t) => {
      const server = await openLiveServer(options)
      t.after(() => server.close())
      const { accepted: _accepted, ...profile } = liveProfile
      const { results } = await runConformance(server.url, { profile, only, bearer: callerToken })
      const passed = new Set(results.filter(({ outcome }) => outcome === 'pass').map(({ id }) => id))
      assert.deepEqual(
        results.filter(({ outcome }) => outcome === 'fail' || outcome === 'undecided').map(describeResult),
        [],
      )
      for (const id of only)
        assert.ok(
          [...passed].some((each) => each === id || each.startsWith(`${id}.`)),
          `${id} did not pass`,
        )
    })
  }

  it('with an extended card serves it to callers with credentials [B-136 B-137]', async (t) => {
    const server = await openLiveServer({ extendedCard: { description: 'Knows you' } })
    t.after(() => server.close())
    const only = ['honesty.extended-card-declared', 'card.security-schemes']
    const known = await runConformance(server.url, { profile: liveProfile, only, bearer: callerToken })
    assert.deepEqual(new Set(known.results.map(({ outcome }) => outcome)), new Set(['pass']))
    const withoutToken = await runConformance(server.url, {
      profile: liveProfile,
      only: ['honesty.extended-card-declared'],
    })
    assert.deepEqual(new Set(withoutToken.results.map(({ outcome }) => outcome)), new Set(['undecided']))
  })
})

describe('the checks', () => {
  it('have ids of their own, and a section for each version', () => {
    assert.equal(new Set(allChecks.map(({ id }) => id)).size, allChecks.length)
    const without = allChecks.flatMap(({ id, versions, level, section }) =>
      versions
        .filter((version) =>
          [level, section].some((value) => typeof value === 'object' && value[version] === undefined),
        )
        .map((version) => `${id} ${version}`),
    )
    assert.deepEqual(without, [])
  })

  it('decide rules of the rule book, and name a must or a should only where the book does', () => {
    const wrong = allChecks.flatMap(({ id, rules: named, level, versions }) => {
      const found = rules.filter((rule) => named.includes(rule.id))
      if (named.length === 0 || found.length < named.length) return [`${id} names a rule that the book does not have`]
      const isOfficial = found.some((rule) => rule.level === 'must' || rule.level === 'should' || rule.level === 'may')
      const claims = versions.some((version) => (typeof level === 'object' ? level[version] : level) !== 'info')
      return claims && !isOfficial ? [`${id} claims a level that no rule of ${named.join(', ')} has`] : []
    })
    assert.deepEqual(wrong, [])
  })
})
