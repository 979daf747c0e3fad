import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import type { A2AError } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { FullStore, NewTask, Store } from '../../stores/store.ts'
import { eventually, short, shortTimes, userMessage } from '../../testing/fixtures/test-engine.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'
import type { Intent } from './task-intents.ts'
import type { LoadedTask } from './loaded-task.ts'
import { createTaskCache } from './task-cache.ts'
import * as steps from './task-intents.ts'

function openTaskCache(store: Store, holder = 'me') {
  const lost: { live: LoadedTask; reason: unknown }[] = []
  const taskCache = createTaskCache({
    store,
    now: Date.now,
    holder,
    coalescesText: () => true,
    keepsTransitions: () => false,
    snapshotAll: () => false,
    warn: () => {},
    onFailed(live, reason) {
      lost.push({ live, reason })
      taskCache.evict(live)
    },
  })
  const size = (): number => [...taskCache.all()].length
  return { taskCache, lost, size }
}
function newTask(id: string = newId()): NewTask {
  const at = Date.now()
  const status = steps.statusAt(at, 'TASK_STATE_SUBMITTED')
  return { id, contextId: 'c', tenant: '', agent: 'agent', owner: 'alice', status, statusAt: at, createdAt: at }
}
const opens = (): Intent =>
  steps.openTask(userMessage('hi'), undefined, { key: newId(), hash: 'h', ttlMs: Infinity }, shortTimes, true)

/** A stored task that no engine runs. */
async function existing(store: Store, task = newTask()): Promise<string> {
  const records = [{ at: task.createdAt, body: { type: 'status', status: task.status } as const }]
  await store.tasks.append(task.id, { expectedSeq: 0, create: task, records })
  return task.id
}

