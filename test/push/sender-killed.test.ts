/**
 * Webhooks under faults: the receiver misbehaves, the sender is killed with SIGKILL at random moments and restarted.
 * Every event arrives at least once and in order for each task and config, and a deleted webhook receives nothing more.
 * `PARLEY_FULL=1` kills 100 times, the quick mode 8.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../packages/a2a/src/model/id.ts'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openWire, retryUntilAnswered } from '../crash/client.ts'
import { createRandom } from '../crash/random.ts'
import { startKillableServer } from '../crash/killable-server.ts'
import type { KillableServer } from '../crash/killable-server.ts'
import { receivedSeqs, outOfOrder, visibleSeqs } from './delivery-order.ts'
import { openFaultyReceiver } from './faulty-receiver.ts'
import type { Arrival } from './faulty-receiver.ts'

const kills = process.env['PARLEY_FULL'] === '1' ? 100 : 8
const seed = Number(process.env['PARLEY_SEED'] ?? Date.now() % 1_000_000)
const clients = 4
const numbers = '40'
const modern = { version: '1.0', binding: 'JSONRPC' } as const
/** The receiver may still read a request that was in flight when its webhook was deleted. */
const lastWordsMs = 100

interface StartedTask {
  readonly taskId: string
  /** Of the arrivals: path and config. */
  readonly key: string
  /** The time of the response to the deletion, if it was deleted. */
  readonly deletedAt?: number
}

describe(`webhooks of a server that is killed ${kills} times (seed ${seed})`, () => {
  const random = createRandom(seed)
  const started: StartedTask[] = []
  let victim: KillableServer
  let receiver: Awaited<ReturnType<typeof openFaultyReceiver>>

  before(async () => {
    receiver = await openFaultyReceiver(random)
    victim = await startKillableServer([], new URL('sender.ts', import.meta.url))
    await victim.start()
    let over = false
    const load = Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        // At least four, so that each has deleted one, however slow the machine is.
        for (let n = 0; !over || n < 4; n += 1) started.push(await startTask(`${index}-${n}`, n % 4 === 3))
      }),
    )
    for (let died = 0; died < kills; died += 1) {
      await sleep(100 + random() * 400)
      await victim.kill()
      await victim.start()
    }
    over = true
    await load
    receiver.behave()
    await settled()
  })
  after(async () => {
    await victim.dispose()
    await receiver.close()
  })

  it('were hit by every fault of the receiver', () => {
    const manners = [
      'well',
      'lies',
      'fails',
      'busy',
      'hangs',
      'redirects',
      'hangs up',
      'hangs up early',
      'garbage',
    ] as const
    for (const manner of manners) assert.ok((receiver.seen.get(manner) ?? 0) > 0, `never: ${manner}`)
    const lasting = started.filter(({ deletedAt }) => deletedAt === undefined)
    assert.ok(lasting.length >= clients && lasting.length < started.length, `${started.length} tasks`)
    console.log(`${kills} kills, ${started.length} tasks, ${receiver.arrivals.length} notifications`)
  })

  it('received every event of their task [B-119 B-127]', async () => {
    for (const { taskId, key, deletedAt } of started) {
      if (deletedAt !== undefined) continue
      assert.deepEqual(firsts(key), await seqsOf(taskId), `${taskId} at ${key}`)
    }
  })

  it('received each event only after all earlier ones [B-127]', async () => {
    for (const { taskId, key } of started)
      assert.deepEqual(outOfOrder(arrivalsAt(key), await seqsOf(taskId)), [], taskId)
  })

  it('received nothing more once they were deleted [B-118]', () => {
    for (const { key, deletedAt } of started) {
      if (deletedAt === undefined) continue
      const late = arrivalsAt(key).filter(({ at }) => at > deletedAt + lastWordsMs)
      assert.deepEqual(late, [])
    }
  })

  it('were never followed by redirects [B-129]', () => {
    assert.equal(receiver.trapped(), 0)
  })

  const arrivalsAt = (key: string): readonly Arrival[] => receiver.arrivals.filter((arrival) => arrival.key === key)

  const firsts = (key: string): readonly number[] => receivedSeqs(arrivalsAt(key))

  /** Starts one and waits for it; every fourth webhook is deleted in the middle. */
  async function startTask(name: string, isDeleted: boolean): Promise<StartedTask> {
    const wire = openWire(victim.url(), 'counter', modern)
    const messageId = newId()
    const { task } = await retryUntilAnswered(async () => {
      const result = await wire.call('SendMessage', {
        message: { messageId, role: 'ROLE_USER', parts: [{ text: numbers }] },
        configuration: { returnImmediately: true, taskPushNotificationConfig: { id: 'hook', url: receiver.url(name) } },
      })
      if (!('task' in result)) throw new Error('expected a task')
      return result
    })
    const about = { taskId: task.id, key: `/${name} hook` }
    if (isDeleted) {
      await sleep(40)
      await retryUntilAnswered(() => wire.call('DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'hook' }))
      return { ...about, deletedAt: Date.now() }
    }
    await retryUntilAnswered(async () => {
      const { status } = await wire.call('GetTask', { id: task.id })
      if (status.state !== 'TASK_STATE_COMPLETED') throw new Error('not yet')
    })
    return about
  }

  const seqsOf = (taskId: string): Promise<readonly number[]> => visibleSeqs(victim.url(), taskId)

  async function settled(): Promise<void> {
    const until = Date.now() + guardMs
    for (const { taskId, key, deletedAt } of started) {
      if (deletedAt !== undefined) continue
      const last = (await retryUntilAnswered(() => seqsOf(taskId))).at(-1) as number
      while (!firsts(key).includes(last)) {
        assert.ok(Date.now() < until, `${taskId} was not notified of its end`)
        await sleep(20)
      }
    }
  }
})
