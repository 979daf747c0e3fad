/** The agents as the operator sees them: description, health, current work and the last error. */
import { omitUndefined, resultWithin } from '@parley/a2a/internal'
import type { Store } from '@parley/a2a/stores'
import type { Handler } from '@parley/a2a/server'
import type { CardState } from '../agents/kind.ts'
import { toListedAgent } from '../discovery/listed-agent.ts'
import type { AgentHealth, HealthMonitor } from '../health/health-monitor.ts'
import type { StartError } from '../registry/agent-supervisor.ts'
import type { AgentStatus, AgentRegistry } from '../registry/agent-registry.ts'
import type { RetryState } from '../registry/retry-schedule.ts'
import type { AgentUsage, EndedTasks } from '../telemetry/stats/stats-history.ts'
import { isoTime } from '../http/json-response.ts'
import { agentStatus } from './agent-status.ts'
import type { AgentSummary } from './agent-summary.ts'
import type { TaskFactsReader } from './task-facts.ts'
import { taskSummaryOf } from './task-view.ts'
import { countWaiting } from './waiting-tasks.ts'

export interface AgentViewDeps {
  readonly registry: Pick<AgentRegistry, 'names' | 'status' | 'open' | 'defaultName'>
  readonly store: Pick<Store, 'tasks'>
  readonly facts: TaskFactsReader
  handler(): Promise<Pick<Handler, 'openStreams'>>
  /** Whether it may be called without credentials. */
  isAnonymousAllowed(agent: string): boolean
  readonly health: Pick<HealthMonitor, 'get' | 'probe'>
  /** What each agent did in the last hour. */
  usage(): Promise<ReadonlyMap<string, AgentUsage>>
  /** The tasks of each agent that ended lately. */
  endedTasks(): Promise<ReadonlyMap<string, EndedTasks>>
  /** Removes secrets from an error, which may contain a URL or a header. */
  redact(text: string): string
  readonly now: () => number
  url(): string | undefined
}

/** The maximum age of a probe result. */
const probeMaxAgeMs = 60_000
const probeWaitMs = 1_000

export interface AgentView {
  /** `isChecked`: probes all agents first, and waits for the results. */
  list(options?: { readonly isChecked?: boolean }): Promise<readonly AgentSummary[]>
  get(name: string): Promise<AgentSummary | undefined>
}