describe('the task cache', () => {
  it('refuses a stream of another large task if streams hold too much in memory', async () => {
    const store = memoryStore()
    const { taskCache } = openTaskCache(store)
    const large = async (owner: string, bytes = 60_000_000): Promise<LoadedTask> => {
      const live = (await taskCache.find(await existing(store, { ...newTask(), owner }))) as LoadedTask
      // As if its log were that long.
      live.fold.bytes = bytes
      return live
    }
    const follow = (live: LoadedTask): (() => void) => {
      taskCache.admitReader(live)
      const listener = (): void => {}
      live.listeners.add(listener)
      return () => void live.listeners.delete(listener)
    }
    const refused = { code: 'RATE_LIMITED' }
    // A single task of any size.
    const endWhole = follow(await large('whole', 900_000_000))
    endWhole()
    const ends = [follow(await large('alice')), follow(await large('alice'))]
    const third = await large('alice')
    assert.throws(() => follow(third), refused)
    // Small tasks, more readers of the same task, and tasks of other owners are not affected.
    follow(await large('alice', 1_000))
    const shared = await large('bob')
    for (let count = 0; count < 100; count += 1) follow(shared)
    ends[0]?.()
    follow(third)
    for (const owner of ['c', 'd', 'e', 'f', 'g']) follow(await large(owner))
    const last = await large('h')
    assert.throws(() => follow(last), refused)
  })

  it('reserves memory for a large task before it is read, and reads it once for each that asks', async () => {
    const memory = memoryStore()
    const steps: string[] = []
    const watched = faultyStore(memory, {
      before: (method) => void (/loadSnapshot|tasks.read/.test(method) && steps.push(method)),
    })
    const sizes = new Map<string, number>()
    const store = { ...watched, tasks: { ...watched.tasks, sizeOf: async (id: string) => sizes.get(id) ?? 0 } }
    const { taskCache } = openTaskCache(store)
    const room: (() => void)[] = []
    const readerOf = (name: string, owner = 'alice') => ({
      tenant: '',
      agent: 'agent',
      caller: { id: owner },
      async admitRead(bytes: number) {
        steps.push(`${name} asks for ${bytes}`)
        await new Promise<void>((resolve) => room.push(resolve))
        steps.push(`${name} may read`)
        return () => Promise.resolve()
      },
    })
    const id = await existing(store)
    sizes.set(id, 12_000_000)
    const first = taskCache.find(id, readerOf('first'))
    const second = Promise.resolve(taskCache.read(id, readerOf('second')))
    // A stranger costs nothing.
    assert.equal(await taskCache.find(id, readerOf('a stranger', 'bob')), undefined)
    assert.deepEqual(steps, ['first asks for 12000000', 'second asks for 12000000'])
    room[0]?.()
    const loaded = await first
    const afterFirst = ['first may read', 'tasks.loadSnapshot', 'tasks.read']
    assert.deepEqual(steps.splice(0).slice(2), afterFirst)
    room[1]?.()
    // The second finds the task in memory.
    assert.equal((await second)?.view.id, loaded?.id)
    assert.deepEqual(steps.splice(0), ['second may read'])
    // A small one asks nobody.
    await taskCache.find(await existing(store), readerOf('third'))
    assert.deepEqual(steps, ['tasks.loadSnapshot', 'tasks.read'])
  })

  it('finds nothing if a large task was removed while its reader waited', async () => {
    const memory = memoryStore()
    let isRemoved = false
    const tasks = {
      ...memory.tasks,
      sizeOf: async () => 12_000_000,
      load: async (id: string) => (isRemoved ? undefined : memory.tasks.load(id)),
    }
    const { taskCache } = openTaskCache({ ...memory, tasks })
    async function admitRead() {
      isRemoved = true
      return () => Promise.resolve()
    }
    assert.equal(await taskCache.find(await existing(memory), { admitRead }), undefined)
  })

  it('has one task for all concurrent and later readers', async () => {
    let loads = 0
    const store = memoryStore()
    const counting = faultyStore(store, { before: (method) => void (loads += method === 'tasks.load' ? 1 : 0) })
    const { taskCache } = openTaskCache(counting)
    const id = await existing(store)
    const found = await Promise.all([taskCache.find(id), taskCache.find(id), taskCache.find(id)])
    assert.equal(new Set(found).size, 1)
    assert.equal(await taskCache.find(id), found[0])
    assert.equal(loads, 1)
    assert.equal(await taskCache.find('unknown'), undefined)
  })

  it('keeps some idle tasks and evicts the least recently used', async () => {
    const store = memoryStore({ maxTasks: 5_000 })
    const { taskCache, size } = openTaskCache(store)
    const ids: string[] = []
    for (let task = 0; task < 400; task += 1) ids.push(await existing(store))
    for (const id of ids) await taskCache.find(id)
    assert.equal(size(), 250)
    const kept = new Set([...taskCache.all()].map(({ id }) => id))
    assert.equal(kept.has(ids.at(-1) as string), true)
    assert.equal(kept.has(ids[0] as string), false)
  })

  it('never evicts one that is in use: not in the log yet, running, or watched', async () => {
    const store = memoryStore({ maxTasks: 5_000 })
    const { taskCache } = openTaskCache(store)
    const unopened = taskCache.create(newTask())
    const owned = taskCache.create(newTask())
    await owned.write(opens())
    const watched = await taskCache.find(await existing(store))
    assert.ok(watched !== undefined)
    watched.listeners.add(() => {})
    for (let task = 0; task < 500; task += 1) await taskCache.find(await existing(store))
    for (const live of [unopened, owned, watched]) assert.equal(await taskCache.find(live.id), live)
  })

  it('does not keep a large task once it has ended', async () => {
    const { taskCache, size } = openTaskCache(memoryStore())
    for (const length of [100, 100_000]) {
      const live = taskCache.create(newTask())
      await live.write(opens())
      live.post({ type: 'artifact', artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(length) }] } }, length)
      await live.write(steps.endTask(1, { state: 'TASK_STATE_COMPLETED' }))
    }
    assert.equal(size(), 1)
  })

  it('reads what other processes append, until the task ends or is evicted', async () => {
    let waiting = 0
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const counting = faultyStore(store, {
      before: (method) => void (waiting += method === 'tasks.changed' ? 1 : 0),
      after: (method) => void (waiting -= method === 'tasks.changed' ? 1 : 0),
    })
    const here = openTaskCache(counting)
    const there = openTaskCache(store, 'another')
    const id = newId()
    const own = there.taskCache.create(newTask(id))
    await own.write(opens())
    const live = await here.taskCache.find(id)
    assert.ok(live !== undefined)
    const idle = await here.taskCache.find(await existing(store))
    assert.ok(idle !== undefined)
    await eventually(() => waiting === 2)
    await own.write(steps.endTask(1, { state: 'TASK_STATE_CANCELED' }))
    await eventually(() => short(live.fold.status.state) === 'CANCELED')
    here.taskCache.evict(idle)
    await eventually(() => waiting === 0)
  })

  it('does not keep a task that another process ended', async () => {
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const here = openTaskCache(store)
    const there = openTaskCache(store, 'another')
    const live = here.taskCache.create(newTask())
    await live.write(opens())
    assert.equal(live.hasLease, true)
    const same = await there.taskCache.find(live.id)
    await same?.write(steps.endTask(1, { state: 'TASK_STATE_CANCELED' }))
    await eventually(() => short(live.fold.status.state) === 'CANCELED')
    assert.equal(live.hasLease, false)
    assert.equal(live.isIdle, true)
  })

  it('drops a task that another process ended and removed', async () => {
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const { taskCache, lost, size } = openTaskCache(
      faultyStore(store, { before: (method) => (method === 'tasks.changed' ? new Promise(() => {}) : undefined) }),
    )
    const id = await existing(store)
    const live = await taskCache.find(id)
    assert.ok(live !== undefined)
    const ended = steps.statusAt(Date.now(), 'TASK_STATE_COMPLETED')
    await store.tasks.append(id, {
      expectedSeq: 1,
      records: [{ at: Date.now(), body: { type: 'status', status: ended } }],
      change: { status: ended, statusAt: 0 },
    })
    await store.prune({ finishedBefore: Date.now(), batch: 10 })
    await assert.rejects(live.write(steps.endTask(1, { state: 'TASK_STATE_CANCELED' })), { code: 'TASK_NOT_FOUND' })
    await nextTurnOfTheLoop()
    assert.equal(lost.length, 1)
    assert.equal(size(), 0)
  })

  it('waits for changes of a task only from its first append on, and not if that ends the task', async () => {
    const calls: string[] = []
    const store = faultyStore(memoryStore({ leaseTtlMs: 1_000 }), { before: (method) => void calls.push(method) })
    const { taskCache } = openTaskCache(store)
    const ended = taskCache.create(newTask())
    const running = taskCache.create(newTask())
    const opened = [ended.write(opens()), running.write(opens())]
    ended.post({ type: 'status', status: steps.statusAt(Date.now(), 'TASK_STATE_COMPLETED') }, 0)
    await Promise.all(opened)
    assert.deepEqual(calls.toSorted(), ['tasks.append', 'tasks.append', 'tasks.changed'])
    for (const live of [ended, running]) taskCache.evict(live)
  })

  describe('with a store that wakes it without a change', () => {
    const restless = (store: FullStore): FullStore => ({
      ...store,
      tasks: { ...store.tasks, changed: () => nextTurnOfTheLoop() },
    })

    it('keeps a task that is being created', async () => {
      const gate = Promise.withResolvers<void>()
      const store = faultyStore(restless(memoryStore({ leaseTtlMs: 10_000 })), {
        before: (method) => (method === 'tasks.append' ? gate.promise : undefined),
      })
      const { taskCache, lost } = openTaskCache(store)
      const live = taskCache.create(newTask())
      const opening = live.write(opens())
      for (let turn = 0; turn < 20; turn += 1) await nextTurnOfTheLoop()
      gate.resolve()
      await opening
      assert.deepEqual(lost, [])
      taskCache.evict(live)
    })

    it('drops a task whose log has become shorter, and reads it again on the next request', async () => {
      const inner = memoryStore({ leaseTtlMs: 10_000 })
      const id = await existing(inner)
      let cut = false
      const row = await inner.tasks.load(id)
      assert.ok(row !== undefined)
      const status = { type: 'status', status: row.status } as const
      const store: Store = {
        ...inner,
        tasks: {
          ...restless(inner).tasks,
          // As after a failover: the second record is gone.
          load: async () => (cut ? row : inner.tasks.load(id)),
          read: async (taskId, after) => (await inner.tasks.read(taskId, after)).filter(({ seq }) => !cut || seq === 1),
        },
      }
      await inner.tasks.append(id, { expectedSeq: 1, records: [{ at: 0, body: status }] })
      const { taskCache, lost } = openTaskCache(store)
      const live = await taskCache.find(id)
      assert.equal(live?.fold.head, 2)
      cut = true
      await eventually(() => lost.length > 0, 'the task to be given up')
      assert.equal((lost[0]?.reason as A2AError | undefined)?.code, 'UNAVAILABLE')
      assert.equal(live.failure, lost[0]?.reason)
      const again = await taskCache.find(id)
      assert.equal(again?.fold.head, 1)
      taskCache.evict(again)
    })
  })
})
