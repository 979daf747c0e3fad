/**
 * What happens without a call: tasks that somebody died over are taken up again, due
 * times come, leases are prolonged, old tasks go. All of it is found in the store, so a
 * process that starts finds what one that died has left.
 */
import { isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { DueTime, Store, TaskRow } from '../stores/store.ts'
import type { AgentEntry, EngineLog, EngineRetention } from './contract.ts'
import { viewOf } from './fold.ts'
import type { Live } from './live.ts'
import type { Registry } from './registry.ts'
import { agentMessage } from './report.ts'
import type { TurnInput } from './active-turn.ts'
import type { Run } from './run.ts'
import { nextTurn } from './run.ts'
import * as steps from './steps.ts'

export interface RecoverParts {
  readonly store: Store
  readonly registry: Registry
  readonly holder: string
  readonly log: EngineLog
  readonly retention: EngineRetention | undefined
  now(): number
  agent(name: string): AgentEntry | undefined
  runOf(live: Live): Run | undefined
  startRun(live: Live, entry: AgentEntry, input: TurnInput): Run
}

const batch = 100

export function createRecovery(parts: RecoverParts) {
  const { store, registry, log } = parts
  /** Tasks that a failing store made us let go of while the lease was ours. */
  const lost = new Map<string, number>()

  return {
    /** Takes up every task that is nobody's. */
    async takeUpOrphans(): Promise<void> {
      for (;;) {
        const orphans = await store.claimOrphans(parts.holder, parts.now(), store.leaseTtlMs, batch)
        for (const { task, fence } of orphans) await takeUp(task, fence)
        if (orphans.length < batch) return
      }
    },
    /** Remembers a task that could not be written: it is taken up when the store answers again. */
    remember(taskId: string, fence: number): void {
      lost.set(taskId, fence)
    },
    async retryLost(): Promise<void> {
      for (const [taskId, fence] of lost) {
        const row = await store.load(taskId)
        lost.delete(taskId)
        if (row !== undefined && !isTerminal(row.status.state)) await takeUp(row, fence)
      }
    },
    async actOnDue(): Promise<void> {
      for (;;) {
        const due = await store.claimDue(parts.now(), batch)
        for (const { task, due: time } of due) await expire(task, time)
        if (due.length < batch) return
      }
    },
    async prune(): Promise<void> {
      const { retention } = parts
      if (retention === undefined) return
      const { finishedMs, maxTasks, logMs } = retention
      const now = parts.now()
      for (;;) {
        const removed = await store.prune({
          ...(finishedMs !== undefined ? { finishedBefore: now - finishedMs } : {}),
          ...(maxTasks !== undefined ? { maxTasks } : {}),
          ...(logMs !== undefined ? { logBefore: now - logMs } : {}),
          batch,
        })
        if (removed < batch) return
      }
    },
    async renewLeases(held: readonly Live[]): Promise<void> {
      const ids = held.map(({ id }) => id)
      const gone = await store.renew(parts.holder, ids, parts.now() + store.leaseTtlMs)
      for (const live of held) if (gone.includes(live.id)) live.abandon(new Error('the lease was lost'))
    },
  }

  async function takeUp(row: TaskRow, fence: number): Promise<void> {
    const live = await registry.adopt(row, fence)
    const { fold } = live
    const entry = parts.agent(row.agent)
    log.info('taking up a task that was interrupted', { taskId: row.id, agent: row.agent, state: fold.status.state })
    if (fold.cancelRequested) return end(live, 'TASK_STATE_CANCELED', undefined)
    if (entry === undefined) return end(live, 'TASK_STATE_FAILED', 'The agent is no longer served here')
    const input = resumedTurn(live, entry)
    if (input === undefined) return end(live, 'TASK_STATE_FAILED', 'The task was interrupted by a restart')
    parts.startRun(live, entry, input)
  }

  async function end(live: Live, state: TaskState, text: string | undefined): Promise<void> {
    const message = text === undefined ? {} : { message: agentMessage(text, live.fold) }
    await live.write(steps.endTask(live.fold.turn, { state, ...message, note: 'interrupted by a restart' }))
  }

  async function expire(row: TaskRow, due: DueTime): Promise<void> {
    const live = await registry.find(row.id)
    if (live === undefined) return
    const run = parts.runOf(live)
    if (due.kind === 'input') return expireInput(live, run)
    if (run !== undefined) return run.expire()
    const message = agentMessage('Task timed out', live.fold)
    await live.write(steps.endTask(live.fold.turn, { state: 'TASK_STATE_FAILED', message }))
  }

  async function expireInput(live: Live, run: Run | undefined): Promise<void> {
    const entry = parts.agent(live.partition.agent)
    const timeout = entry?.options.inputTimeout
    if (entry !== undefined && timeout?.then === 'continue') {
      if (run?.answerNothing() !== true) continueWithoutInput(live, entry)
      return
    }
    const metadata = { reason: 'INPUT_TIMEOUT', timeoutSeconds: Math.round((timeout?.afterMs ?? 0) / 1_000) }
    const message = agentMessage('Input timeout', live.fold)
    await live.write(steps.expireInput(live.fold.turn, { state: 'TASK_STATE_FAILED', message, metadata }))
    if (isTerminal(live.fold.status.state)) run?.stop(undefined)
  }

  /** The next turn gets an empty message that says why. */
  function continueWithoutInput(live: Live, entry: AgentEntry): void {
    const { fold } = live
    if (isTerminal(fold.status.state) || parts.runOf(live) !== undefined) return
    const notice = { messageId: `${live.id}:input-timeout`, role: 'ROLE_USER', parts: [{ text: '' }] } as const
    parts.startRun(live, entry, {
      message: { ...notice, taskId: live.id, contextId: fold.contextId, metadata: { reason: 'INPUT_TIMEOUT' } },
      options: {},
      turn: fold.turn + 1,
      attempt: 1,
      consumedSeq: fold.consumedSeq,
    })
  }
}

/** How an interrupted task goes on, as its agent declares; nothing if it cannot. */
function resumedTurn(live: Live, { agent }: AgentEntry): TurnInput | undefined {
  const { fold } = live
  const isIdle = fold.status.state !== 'TASK_STATE_WORKING' && fold.status.state !== 'TASK_STATE_SUBMITTED'
  const isAsking = fold.questions.some(({ answer }) => answer === undefined)
  // The last turn had ended: a message came and its turn had not begun. Nothing was interrupted.
  if (isIdle && !isAsking) return nextTurn(live)
  if (typeof agent === 'function' || agent.resume === 'fail') return undefined
  const record = fold.current
  if (record?.body.type !== 'message') return nextTurn(live)
  const attempt = fold.attempt + 1
  const { checkpoint } = fold
  return {
    message: record.body.message,
    options: record.body.options ?? {},
    turn: fold.turn,
    attempt,
    consumedSeq: fold.consumedSeq,
    resumed: { attempt, ...(checkpoint !== undefined ? { checkpoint } : {}), task: viewOf(fold) },
    ...(agent.resume === 'reattach' ? { reattach: true } : {}),
  }
}
