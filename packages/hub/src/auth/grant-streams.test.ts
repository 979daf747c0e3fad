import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { A2AError } from '@parley/a2a'
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import { type Grant, type GrantRights, createGrantStreams } from './grant-streams.ts'
import { permissionsOf } from './scopes.ts'

function open({ clock = { at: 1_000 }, kv = memoryKeyValueStore(() => clock.at) } = {}) {
  const forgotten: string[] = []
  let queries = 0
  const counted: KeyValueStore = {
    ...kv,
    list(kind, query) {
      queries += 1
      return kv.list(kind, query)
    },
  }
  const streams = createGrantStreams({
    kv: counted,
    now: () => clock.at,
    canUse: (scopes, agent) => permissionsOf(scopes).canUse(agent),
    onRevoked: (id) => void forgotten.push(id),
    onError: (cause) => assert.fail(String(cause)),
  })
  /** A stream that stays open until it is ended. */
  function stream(grant: Grant, agent?: string) {
    const reasons: A2AError[] = []
    const release = streams.add(grant, {
      agent,
      end(reason) {
        reasons.push(reason)
        release()
      },
    })
    return { reasons, release, isOpen: () => reasons.length === 0 }
  }
  return { streams, stream, kv, clock, forgotten, queries: () => queries }
}

describe('the streams of a grant', () => {
  it('end when it is revoked, and those of others do not', async (t) => {
    const { streams, stream, forgotten } = open()
    t.after(streams.close)
    const [one, two, other] = [stream({ id: 'key:a' }), stream({ id: 'key:a' }), stream({ id: 'key:b' })]
    await streams.revoke('key:a')
    assert.deepEqual([one.isOpen(), two.isOpen(), other.isOpen()], [false, false, true])
    assert.equal(one.reasons[0]?.code, 'UNAUTHENTICATED')
    assert.equal(one.reasons.length, 1)
    assert.deepEqual(forgotten, ['key:a'])
  })

  it('end at another replica when that looks next, by one query however many there are', async (t) => {
    const here = open()
    const there = open({ kv: here.kv, clock: here.clock })
    t.after(here.streams.close)
    t.after(there.streams.close)
    const opened = Array.from({ length: 50 }, (_, at) => there.stream({ id: `key:${at}` }))
    await here.streams.revoke('key:7')
    assert.ok(opened.every(({ isOpen }) => isOpen()))
    await there.streams.check()
    assert.deepEqual(
      opened.flatMap(({ isOpen }, at) => (isOpen() ? [] : [at])),
      [7],
    )
    assert.equal(there.queries(), 1)
    assert.deepEqual(there.forgotten, ['key:7'])
    // A stream opened through a stale cache ends at the next check.
    const late = there.stream({ id: 'key:7' })
    await there.streams.check()
    assert.equal(late.isOpen(), false)
  })

  it('cost one query a second, however many there are, and none while there is none', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { streams, stream, queries } = open()
    t.after(streams.close)
    /** Advances a second and waits for what that starts. */
    const second = async (): Promise<void> => {
      t.mock.timers.tick(1_000)
      await new Promise(setImmediate)
    }
    await second()
    assert.equal(queries(), 0)
    const opened = Array.from({ length: 100 }, (_, at) => stream({ id: `key:${at % 10}` }))
    for (const passed of [1, 2, 3]) {
      await second()
      assert.equal(queries(), passed)
    }
    for (const { release } of opened) release()
    for (let passed = 0; passed < 3; passed += 1) await second()
    assert.equal(queries(), 3)
    stream({ id: 'key:a' })
    await second()
    assert.equal(queries(), 4)
  })

  it('end with its time', async (t) => {
    const { streams, stream, clock } = open()
    t.after(streams.close)
    const timed = stream({ id: 'key:a', expiresAt: 2_000 })
    const lasting = stream({ id: 'key:b' })
    clock.at = 1_999
    await streams.check()
    assert.equal(timed.isOpen(), true)
    clock.at = 2_000
    await streams.check()
    assert.deepEqual([timed.isOpen(), lasting.isOpen()], [false, true])
  })

  it('go on where it is renewed', async (t) => {
    const { streams, stream, clock } = open()
    t.after(streams.close)
    let rights: GrantRights | undefined = { scopes: ['agent:*'], expiresAt: 3_000 }
    const renewed = stream({ id: 'session:a', expiresAt: 2_000, recheck: async () => rights }, 'echo')
    clock.at = 2_000
    await streams.check()
    assert.equal(renewed.isOpen(), true)
    clock.at = 3_000
    rights = undefined
    await streams.check()
    assert.equal(renewed.isOpen(), false)
  })

  it('end where the configuration takes their agent from it', async (t) => {
    const { streams, stream } = open()
    t.after(streams.close)
    let scopes = ['agent:*']
    const grant: Grant = { id: 'token:a', recheck: async () => ({ scopes }) }
    const [echo, clock, own] = [stream(grant, 'echo'), stream(grant, 'clock'), stream(grant)]
    await streams.recheck()
    scopes = ['agent:clock']
    await streams.recheck()
    assert.deepEqual([echo.isOpen(), clock.isOpen(), own.isOpen()], [false, true, true])
  })
})