export function createAgentView(parts: AgentViewDeps): AgentView {
  const { registry, store } = parts
  let probing: Promise<void> | undefined

  async function counts() {
    const [unfinished, waiting, usage, ended] = await Promise.all([
      store.tasks.countUnfinished(),
      countWaiting(store),
      parts.usage(),
      parts.endedTasks(),
    ])
    return { unfinished, waiting, usage, ended }
  }

  async function summary(
    status: AgentStatus,
    { unfinished, waiting, usage, ended }: Awaited<ReturnType<typeof counts>>,
  ): Promise<AgentSummary> {
    const { name, kind, state, startError, retry, settings } = status
    const checked = parts.health.get(name)
    const retrying = retry ?? checked.retry
    const { isAvailable: _, skills, tags, ...listed } = toListedAgent(status, parts.url() ?? '')
    const [failed, drift, handler] = await Promise.all([lastFailure(name), driftOf(name), parts.handler()])
    const count = (...states: readonly string[]): number =>
      unfinished
        .filter((one) => one.agent === name && states.includes(one.state))
        .reduce((sum, { tasks }) => sum + tasks, 0)
    const tasks = ended.get(name) ?? { ended: 0, failed: 0, isFailing: false }
    const facts = {
      state,
      ...(startError !== undefined ? startErrorToJson(startError, retry?.nextTryAt, parts.redact) : {}),
      health: healthToJson(checked, parts.redact),
      ...omitUndefined({ lastError: failed, drift }),
    }
    return {
      ...listed,
      skills: skills.map((one) => ({ ...one, tags: [...one.tags] })),
      tags: [...tags],
      kind,
      ...facts,
      status: agentStatus({ ...facts, endedTasks: tasks }, parts.now()),
      ...(retrying !== undefined ? { retry: retryToJson(retrying) } : {}),
      isDefault: registry.defaultName() === name,
      isOpen: parts.isAnonymousAllowed(name),
      isCardPrivate: settings.protectCard === true,
      whenBusy: settings.whenBusy ?? 'queue',
      load: {
        working: count('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'),
        waiting: waiting.get(name) ?? 0,
        streams: handler.openStreams(name),
      },
      usage: usageToJson(usage.get(name)),
      endedTasks: { ended: tasks.ended, failed: tasks.failed },
    }
  }

  /** Probes agents whose last result is stale. A list does not wait for the slowest agent. */
  async function probeStale(names: readonly string[]): Promise<void> {
    const isStale = (name: string): boolean =>
      registry.open(name)?.health !== undefined && (parts.health.get(name).askedAt ?? 0) < parts.now() - probeMaxAgeMs
    if (names.some(isStale)) await resultWithin((probing ??= probeAll()), probeWaitMs)
  }

  async function probeAll(): Promise<void> {
    await parts.health.probe().finally(() => (probing = undefined))
  }

  async function lastFailure(agent: string) {
    const { tasks } = await store.tasks.search({ agent, states: ['TASK_STATE_FAILED'], limit: 1 })
    if (tasks[0] === undefined) return undefined
    const { id, statusAt, statusText, cause } = taskSummaryOf(tasks[0], await parts.facts.read(tasks[0]))
    return { taskId: id, at: statusAt, ...omitUndefined({ text: statusText, cause }) }
  }

  async function driftOf(agent: string) {
    return driftToJson(await registry.open(agent)?.cardWatch?.state())
  }

  return {
    async list({ isChecked = false } = {}) {
      await (isChecked ? parts.health.probe() : probeStale(registry.names()))
      const counted = await counts()
      const all = registry.names().flatMap((name) => registry.status(name) ?? [])
      return Promise.all(all.map((status) => summary(status, counted)))
    },
    async get(name) {
      await probeStale([name])
      const status = registry.status(name)
      return status === undefined ? undefined : summary(status, await counts())
    },
  }
}

function startErrorToJson({ message, at }: StartError, nextTryAt: number | undefined, redact: AgentViewDeps['redact']) {
  const text = redact(message)
  const next = nextTryAt === undefined ? {} : { nextTryAt: isoTime(nextTryAt) }
  return { startError: { message: text, at: isoTime(at), ...next }, trouble: text }
}

function usageToJson({ calls, errors, lastUsedAt }: AgentUsage = { calls: 0, errors: 0 }) {
  return { calls, errors, ...(lastUsedAt === undefined ? {} : { lastUsedAt: isoTime(lastUsedAt) }) }
}

function retryToJson({ state, nextTryAt, attempts, since }: RetryState) {
  const next = nextTryAt === undefined ? {} : { nextTryAt: isoTime(nextTryAt) }
  return { state, ...next, attempts, since: isoTime(since) }
}

function healthToJson(
  { askedAt, breaker, firstWordMs, state, why, cause }: AgentHealth,
  redact: AgentViewDeps['redact'],
) {
  const redacted = (text: string | undefined) => (text === undefined ? undefined : redact(text))
  return {
    state,
    ...omitUndefined({ why: redacted(why), cause: redacted(cause) }),
    breaker,
    ...omitUndefined({ firstWordMs }),
    ...(askedAt !== undefined ? { askedAt: isoTime(askedAt) } : {}),
  }
}

function driftToJson(state: CardState | undefined): 'changed' | 'blocked' | undefined {
  if (state?.changed === undefined) return undefined
  return state.policy === 'block' ? 'blocked' : 'changed'
}
