/** The metrics about what is stored: size, growth, oldest tasks, backlogs, the last backup. */
import type { StoreReport } from '../store/store-monitor.ts'
import type { MetricRegistry, Sample } from './metric-registry.ts'
import { metric } from './metric-name.ts'

export function addStoreMetrics(registry: MetricRegistry, report: () => Promise<StoreReport | undefined>): void {
  type Values = readonly (readonly [value: number | undefined, ...labels: readonly string[]])[]
  const gauge = (
    otel: string,
    unit: string,
    labels: readonly string[],
    help: string,
    values: (report: StoreReport) => Values,
  ): void =>
    registry.gauge(metric(otel, unit, labels, help), async (): Promise<readonly Sample[]> => {
      const known = await report()
      if (known === undefined) return []
      return values(known).flatMap(([value, ...names]) => (value === undefined ? [] : [{ labels: names, value }]))
    })
  const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000)

  gauge('store.size', 'By', ['part'], 'Size of the store: the database, and the write-ahead log.', ({ stats }) => [
    [stats.bytes?.database, 'database'],
    [stats.bytes?.wal, 'wal'],
  ])
  gauge('store.reusable', 'By', [], 'The part of the database that is empty and is used again.', ({ stats }) => [
    [stats.bytes?.reusable],
  ])
  gauge('store.disk.free', 'By', [], 'Free space of the disk that the store is on.', ({ stats }) => [
    [stats.bytes?.diskFree],
  ])
  gauge('store.growth', 'By', ['window'], 'Growth of the stored data in the last hour and day.', ({ growth }) => [
    [growth.hour?.bytes, '1h'],
    [growth.day?.bytes, '1d'],
  ])
  gauge('store.oldest.task.timestamp', 's', [], 'When the oldest task was created.', ({ stats }) => [
    [seconds(stats.oldestTaskAt)],
  ])
  gauge(
    'store.oldest.unfinished.timestamp',
    's',
    [],
    'Since when the oldest unfinished task runs, or waits for its caller.',
    ({ stats }) => [[seconds(stats.oldestUnfinishedAt)]],
  )
  gauge('store.feed.position', '1', [], 'The end of the feed of appends.', ({ stats }) => [[stats.position]])
  gauge(
    'push.backlog',
    '{webhook}',
    ['state'],
    'Webhooks with undelivered events, due now or waiting for a retry, and dead ones. Each is counted up to 10000.',
    ({ stats: { push } }) =>
      push === undefined
        ? []
        : [
            [push.due, 'due'],
            [push.behind - push.due, 'retrying'],
            [push.dead, 'dead'],
          ],
  )
  gauge('push.backlog.age', 's', [], 'How long the oldest undelivered event waits.', ({ at, stats: { push } }) => [
    [push === undefined ? undefined : Math.max(0, at - (push.oldestAt ?? at)) / 1_000],
  ])
  gauge(
    'feed.reader.behind',
    '{append}',
    ['reader'],
    'Appends that a reader of the feed has not read. Counted up to 500.',
    ({ feedReaders }) => feedReaders.map(({ name, behind }) => [behind, name] as const),
  )
  gauge('backup.last.timestamp', 's', [], 'When the last backup was completed.', ({ lastBackupAt }) => [
    [seconds(lastBackupAt)],
  ])
}
