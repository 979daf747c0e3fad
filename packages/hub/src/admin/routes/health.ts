/** `/admin/health`: the state of the hub. */
import { omitUndefined, versionIds } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import type { Handler } from '@parley/a2a/server'
import { z } from 'zod'
import type { AuditExportStatus } from '../../audit/audit-export.ts'
import type { StoreReport } from '../../telemetry/store/store-monitor.ts'
import type { ConfigRejection } from '../../config/config-source.ts'
import { createRedactor } from '../../telemetry/logs/redactor.ts'
import { operatorMessage } from '../../json/operator-message.ts'
import { recentFailure } from '../agent-status.ts'
import type { AgentSummary } from '../agent-summary.ts'
import type { AgentView } from '../agent-view.ts'
import { isoTime } from '../../http/json-response.ts'
import { timestamp, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'

export interface HealthRoutesDeps {
  readonly store: Pick<FullStore, 'ready' | 'tasks' | 'push'>
  /** Where tasks are stored, for display. */
  readonly storeName: string
  storeReport(): Promise<StoreReport | undefined>
  auditExports(): Promise<readonly AuditExportStatus[]>
  handler(): Promise<Pick<Handler, 'openStreams' | 'push' | 'readers'>>
  readonly view: AgentView
  /** Why the file is not applied, if it is not. */
  configRejection(): ConfigRejection | undefined
  readonly version: string
  readonly instance: string
  readonly now: () => number
}

const growthSchema = z.strictObject({ bytes: z.int(), tasks: z.int() })

const storageSchema = z
  .strictObject({
    readAt: timestamp.describe('These facts are read at most every 15 seconds.'),
    tasks: z.int(),
    bytes: z.int().optional().describe('The size of the database. Absent: the store is not on a disk.'),
    walBytes: z.int().optional().describe('The size of the write-ahead log.'),
    reusableBytes: z.int().optional().describe('The part of the database that is empty and is used again.'),
    diskFreeBytes: z.int().optional(),
    growth: z
      .strictObject({ hour: growthSchema.optional(), day: growthSchema.optional() })
      .describe('What the last hour and the last day added. Absent until the hub has run that long.'),
    oldestTask: timestamp.optional().describe('When the oldest task was created.'),
    oldestUnfinished: timestamp
      .optional()
      .describe('Since when the oldest unfinished task runs, or waits for its caller.'),
    lastBackup: timestamp.optional().describe('When the last backup was completed. Absent: none is known.'),
  })
  .meta({ id: 'Storage' })

const healthSchema = z
  .strictObject({
    status: z
      .enum(['ok', 'degraded'])
      .describe('Degraded: the store or an agent is unhealthy, or the configuration file was not applied.'),
    version: z.string(),
    node: z.string(),
    protocols: z.array(z.string()),
    instance: z.string().describe('Changes with each restart.'),
    startedAt: timestamp,
    uptimeMs: z.number(),
    store: z.strictObject({
      name: z.string(),
      isReady: z.boolean(),
      latencyMs: z.number(),
      trouble: z.string().optional(),
    }),
    configRejection: z
      .strictObject({ since: timestamp, problem: z.string().describe('The first problem, with its line.') })
      .optional()
      .describe('Why the hub did not apply the configuration file. Absent: it is applied.'),
    agents: z.strictObject({
      all: z.int(),
      up: z.int().describe('Agents whose status is `up`; the others are slow, failing, down, blocked or unavailable.'),
      open: z.int().describe('Agents that were opened. Those that do not respond are also in `down`.'),
      down: z.array(z.string()),
      troubles: z.record(z.string(), z.string()).describe('Why each of them is down, for operators.'),
      failing: z
        .record(z.string(), z.string())
        .describe(
          'Agents of whose tasks more than 20 % failed in the last 15 minutes: how many, and why the newest did.',
        ),
      recentErrors: z
        .record(z.string(), z.string())
        .describe(
          'Other agents that can be called, but had errors in the last hour: how many, and why the last task failed.',
        ),
      drifted: z.array(z.string()).describe('Remote agents whose card awaits approval.'),
    }),
    tasks: z.record(z.string(), z.int()),
    streams: z.int(),
    push: z.strictObject({
      isOn: z.boolean(),
      dead: z.int().describe('Dead webhooks; at most 100 are counted.'),
      behind: z.int().describe('Webhooks with undelivered events; at most 10,000 are counted.'),
      due: z.int().describe('The part of `behind` whose next attempt is due.'),
      oldestUndelivered: timestamp.optional().describe('Since when the oldest undelivered event waits.'),
    }),
    storage: storageSchema.optional().describe('Size, growth and age of what is stored.'),
    readers: z.strictObject({
      unsentBytes: z.int().describe('Bytes held for clients that have not read them.'),
      paused: z.int().describe('Clients that wait because too much is unsent.'),
      feed: z
        .array(z.strictObject({ name: z.string(), behind: z.int() }))
        .describe('Readers of the feed, and the appends that each has not read; at most 500 are counted.'),
    }),
    auditExports: z.array(
      z.strictObject({
        name: z.string(),
        lagMs: z.number().describe('How long the oldest entry that is not exported waits.'),
        trouble: z.string().optional().describe('Why this replica could not export.'),
      }),
    ),
  })
  .meta({ id: 'Health' })

const redact = createRedactor()

export type HubHealth = z.output<typeof healthSchema>

export function healthRoutes(parts: HealthRoutesDeps): readonly AdminRoute[] {
  const { store, storeName, view, version, instance, now } = parts
  const startedAt = now()
  const startedMonotonic = performance.now()
  return taggedRoutes('Health', [
    jsonRoute('GET /admin/health', {
      name: 'getHealth',
      summary: 'The health of the hub: store, agents, webhooks.',
      response: healthSchema,
      async handle() {
        const storeStatus = await storeHealth()
        const { openStreams, push, readers } = await parts.handler()
        const report = storeStatus.isReady ? await parts.storeReport().catch(() => undefined) : undefined
        const exports = storeStatus.isReady ? await parts.auditExports().catch(() => []) : []
        const backlog = report?.stats.push
        const agents = storeStatus.isReady ? await view.list() : []
        const dead = storeStatus.isReady ? await store.push.search({ state: 'dead', limit: 100 }) : { pushes: [] }
        const states = storeStatus.isReady ? await store.tasks.countStates() : []
        const rejection = parts.configRejection()
        const down = agents.filter(({ state, health }) => state !== 'open' || health.state === 'down')
        const failing = agents.filter(({ status }) => status.state === 'failing')
        return {
          status:
            storeStatus.isReady && down.length === 0 && rejection === undefined
              ? ('ok' as const)
              : ('degraded' as const),
          version,
          node: process.versions.node,
          protocols: versionIds,
          instance,
          startedAt: isoTime(startedAt),
          uptimeMs: Math.round(performance.now() - startedMonotonic),
          store: storeStatus,
          ...(rejection === undefined
            ? {}
            : { configRejection: { since: isoTime(rejection.since), problem: redact.text(rejection.problem) } }),
          agents: {
            all: agents.length,
            up: agents.filter(({ status }) => status.state === 'up').length,
            open: agents.filter(({ state }) => state === 'open').length,
            down: down.map(({ name }) => name),
            troubles: textByName(down, ({ status }) => status.reason),
            failing: textByName(failing, ({ status }) => status.reason),
            recentErrors: textByName(
              agents.filter((agent) => !down.includes(agent) && !failing.includes(agent)),
              (agent) => recentFailure(agent, now()),
            ),
            drifted: agents.filter(({ drift }) => drift !== undefined).map(({ name }) => name),
          },
          tasks: Object.fromEntries(states.map(({ state, tasks }) => [state, tasks])),
          streams: openStreams(),
          push: {
            isOn: push !== undefined,
            dead: dead.pushes.length,
            behind: backlog?.behind ?? 0,
            due: backlog?.due ?? 0,
            ...(backlog?.oldestAt === undefined ? {} : { oldestUndelivered: isoTime(backlog.oldestAt) }),
          },
          ...(report === undefined ? {} : { storage: storageOf(report) }),
          readers: {
            unsentBytes: readers.unsentBytes,
            paused: readers.paused,
            feed: [...(report?.feedReaders ?? [])],
          },
          auditExports: exports.map(({ name, lagMs, trouble }) => ({
            name,
            lagMs,
            ...(trouble === undefined ? {} : { trouble }),
          })),
        }
      },
    }),
  ])

  /** Whether the store responds, and how fast: a readable store may still not be writable. */
  async function storeHealth() {
    const began = performance.now()
    const trouble = await Promise.all([store.tasks.countStates(), store.ready?.()]).then(
      () => undefined,
      operatorMessage,
    )
    const latencyMs = Math.round((performance.now() - began) * 10) / 10
    return {
      name: storeName,
      isReady: trouble === undefined,
      latencyMs,
      ...(trouble !== undefined ? { trouble } : {}),
    }
  }
}

function textByName(
  agents: readonly AgentSummary[],
  text: (agent: AgentSummary) => string | undefined,
): Record<string, string> {
  return Object.fromEntries(
    agents.flatMap((agent) => {
      const shown = text(agent)
      return shown === undefined ? [] : [[agent.name, shown]]
    }),
  )
}

function storageOf({ at, stats, growth, lastBackupAt }: StoreReport): z.output<typeof storageSchema> {
  const { tasks, bytes, oldestTaskAt, oldestUnfinishedAt } = stats
  return {
    readAt: isoTime(at),
    tasks,
    ...omitUndefined({
      bytes: bytes?.database,
      walBytes: bytes?.wal,
      reusableBytes: bytes?.reusable,
      diskFreeBytes: bytes?.diskFree,
      oldestTask: oldestTaskAt === undefined ? undefined : isoTime(oldestTaskAt),
      oldestUnfinished: oldestUnfinishedAt === undefined ? undefined : isoTime(oldestUnfinishedAt),
      lastBackup: lastBackupAt === undefined ? undefined : isoTime(lastBackupAt),
    }),
    growth: { ...growth },
  }
}
