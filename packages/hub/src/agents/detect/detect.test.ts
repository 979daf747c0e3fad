import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DetectDeps, type DetectedAgent, type DetectorResult, type Detector, combineDetectors } from './detect.ts'
import { requiresAuthentication, type Diagnosis } from './diagnosis.ts'

const yes = (kind: string): DetectedAgent => ({ kind, name: kind, entry: {} })
const never = (signal: AbortSignal): Promise<DetectorResult> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
const detector = (kind: string, detect: Detector['detect'], applies = true): Detector => ({
  kind,
  applies: () => applies,
  detect,
})

function setting() {
  const said: string[] = []
  const leaving = new AbortController()
  const parts: DetectDeps = {
    fetch,
    signal: leaving.signal,
    onProgress() {},
    onRejected: (kind, reason) => void said.push(`${kind}: ${reason}`),
    cwd: '.',
    env: {},
  }
  return { said, leaving, parts }
}

describe('finding out what something is', () => {
  it('asks all at once, and takes the first in order that knows, however long it takes', async () => {
    const { parts, said } = setting()
    const slow = Promise.withResolvers<DetectorResult>()
    const detect = combineDetectors([
      detector('a', async () => ({ reasons: ['it is too small'] })),
      detector('skipped', async () => assert.fail('it does not apply'), false),
      detector('b', () => slow.promise),
      detector('c', async () => {
        slow.resolve(yes('b'))
        return yes('c')
      }),
    ])
    assert.deepEqual(await detect(['x'], parts), yes('b'))
    assert.deepEqual(said, ['a: it is too small'])
  })

  it('stops detectors whose result is not needed, and waits for their end', async () => {
    const { parts } = setting()
    let isStopped = false
    const detect = combineDetectors([
      detector('a', async () => yes('a')),
      detector('b', (_, { signal }) => never(signal).finally(() => (isStopped = true))),
    ])
    assert.deepEqual(await detect(['x'], parts), yes('a'))
    assert.ok(isStopped)
  })

  it('says why it is none of them', async () => {
    const { parts } = setting()
    const detect = combineDetectors([
      detector('a', async () => ({ reasons: ['one', 'two'] })),
      detector('b', () => Promise.reject(new Error('it broke'))),
      detector('c', async () => ({ reasons: ['two'] })),
    ])
    const found = await detect(['x'], parts)
    assert.ok('reasons' in found)
    assert.deepEqual(found.reasons, ['a: one', 'a, c: two', 'b: it broke'])
    assert.equal(found.diagnosis.title, 'Couldn’t identify this agent')
  })

  it('has one diagnosis, the most specific one', async () => {
    const { parts } = setting()
    const page: Diagnosis = { code: 'web-page', title: 'A web page', advice: 'Use another URL' }
    const none = detector('a', async () => ({ reasons: ['none'] }))
    const refused = detector('b', async () => ({ reasons: ['401'], diagnosis: requiresAuthentication(401) }))
    const diagnosisOf = async (...detectors: Detector[]) => {
      const found = await combineDetectors(detectors, async () => page)(['x'], parts)
      return 'diagnosis' in found ? found.diagnosis : undefined
    }
    assert.deepEqual([await diagnosisOf(none), await diagnosisOf(none, refused)], [page, requiresAuthentication(401)])
    const token = { value: 'sesame', reference: '${env:TOKEN}' }
    const withToken = await combineDetectors([refused], async () => page)(['x'], { ...parts, token })
    assert.ok('diagnosis' in withToken)
    const { code, title, cause, advice } = withToken.diagnosis
    assert.deepEqual([code, title, cause], ['unauthenticated', 'The token was refused', 'HTTP 401'])
    assert.match(advice, /^Check the token/)
  })

  it('does not wait once a result is certain', async () => {
    const { parts } = setting()
    const waiting = detector('a', (_, { signal }) => never(signal))
    const certain = detector('b', async () => ({ ...yes('b'), isCertain: true }))
    assert.deepEqual(await combineDetectors([waiting, certain])(['x'], parts), yes('b'))
    const failing = detector('b', async () => ({ reasons: ['it is broken'], isCertain: true }))
    const found = await combineDetectors([waiting, failing])(['x'], parts)
    assert.deepEqual('reasons' in found && found.reasons, ['b: it is broken'])
  })

  it('ends when the caller aborts', async () => {
    const { parts, leaving } = setting()
    const asking = combineDetectors([detector('a', (_, { signal }) => never(signal))])(['x'], parts)
    leaving.abort(new Error('gone'))
    await assert.rejects(asking, /gone/)
  })
})
