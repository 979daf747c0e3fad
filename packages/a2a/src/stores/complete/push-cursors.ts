/** Push cursors in the rows of a log store. Which deliveries are under way, and the attempts, are known to this process only. */
import {
  type ClaimedPush,
  keptAttempts,
  movedPush,
  type PushAttempt,
  type PushStore,
  savedPush,
} from '../push-store.ts'
import { type PushCursor, pushRowOf, type TaskState } from './task-state.ts'
import type { TaskEntry, TaskTable } from './task-table.ts'

/** Attempts are for operators: those of the tasks that were tried first are forgotten. */
const maxTasksWithAttempts = 10_000

/** `steady` converts a time just read from the clock: the next attempt is a delay, which no step of the clock may change. */
export function createPushCursors(table: TaskTable, steady: (at: number) => number) {
  const attempts = new Map<string, PushAttempt[]>()

  const steadyDue = <Timed extends { readonly dueAt?: number | null }>(timed: Timed): Timed =>
    typeof timed.dueAt === 'number' ? { ...timed, dueAt: steady(timed.dueAt) } : timed

  /** Changes the cursors of a task. `undefined`: nothing is to be changed. Returns whether something was. */
  function change(taskId: string, decide: (entry: TaskEntry) => readonly PushCursor[] | undefined): Promise<boolean> {
    return table.exclusively([taskId], () =>
      table.update(taskId, (entry) => {
        const pushes = entry && decide(entry)
        return pushes === undefined
          ? { answer: false }
          : { answer: true, next: { ...(entry as TaskEntry).state, pushes } }
      }),
    )
  }

  const facet: PushStore = {
    load: async (taskId, id) => (await facet.list(taskId)).find((push) => push.id === id),
    list: async (taskId) => (await table.load(taskId))?.state.pushes.map(pushRowOf) ?? [],
    async search({ state, before = Infinity, limit }) {
      const matching: PushCursor[] = []
      for await (const { state: task } of table.scan({ where: {}, order: 'newest' })) {
        for (const push of task.pushes)
          if (push.place < before && (state === undefined || push.state === state)) matching.push(push)
      }
      matching.sort((a, b) => b.place - a.place)
      const last = matching.length > limit ? matching[limit - 1] : undefined
      return { pushes: matching.slice(0, limit).map(pushRowOf), ...(last === undefined ? {} : { before: last.place }) }
    },
    async save(given) {
      const [push, atOnce] = [steadyDue(given), steady(given.createdAt)]
      const isSaved = await change(push.taskId, ({ state: { pushes, visibleSeq }, deliveries }) => {
        const known = pushes.find(({ id }) => id === push.id)
        const saved = { ...savedPush(push, visibleSeq, atOnce), place: known?.place ?? table.newNumber() }
        // A delivery of the config that is replaced no longer counts.
        deliveries.delete(push.id)
        return known === undefined ? [...pushes, saved] : pushes.map((other) => (other === known ? saved : other))
      })
      if (!isSaved) throw new Error(`Unknown task ${push.taskId}`)
    },
    delete: (taskId, id, fence) =>
      change(taskId, ({ state: { pushes }, deliveries }) => {
        if (fence !== undefined && deliveries.get(id)?.fence !== fence) return undefined
        return pushes.some((push) => push.id === id) ? pushes.filter((push) => push.id !== id) : undefined
      }),
    async claim(at, until, limit) {
      const now = steady(at)
      const due: { readonly entry: TaskEntry; readonly push: PushCursor; readonly at: number }[] = []
      for (const entry of table.open.values())
        for (const push of entry.state.pushes) {
          const { state, dueAt = Infinity } = push
          const claim = entry.deliveries.get(push.id)
          if (state === 'active' && dueAt <= now && (claim === undefined || claim.until <= now))
            due.push({ entry, push, at: dueAt })
        }
      due.sort((a, b) => a.at - b.at || a.push.place - b.push.place)
      return due.slice(0, limit).map(({ entry, push }): ClaimedPush => {
        const fence = table.newNumber()
        entry.deliveries.set(push.id, { fence, until: steady(until) })
        return { push: pushRowOf(push), fence }
      })
    },
    move: (taskId, id, fence, moved) =>
      change(taskId, ({ state: { pushes, visibleSeq }, deliveries }) => {
        const known = pushes.find((push) => push.id === id)
        if (known === undefined || deliveries.get(id)?.fence !== fence) return undefined
        deliveries.delete(id)
        const next = { ...movedPush(known, steadyDue(moved), visibleSeq), place: known.place }
        return pushes.map((push) => (push === known ? next : push))
      }),
    async recordAttempt(attempt) {
      const { taskId } = attempt
      if ((await table.load(taskId)) === undefined) return
      const known = attempts.get(taskId) ?? []
      attempts.set(taskId, [...known.slice(1 - keptAttempts), attempt])
      if (attempts.size > maxTasksWithAttempts) attempts.delete(attempts.keys().next().value as string)
    },
    async listAttempts(taskId, pushId, limit) {
      const own = attempts.get(taskId)?.filter((attempt) => attempt.pushId === pushId) ?? []
      return own.reverse().slice(0, limit)
    },
  }
  return { facet, attempts }
}

/** Visible records were appended: idle cursors become due. */
export function wakePushes(pushes: TaskState['pushes'], at: number): TaskState['pushes'] {
  const isIdle = ({ state, dueAt }: PushCursor): boolean => state === 'active' && dueAt === undefined
  return pushes.some(isIdle) ? pushes.map((push) => (isIdle(push) ? { ...push, dueAt: at } : push)) : pushes
}
