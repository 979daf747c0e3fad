import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DetectDeps, type Detection, type Detector, combineDetectors } from './detect.ts'

const yes = (kind: string): Detection => ({ kind, name: kind, entry: {} })
const never = (signal: AbortSignal): Promise<Detection> =>
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
    onProgress: (line) => void said.push(line),
    cwd: '.',
    env: {},
  }
  return { said, leaving, parts }
}

describe('finding out what something is', () => {
  it('asks all at once, and takes the first in order that knows, however long it takes', async () => {
    const { parts, said } = setting()
    const slow = Promise.withResolvers<Detection>()
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
    assert.deepEqual(said, ['it is not a: it is too small'])
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
    ])
    assert.deepEqual(await detect(['x'], parts), { reasons: ['a: one', 'a: two', 'b: it broke'] })
  })

  it('ends when the caller aborts', async () => {
    const { parts, leaving } = setting()
    const asking = combineDetectors([detector('a', (_, { signal }) => never(signal))])(['x'], parts)
    leaving.abort(new Error('gone'))
    await assert.rejects(asking, /gone/)
  })
})
