/**
 * The number of tasks per owner and state, written in the same transaction as the tasks, so that the total of a list and the limit
 * of a caller cost one read. Changes are collected and written once per transaction: thirty new tasks of one caller are one update.
 */
import { isTerminal, taskStateNumber, taskStates, type TaskState } from '../../model/state.ts'
import type { Partition, StateCount } from '../store.ts'
import type { SqliteDatabase } from './database.ts'

export function taskStateOfNumber(number: number): TaskState {
  return taskStates[number] ?? 'TASK_STATE_UNSPECIFIED'
}

const activeNumbers = taskStates.filter((state) => !isTerminal(state)).map(taskStateNumber)

interface CounterChange extends Partition {
  readonly state: number
  by: number
}

export type Counters = ReturnType<typeof createCounters>

export function createCounters(database: SqliteDatabase) {
  const add = database.prepare(`
    INSERT INTO counters (tenant, owner, agent, state, tasks) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks`)
  const ofPartition = database.prepare<{ state: number; tasks: number }>(
    'SELECT state, tasks FROM counters WHERE tenant = ? AND owner = ? AND agent = ? AND tasks > 0',
  )
  const ofOwner = database.prepare<{ tasks: number | null }>(
    `SELECT sum(tasks) AS tasks FROM counters WHERE tenant = ? AND owner = ? AND state IN (${activeNumbers.join(', ')})`,
  )
  const all = database.prepare<{ tasks: number | null }>('SELECT sum(tasks) AS tasks FROM counters')
  // Not by GROUP BY, which would sort them.
  const sums = taskStates.map((_, number) => `coalesce(sum(tasks) FILTER (WHERE state = ${number}), 0) AS s${number}`)
  const byState = database.prepare<Record<string, number>>(`SELECT ${sums.join(', ')} FROM counters`)
  const dropEmpty = database.prepare('DELETE FROM counters WHERE tasks = 0')
  const gathered = new Map<string, CounterChange>()

  return {
    change({ tenant, agent, owner }: Partition, state: number, by: 1 | -1): void {
      const key = JSON.stringify([tenant, owner, agent, state])
      const known = gathered.get(key)
      if (known === undefined) gathered.set(key, { tenant, agent, owner, state, by })
      else known.by += by
    },
    /** Writes the collected changes. */
    write(): void {
      if (gathered.size === 0) return
      for (const { tenant, agent, owner, state, by } of gathered.values()) {
        if (by !== 0) add.run(tenant, owner, agent, state, by)
      }
      gathered.clear()
    },
    forget: () => gathered.clear(),

    /** The states of the tasks of a partition, with their numbers. */
    of: ({ tenant, owner, agent }: Partition) => ofPartition.all(tenant, owner, agent),
    active: (tenant: string, owner: string): number => ofOwner.get(tenant, owner)?.tasks ?? 0,
    /** Committed changes only; collected ones are not included. */
    total: (): number => all.get()?.tasks ?? 0,
    states(): readonly StateCount[] {
      const row = byState.get() ?? {}
      return taskStates.flatMap((state, number) => {
        const tasks = row[`s${number}`] ?? 0
        return tasks > 0 ? [{ state, tasks }] : []
      })
    },
    dropEmpty: () => void dropEmpty.run(),
  }
}
