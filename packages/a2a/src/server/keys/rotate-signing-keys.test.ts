import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openKeyring } from '../../engine/keys/keyring.ts'
import { messageHashPurpose } from '../../engine/message/message-claims.ts'
import { pushSecretsPurpose, sealTarget } from '../../engine/push/push-target.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { createTask } from '../../testing/store-contract/harness.ts'
import { rotateSigningKeys } from './rotate-signing-keys.ts'

const day = 86_400_000

async function open() {
  let at = 1_800_000_000_000
  const store = memoryStore({ now: () => at })
  const keyring = await openKeyring(store.keys, undefined, () => at)
  let rotations = 0
  const rotate = (lifetimesMs?: Record<string, number>) =>
    rotateSigningKeys(
      { keyring, keyPairs: { card: async () => void (rotations += 1) }, push: store.push, now: () => at },
      lifetimesMs === undefined ? {} : { lifetimesMs },
    )
  const numbers = async (purpose: string) =>
    ((await keyring.secretKeys()).get(purpose) ?? []).map(({ number }) => number)
  return { store, keyring, rotate, numbers, pass: (ms: number) => void (at += ms), rotations: () => rotations }
}

describe('a rotation of the signing keys', () => {
  it('rotates the pairs and all secret keys, and what they signed and sealed stays valid', async () => {
    const { keyring, rotate, rotations } = await open()
    const signature = await keyring.sign('page', 'text')
    const sealed = await keyring.seal('own', 'secret', 'about')
    assert.deepEqual(await rotate(), { rotated: ['card', 'own', 'page'], removed: 0 })
    assert.equal(rotations(), 1)
    assert.equal(await keyring.verify('page', 'text', signature), true)
    assert.equal(await keyring.unseal('own', sealed, 'about'), 'secret')
    assert.match(await keyring.sign('page', 'text'), /^2\./)
    assert.match(await keyring.seal('own', 'secret', 'about'), /^2\./)
  })

  it('keeps the key of message hashes, so that repeats are recognized', async () => {
    const { keyring, rotate } = await open()
    const before = await keyring.sign(messageHashPurpose, 'text')
    await rotate()
    assert.equal(await keyring.sign(messageHashPurpose, 'text'), before)
  })

  it('removes old keys when their signatures are over: those of page tokens after a week, others as declared', async () => {
    const { keyring, rotate, numbers, pass } = await open()
    for (const purpose of ['page', 'session', 'unknown']) await keyring.sign(purpose, 'text')
    pass(1)
    await rotate({ session: day })
    pass(day + 600_001)
    assert.equal((await rotate({ session: day })).removed, 1)
    assert.deepEqual(
      [await numbers('page'), await numbers('session')],
      [
        [1, 2, 3],
        [2, 3],
      ],
    )
    pass(7 * day)
    await rotate({ session: day })
    assert.deepEqual(
      [await numbers('page'), await numbers('session')],
      [
        [2, 3, 4],
        [3, 4],
      ],
    )
    assert.deepEqual(await numbers('unknown'), [1, 2, 3, 4])
  })

  it('keeps the keys that sealed the secrets of push notification configs', async () => {
    const { store, keyring, rotate, numbers, pass } = await open()
    const { id: taskId } = await createTask(store)
    const target = async (id: string): Promise<void> => {
      const requested = { taskId, id, url: 'https://client.example.com', token: 'secret' }
      const config = await sealTarget(keyring, requested, requested, { version: '1.0', triggers: 'all' } as never)
      await store.push.save({ taskId, id, config, createdAt: 1 } as never)
    }
    await target('one')
    pass(1)
    await rotate()
    await target('two')
    pass(day)
    await rotate()
    pass(day)
    await rotate()
    assert.deepEqual(await numbers(pushSecretsPurpose), [1, 2, 3, 4])
    await store.push.delete(taskId, 'one')
    assert.equal((await rotate()).removed, 1)
    await store.push.delete(taskId, 'two')
    await rotate()
    assert.equal((await numbers(pushSecretsPurpose))[0], 3)
  })
})
