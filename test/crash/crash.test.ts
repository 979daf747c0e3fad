/**
 * A server under load is killed with SIGKILL at random moments and restarted. Afterwards everything that any client
 * ever received is in the log, exactly once and at its position; every stream was resumed to its end; no task is
 * stuck. `PARLEY_FULL=1` kills 200 times, the quick mode a dozen; the log store of docs/guides/write-a-store.md less often.
 */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTerminal } from '../../packages/a2a/src/model/state.ts'
import type { StreamEvent, Task } from '../../packages/a2a/src/model/task.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openWire, retryUntilAnswered, sendToEnd, streamToEnd } from './client.ts'
import type { WireOptions, StreamHistory } from './client.ts'
import { createRandom } from './random.ts'
import { startKillableServer } from './killable-server.ts'
import type { KillableServer } from './killable-server.ts'
import { startJobServer } from './job-server.ts'

const isFull = process.env['PARLEY_FULL'] === '1'
const clientsOfEachKind = 4
/** A word each 4 ms: longer than the server usually lives, so that nearly every kill hits running turns. */
const fragileWords = '60'
const seed = Number(process.env['PARLEY_SEED'] ?? Date.now() % 1_000_000)

/** Of a restart: how many tasks that cannot be resumed it failed, and how long after listening none of them was WORKING. */
interface TakenUp {
  readonly failed: number
}

const ways: readonly WireOptions[] = (['0.2', '0.3', '1.0'] as const).flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON'] as const).map((binding) => ({ version, binding })),
)

surviving('sqlite', isFull ? 200 : 12)
surviving('log', isFull ? 50 : 6)

