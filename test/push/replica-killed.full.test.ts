/**
 * Three servers on one PostgreSQL, of which the one that delivers is killed (SIGKILL) repeatedly while the receiver
 * misbehaves: the replica that takes over a webhook continues where it was, so every event arrives at least once, and in order for each task
 * and config. `PARLEY_FULL=1` kills 30 times, the quick mode 4.
 */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../packages/a2a/src/model/id.ts'
import { eventually, guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openWire, retryUntilAnswered } from '../crash/client.ts'
import { createRandom } from '../crash/random.ts'
import { freePort } from '../free-port.ts'
import { urlOf } from '../postgres/cluster.ts'
import { masterKey, openDatabase, skipReason } from '../postgres/databases.ts'
import { receivedSeqs, outOfOrder, visibleSeqs } from './delivery-order.ts'
import { openFaultyReceiver } from './faulty-receiver.ts'
import type { Arrival } from './faulty-receiver.ts'
import type { ReplicaSettings } from './replica.ts'

const kills = process.env['PARLEY_FULL'] === '1' ? 30 : 4
const seed = Number(process.env['PARLEY_SEED'] ?? Date.now() % 1_000_000)
const clients = 4
/** How many tasks may have pending notifications at a time: a dead replica delays its claimed webhooks for twenty seconds. */
const maxUntold = 60
/** The claim of a dead replica lasts for twenty seconds and the time of a delivery; then a sweep finds it. */
const settleMs = guardMs

interface StartedTask {
  readonly taskId: string
  readonly name: string
  /** Those that were registered before the task had ended. The second one begins at the end of the log at that time. */
  readonly configs: readonly ('inline' | 'second')[]
}

interface Replica {
  readonly name: string
  readonly url: string
  start(): Promise<void>
  kill(): Promise<void>
}

async function createReplica(name: string, database: string): Promise<Replica> {
  const port = await freePort()
  const settings: ReplicaSettings = { name, port, database, masterKey: masterKey.toString('base64') }
  let child: ChildProcess | undefined
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    async start() {
      child = fork(join(import.meta.dirname, 'replica.ts'), [JSON.stringify(settings)], {
        execArgv: ['--conditions=parley-source'],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      await once(child, 'message')
    },
    async kill() {
      if (child === undefined) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      child = undefined
    },
  }
}

const skip = await skipReason()
describe(`webhooks whose deliverer is killed ${kills} times (seed ${seed})`, { skip, timeout: 600_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const random = createRandom(seed)
  const started: StartedTask[] = []
  const killed: string[] = []
  let replicas: readonly Replica[] = []
  let receiver: Awaited<ReturnType<typeof openFaultyReceiver>>

  before(async () => {
    receiver = await openFaultyReceiver(random)
    const url = urlOf(database.cluster, database.name)
    replicas = await Promise.all(['one', 'two', 'three'].map((name) => createReplica(name, url)))
    await Promise.all(replicas.map((replica) => replica.start()))
    let over = false
    const load = Promise.all(
      Array.from({ length: clients }, async (_, client) => {
        for (let n = 0; !over; n += 1) {
          started.push(await startTask(`${client}-${n}`))
          while (pending() > maxUntold && !over) await sleep(50)
        }
      }),
    )
    while (killed.length < kills) {
      const victim = await deliverer()
      await victim.kill()
      killed.push(victim.name)
      await sleep(200 + random() * 600)
      await victim.start()
    }
    over = true
    await load
    receiver.behave()
    await settled()
  })
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()))
    await receiver?.close()
  })

  it('were notified by the killed replica each time, and by the others after it', () => {
    const by = replicas.map(({ name }) => receiver.arrivals.filter((arrival) => arrival.by === name).length)
    console.log(
      `killed ${killed.join(', ')}; ${started.length} tasks, ${receiver.arrivals.length} notifications by ${by.join(', ')}`,
    )
    assert.ok(by.every((count) => count > 0))
    const keys = started.flatMap(({ name, configs }) => configs.map((config) => `/${name} ${config}`))
    const shared = keys.filter((key) => new Set(arrivalsAt(key).map((arrival) => arrival.by)).size > 1)
    assert.ok(shared.length > 0, 'no webhook was taken over')
    assert.ok(keys.length > started.length, 'no webhook was registered with another server')
  })

  it('received every event, and each only after all earlier ones [B-119 B-127]', async () => {
    for (const { taskId, name, configs } of started) {
      const all = await seqsOf(taskId)
      for (const config of configs) {
        const arrivals = arrivalsAt(`/${name} ${config}`)
        const expected = config === 'inline' ? all : all.filter((seq) => seq >= (arrivals[0]?.seq ?? 0))
        assert.deepEqual(outOfOrder(arrivals, expected), [], `${taskId} ${config}`)
        assert.deepEqual(receivedSeqs(arrivals), expected, `${taskId} ${config}`)
      }
    }
  })

  /** The end of a task is the last notification of its webhook. */
  const pending = (): number => started.length - receiver.ended.size
  const arrivalsAt = (key: string): readonly Arrival[] => receiver.arrivals.filter((arrival) => arrival.key === key)
  const anyReplica = (): Replica => replicas[Math.floor(random() * replicas.length)] as Replica
  const seqsOf = (taskId: string): Promise<readonly number[]> =>
    retryUntilAnswered(() => visibleSeqs(anyReplica().url, taskId))

  /** The replica that is delivering right now. */
  async function deliverer(): Promise<Replica> {
    const before = receiver.arrivals.length
    await eventually(() => receiver.arrivals.length >= before + 20)
    const by = receiver.arrivals.at(-1)?.by
    return replicas.find(({ name }) => name === by) as Replica
  }

  /** Runs on one server, has a webhook registered with another, and is awaited. */
  async function startTask(name: string): Promise<StartedTask> {
    const messageId = newId()
    const url = receiver.url(name)
    const { task } = await retryUntilAnswered(async () => {
      const result = await wireOf(anyReplica()).call('SendMessage', {
        message: { messageId, role: 'ROLE_USER', parts: [{ text: '30' }] },
        configuration: { returnImmediately: true, taskPushNotificationConfig: { id: 'inline', url } },
      })
      if (!('task' in result)) throw new Error('expected a task')
      return result
    })
    const second = { taskId: task.id, id: 'second', url }
    await retryUntilAnswered(() => wireOf(anyReplica()).call('CreateTaskPushNotificationConfig', second))
    const registeredAt = Date.now()
    const endedAt = await retryUntilAnswered(async () => {
      const { status } = await wireOf(anyReplica()).call('GetTask', { id: task.id })
      if (status.state !== 'TASK_STATE_COMPLETED') throw new Error('not yet')
      return Date.parse(status.timestamp ?? '')
    })
    return { taskId: task.id, name, configs: registeredAt < endedAt ? ['inline', 'second'] : ['inline'] }
  }

  function wireOf({ url }: Replica) {
    return openWire(url, 'counter', { version: '1.0', binding: 'JSONRPC' })
  }

  async function settled(): Promise<void> {
    const until = Date.now() + settleMs
    for (const { taskId, name, configs } of started) {
      const last = (await seqsOf(taskId)).at(-1) as number
      for (const config of configs) {
        while (!receivedSeqs(arrivalsAt(`/${name} ${config}`)).includes(last)) {
          assert.ok(Date.now() < until, `${taskId} ${config} was not notified of its end`)
          await sleep(20)
        }
      }
    }
  }
})
