/** What a prune of the memory store would remove: the same conditions as in complete/prune.ts, as counts. Changes nothing. */
import { isTerminal } from '../../model/state.ts'
import type { CompletedLogStore } from '../complete/complete-store.ts'
import { fromLogRow } from '../complete/task-state.ts'
import { estimateOf } from '../prune-estimate.ts'
import type { PruneEstimate, Retention } from '../store.ts'
import { encodeText } from '../text-encoding.ts'
import type { MemoryLog, MemoryRow } from './memory-log.ts'

export function createMemoryPreview({ store, rows }: MemoryLog, { table, pushes, entries }: CompletedLogStore) {
  return async function previewPrune(retention: Omit<Retention, 'batch'>): Promise<readonly PruneEstimate[]> {
    const { finishedBefore = -Infinity, maxTasks = Infinity, logBefore = -Infinity } = retention
    const { deliveriesBefore = -Infinity } = retention
    const { rows: closed } = await store.list({ where: { isOpen: false }, order: 'oldest', limit: Infinity })
    const surplus = closed.length + table.open.size - maxTasks
    const finished = closed.map((row, index) => ({
      state: fromLogRow(row),
      stored: rows.get(row.id) as MemoryRow,
      isRemoved: row.statusAt < finishedBefore || index < surplus,
    }))
    const removed = finished.filter(({ isRemoved }) => isRemoved)
    const isCovered = ({ log, snapshot, row }: MemoryRow): boolean =>
      row.statusAt < logBefore && log.length > 0 && snapshot !== undefined && snapshot.seq >= (log.at(-1)?.seq ?? 0)
    const dropped = finished.filter(({ isRemoved, stored }) => isRemoved || isCovered(stored))
    const open = [...table.open.values()].map(({ state }) => ({ state, isRemoved: false }))
    const ended = [...finished, ...open].flatMap(({ state, isRemoved }) =>
      state.pushes.filter(
        (push) =>
          isRemoved ||
          (push.state !== 'active' && isTerminal(state.row.status.state) && state.row.statusAt < deliveriesBefore),
      ),
    )
    const attempts = [...pushes.attempts].flatMap(([taskId, made]) => {
      const isRemoved = removed.some(({ stored }) => stored.row.id === encodeText(taskId))
      return made.filter(({ at }) => isRemoved || at < deliveriesBefore)
    })
    return [
      ...estimate('tasks', removed, ({ state }) => [state.row, state.row.statusAt]),
      ...(dropped.length === 0
        ? []
        : estimate(
            'logs',
            dropped.flatMap(({ stored }) => stored.log.map((record) => ({ record, stored }))),
            ({ record, stored }) => [record, stored.row.statusAt],
          )),
      ...estimate(
        'snapshots',
        removed.filter(({ stored }) => stored.snapshot !== undefined),
        ({ stored, state }) => [stored.snapshot, state.row.statusAt],
      ),
      ...estimate('pushConfigs', ended, (push) => [push, push.createdAt]),
      ...estimate('pushAttempts', attempts, (attempt) => [attempt, attempt.at]),
      ...entries
        .expired()
        .flatMap(([kind, expired]) => estimate('entries', expired, (entry) => [entry, entry.updatedAt], kind)),
    ]
  }
}

/** Their size is that of their JSON. */
function estimate<Item>(
  kind: PruneEstimate['kind'],
  items: readonly Item[],
  about: (item: Item) => readonly [value: unknown, time: number],
  entryKind?: string,
): readonly PruneEstimate[] {
  const measured = items.map(about)
  const times = measured.map(([, time]) => time).sort((a, b) => a - b)
  const bytes = measured.reduce((sum, [value]) => sum + JSON.stringify(value).length, 0)
  return estimateOf({ kind, rows: items.length, bytes, oldest: times[0], newest: times.at(-1) }, entryKind)
}