function surviving(kind: 'sqlite' | 'log', kills: number): void {
  describe(`a server over a ${kind} store, killed ${kills} times under load (seed ${seed})`, () => {
    const random = createRandom(seed)
    const streams: StreamHistory[] = []
    const answered: Task[] = []
    let victim: KillableServer
    let worker: Awaited<ReturnType<typeof startJobServer>>
    const takenUp: TakenUp[] = []
    let died = 0

    const way = (): WireOptions => ways[Math.floor(random() * ways.length)] as WireOptions

    before(async () => {
      worker = await startJobServer(120)
      victim = await startKillableServer([worker.url, kind])
      await victim.start()
      let over = false
      const load = Promise.all(
        Array.from({ length: clientsOfEachKind }, () => [
          repeat(async () => streams.push(await streamToEnd(victim.url(), 'counter', '60', way()))),
          repeat(async () => streams.push(await streamToEnd(victim.url(), 'fragile', fragileWords, way()))),
          repeat(async () => answered.push(await sendToEnd(victim.url(), 'asker', 'hello', way()))),
          repeat(async () => answered.push(await sendToEnd(victim.url(), 'remote', 'work', way()))),
        ]).flat(),
      )
      while (died < kills) {
        await sleep(20 + random() * 250)
        await victim.kill()
        const killedAt = Date.now()
        died += 1
        await victim.start()
        takenUp.push(await untilTakenUp(killedAt))
      }
      over = true
      await load

      async function repeat(client: () => Promise<unknown>): Promise<void> {
        while (!over) await client()
      }
    })
    after(async () => {
      await victim.dispose()
      worker.close()
    })

    it('was hit: streams were cut and resumed', () => {
      assert.ok(
        streams.some(({ resumptions }) => resumptions > 0),
        'no stream was ever cut',
      )
      assert.ok(streams.length >= kills / 4, `only ${streams.length} streams`)
      assert.ok(
        takenUp.some(({ failed }) => failed > 0),
        'no restart ever found a task that cannot be resumed',
      )
    })

    it('has every event that a client received, once and at its position [B-94 B-109]', async () => {
      for (const one of streams) {
        const log = await eventsOf(one.agent, one.taskId)
        const ids = one.events.map(({ id }) => id)
        assert.deepEqual(
          ids,
          [...new Set(ids)].sort((a, b) => a - b),
          `${one.taskId}: out of order or twice`,
        )
        // The first event is the task; from there on the client received each event of the log.
        const from = ids[0] as number
        const [, ...updates] = one.events
        assert.deepEqual(
          updates.map(({ id }) => id),
          [...log.keys()].filter((id) => id > from),
          `${one.agent} ${one.taskId}: what the client received is not what the log has`,
        )
        for (const { id, event } of updates) assert.deepEqual(event, log.get(id), `${one.taskId} at ${id}`)
      }
    })

    it('resumed counting where the log ended, so the log has each number once', async () => {
      const expected = Array.from({ length: 60 }, (_, n) => `${n} `).join('')
      for (const { agent, taskId, state } of streams.filter(({ agent: name }) => name === 'counter')) {
        assert.equal(state, 'TASK_STATE_COMPLETED')
        const task = await get(agent, taskId)
        assert.equal(task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join(''), expected)
      }
    })

    it('resumed interrupted tasks at each start [B-52]', () => {
      assert.equal(takenUp.length, kills)
    })

    it('failed tasks that cannot be resumed, with a reason [B-52]', () => {
      const failed = streams.filter(({ agent, state }) => agent === 'fragile' && state === 'TASK_STATE_FAILED')
      assert.ok(failed.length > 0, 'no kill hit a task that cannot be resumed')
      for (const { events } of failed) {
        const last = events.at(-1)?.event as StreamEvent
        const status = 'task' in last ? last.task.status : 'statusUpdate' in last ? last.statusUpdate.status : undefined
        assert.deepEqual(status?.message?.parts, [{ text: 'The task was interrupted by a restart' }])
      }
    })

    it('re-attached to work that was still running, and started none of it twice', () => {
      const remote = answered.filter(({ artifacts }) =>
        artifacts?.[0]?.parts.some((part) => 'text' in part && part.text.startsWith('did ')),
      )
      assert.ok(remote.length > 0)
      for (const task of remote) assert.ok(worker.jobs.has(task.id))
      for (const { starts } of worker.jobs.values()) assert.equal(starts, 1)
    })

    it('keeps what it answered', async () => {
      for (const task of answered) {
        assert.ok(isTerminal(task.status.state), task.status.state)
        const agent = task.artifacts?.[0]?.parts.some((part) => 'text' in part && part.text.startsWith('did '))
          ? 'remote'
          : 'asker'
        assert.equal((await get(agent, task.id)).status.state, task.status.state)
      }
    })

    it('left no task stuck [B-52]', async () => {
      for (const agent of ['counter', 'fragile', 'asker', 'remote']) {
        for (const status of ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const) {
          // Tasks whose clients were gone when the load ended may still be running: they must end by themselves.
          await eventually(
            async () => (await openWire(victim.url(), agent, modern).call('ListTasks', { status })).totalSize === 0,
            `no task of ${agent} to be ${status}`,
          )
        }
      }
    })

    it('left an intact database', async () => {
      await victim.kill()
      const database = new DatabaseSync(victim.file)
      assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
      database.close()
      const resumed = streams.reduce((sum, { resumptions }) => sum + resumptions, 0)
      console.log(`${died} kills, ${streams.length} streams, ${resumed} resumptions, ${answered.length} sends`)
    })

    const modern: WireOptions = { version: '1.0', binding: 'JSONRPC' }

    /** Tasks that were WORKING when the server died have an older timestamp than those that came since. */
    async function untilTakenUp(killedAt: number): Promise<TakenUp> {
      const wire = openWire(victim.url(), 'fragile', modern)
      const isLeft = ({ status }: Task): boolean => Date.parse(status.timestamp ?? '') < killedAt
      await eventually(async () => {
        const { tasks } = await wire.call('ListTasks', { status: 'TASK_STATE_WORKING', pageSize: 100 })
        return !tasks.some(isLeft)
      })
      const statusTimestampAfter = new Date(killedAt).toISOString()
      const { totalSize } = await wire.call('ListTasks', { status: 'TASK_STATE_FAILED', statusTimestampAfter })
      return { failed: totalSize }
    }

    function get(agent: string, id: string): Promise<Task> {
      return retryUntilAnswered(() => openWire(victim.url(), agent, modern).call('GetTask', { id }))
    }

    /** The whole log of a finished task, as a new reader sees it. */
    async function eventsOf(agent: string, id: string): Promise<Map<number, StreamEvent>> {
      const events = new Map<number, StreamEvent>()
      const stream = openWire(victim.url(), agent, modern).stream('SubscribeToTask', { id }, { lastEventId: '0' })
      for await (const { event, id: seq } of stream) events.set(Number(seq), event)
      return events
    }
  })
}
