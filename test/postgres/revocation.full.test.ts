/** A key that is revoked at one replica ends the streams of another, at the cost of one query a second. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { PostgresQuery } from '../../packages/a2a/src/stores/postgres/driver.ts'
import type { AgentSettings } from '@parley/a2a/server'
import { waitFor } from '../admin/test-hub.ts'
import {
  type AccessServer,
  openAccessServer,
  type AuthHeaders,
  messageParams,
  bindingVersions,
  type BindingVersion,
} from '../hub/access-server.ts'
import { openDatabase, skipReason } from './databases.ts'
import { createFaultyPool } from './faulty-pool.ts'

const never = Promise.withResolvers<never>()
never.promise.catch(() => {})
after(() => never.reject(new Error('over')))

/** Works until it is stopped. */
const waiting: AgentSettings = {
  async *agent() {
    yield { state: 'TASK_STATE_WORKING' }
    await never.promise
  },
}

/** Queries for revoked credentials: their times, in milliseconds of the monotonic clock. */
class Looks {
  readonly sentAt: number[] = []
  #arrived = Promise.withResolvers<void>()

  readonly before = ({ text, values }: PostgresQuery): void => {
    // Names are bytes in the database.
    if (!text.startsWith('SELECT') || values?.some((value) => String(value) === 'revoked-grant') !== true) return
    this.sentAt.push(performance.now())
    this.#arrived.resolve()
    this.#arrived = Promise.withResolvers()
  }

  async reach(count: number): Promise<void> {
    while (this.sentAt.length < count) await this.#arrived.promise
  }
}

const skip = await skipReason()
describe('a revocation on PostgreSQL', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const open = async (): Promise<{ readonly office: AccessServer; readonly looks: Looks }> => {
    const looks = new Looks()
    const store = database.open({ pool: createFaultyPool(database.pool, looks) })
    return { office: await openAccessServer({ agents: { team: waiting }, access: {}, store }), looks }
  }
  const [here, there] = [await open(), await open()]

  /** Resolves with everything received when the stream has ended. */
  async function stream(way: BindingVersion, headers: AuthHeaders): Promise<string> {
    try {
      const answer = await there.office
        .peer('team', way)
        .stream('SendStreamingMessage', messageParams('wait'), { headers })
      return JSON.stringify(answer.frames.map(({ body }) => body))
    } catch (reason) {
      return (reason as Error).message
    }
  }
  const haveOpened = (count: number): Promise<true> =>
    waitFor(
      async () => (there.office.server.handler.openStreams() === count ? true : undefined),
      `${count} streams are open`,
    )
  const revoke = async ({ authorization = '' }: AuthHeaders): Promise<void> => {
    const { status } = await here.office.admin('DELETE', `/admin/keys/${authorization.split('_')[1]}`)
    assert.equal(status, 200)
  }

  it('at one replica ends the streams of another, over every binding, and no others', async () => {
    const [mine, theirs] = [await here.office.key({ agents: ['team'] }), await here.office.key({ agents: ['team'] })]
    const ended = bindingVersions.map((way) => stream(way, mine))
    let isOver = false
    const other = stream({ binding: 'JSONRPC', version: '1.0' }, theirs).finally(() => (isOver = true))
    await haveOpened(bindingVersions.length + 1)
    await revoke(mine)
    for (const said of await Promise.all(ended))
      assert.match(said, /The credentials that opened this stream were revoked or have expired/)
    assert.equal(isOver, false)
    await revoke(theirs)
    assert.match(await other, /were revoked or have expired/)
    await haveOpened(0)
  })

  it('is polled by one query a second for all streams, and by none without open streams', async () => {
    const seconds = 4
    const proofs = await Promise.all(Array.from({ length: 20 }, () => here.office.key({ agents: ['team'] })))
    const ended = proofs.map((proof) => stream({ binding: 'HTTP+JSON', version: '1.0' }, proof))
    await haveOpened(proofs.length)
    const before = there.looks.sentAt.length
    await there.looks.reach(before + seconds + 1)
    const [first = 0, last = 0] = [there.looks.sentAt[before], there.looks.sentAt[before + seconds]]
    // A busy machine polls later, never more often. Half a second allows for a late first query.
    assert.ok(last - first > seconds * 1_000 - 500, `${seconds} looks within ${last - first} ms`)
    assert.deepEqual(here.looks.sentAt, [], 'the replica without streams does not look')
    await Promise.all(proofs.map(revoke))
    for (const said of await Promise.all(ended)) assert.match(said, /were revoked or have expired/)
    await haveOpened(0)
  })
})
