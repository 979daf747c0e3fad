/**
 * What happens without a call: tasks that somebody died over are taken up again, due
 * times come, leases are prolonged, old tasks go. All of it is found in the store, so a
 * process that starts finds what one that died has left.
 */
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { DueTime, Store, TaskRow } from '../stores/store.ts'
import { tellAbandoned } from './abandon.ts'
import type { AgentEntry, EngineLog, EngineRetention } from './contract.ts'
import type { Fold } from './fold.ts'
import { noAnswer, viewOf } from './fold.ts'
import type { Live } from './live.ts'
import type { Registry } from './registry.ts'
import { agentMessage } from './report.ts'
import type { TurnInput } from './turn-input.ts'
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
  /** Tasks that a failing store made us let go of. */
  const lost = new Set<string>()
  const shared = Number.isFinite(store.leaseTtlMs)

  return {
    /** Takes up every task that is nobody's. */
    async takeUpOrphans(): Promise<void> {
      for (;;) {
        const orphans = await store.claimOrphans(parts.holder, parts.now(), store.leaseTtlMs, batch)
        // All at once: their first appends share a commit.
        await Promise.all(
          orphans.map(async ({ task, fence }) => {
            stopStale(task.id, fence)
            await takeUp(task.id, async (live) => live.hold(fence))
          }),
        )
        if (orphans.length < batch) return
      }
    },
    remember,
    async retryLost(): Promise<void> {
      const found = [...lost]
      lost.clear()
      await Promise.all(found.map((taskId) => takeUp(taskId, takeLease)))
    },
    resume,
    expireInput: (live: Live) => expireInput(live).catch(comesAgain(live.id)),
    async actOnDue(): Promise<void> {
      for (;;) {
        const due = await store.claimDue(parts.now(), batch)
        await Promise.all(due.map(({ task, due: time }) => expire(task, time).catch(comesAgain(task.id))))
        if (due.length < batch) return
      }
    },
    async prune(): Promise<void> {
      // Also without any rule of our own: claims on messages expire.
      const { finishedMs, maxTasks, logMs } = parts.retention ?? {}
      const now = parts.now()
      for (;;) {
        const removed = await store.prune({
          ...(finishedMs !== undefined ? { finishedBefore: now - finishedMs } : {}),
          ...(maxTasks !== undefined ? { maxTasks } : {}),
          ...(logMs !== undefined ? { logBefore: now - logMs } : {}),
          batch,
        })
        if (removed > 0) registry.forgetFinished()
        if (removed < batch) return
      }
    },
    /** Where others could go on at once, they need not wait until our leases run out. */
    async giveUp(lives: readonly Live[]): Promise<void> {
      const held = lives.filter(({ owned }) => owned)
      if (!shared || held.length === 0) return
      const ids = held.map(({ id }) => id)
      for (const live of held) live.letGo()
      await store.renew(parts.holder, ids, parts.now()).catch((cause: unknown) => {
        log.warn('leases could not be given back; they run out by themselves', { tasks: ids.length, cause })
      })
    },
    async renewLeases(lives: readonly Live[]): Promise<void> {
      const held = new Map(lives.flatMap((live) => (live.fence === undefined ? [] : [[live, live.fence]])))
      if (held.size === 0) return
      const ids = [...held.keys()].map(({ id }) => id)
      const gone = new Set(await store.renew(parts.holder, ids, parts.now() + store.leaseTtlMs))
      for (const [live, fence] of held) if (gone.has(live.id)) void loseUnlessGivenBack(live, fence)
      await giveBackVain([...held].filter(([live]) => !gone.has(live.id) && live.broken !== undefined))
    },
  }

  /**
   * One that was given back meanwhile, or taken anew, is not lost. What is being written now may have given it back, and
   * only its answer is still on the way: if it was lost instead, that answer says so too.
   */
  async function loseUnlessGivenBack(live: Live, fence: number): Promise<void> {
    await live.flushed()
    if (live.fence === fence) live.loseLease()
  }

  /**
   * Given up here while the store took its time to prolong them: nobody works on them, so the next may at once. By fence,
   * because the next may be ourselves: what was taken up again since then is not given back.
   */
  async function giveBackVain(vain: readonly (readonly [Live, number])[]): Promise<void> {
    if (vain.length === 0) return
    const ids = vain.map(([{ id }]) => id)
    const fences = vain.map(([, fence]) => fence)
    await store.renew(parts.holder, ids, parts.now(), fences)
  }

  /** What was claimed and could not be done is due again in a while: the store sees to that. */
  function comesAgain(taskId: string): (cause: unknown) => void {
    return (cause) => log.warn('a due time could not be acted on; it will come again', { taskId, cause })
  }

  /**
   * Remembers a task that could not be read or written: it is taken up when the store answers again. Where a lease
   * runs out by itself nothing is remembered: the task is found as an orphan.
   */
  function remember(taskId: string): void {
    if (!shared) lost.add(taskId)
  }

  /** A lease of our own that ran out before we noticed: whoever works on under it could write nothing any more. */
  function stopStale(taskId: string, fence: number): void {
    const live = registry.known(taskId)
    if ((live?.fence ?? fence) < fence) live?.loseLease()
  }

  async function takeUp(taskId: string, lease: (live: Live) => Promise<unknown>): Promise<void> {
    try {
      const live = await registry.find(taskId)
      // A message may have come first, and with it the lease.
      if (live === undefined || live.owned || isTerminal(live.fold.status.state)) return
      await lease(live)
      if (live.owned) await resume(live)
    } catch (cause) {
      log.warn('a task could not be taken up; it will be tried again', { taskId, cause })
      remember(taskId)
    }
  }

  /** What the last append did is not known, nor under which fence: a new one is had for the asking, being the same holder. */
  async function takeLease(live: Live): Promise<void> {
    if (isLeftAlone(live.fold)) await live.write(steps.takeLease)
  }

  /** Goes on with a task that is ours, unless somebody already does: the lease can come by two ways at once. */
  async function resume(live: Live): Promise<void> {
    if (parts.runOf(live) !== undefined) return
    const { fold } = live
    const { agent } = live.partition
    const entry = parts.agent(agent)
    if (isInterruptedTurn(fold))
      log.info('taking up a turn that was interrupted', { taskId: live.id, agent, turn: fold.turn })
    if (fold.cancelRequested) return end(live, 'TASK_STATE_CANCELED', undefined)
    if (entry === undefined) return end(live, 'TASK_STATE_FAILED', 'The agent is no longer served here')
    const input = resumedTurn(live, entry)
    if (input === undefined) return end(live, 'TASK_STATE_FAILED', 'The task was interrupted by a restart')
    parts.startRun(live, entry, input)
  }

  async function end(live: Live, state: TaskState, text: string | undefined): Promise<void> {
    const message = text === undefined ? {} : { message: agentMessage(text, live.fold) }
    const ending = { state, ...message, note: 'interrupted by a restart' }
    abandoned(live, await live.write(steps.endTask(live.fold.turn, ending)))
  }

  /** If it was for us to end it. */
  function abandoned(live: Live, written: unknown): void {
    if (written !== undefined) tellAbandoned(live, parts.agent(live.partition.agent), log)
  }

  async function expire(row: TaskRow, due: DueTime): Promise<void> {
    const live = await registry.find(row.id)
    if (live === undefined) return
    const run = parts.runOf(live)
    // It runs here, where its own timers end it: they know how long it took, whatever the wall clock was set to.
    if (run !== undefined) {
      if (run.isOver()) run.expire()
      else if (run.isInputOver() && !hasMovedOn(live.fold, row, due)) await expireInput(live)
      return
    }
    const { turn, deadlineAt = Infinity } = live.fold
    const isLate = deadlineAt <= parts.now()
    if (!isLate && hasMovedOn(live.fold, row, due)) return
    if (await runsElsewhere(live)) return
    if (!isLate && due.kind === 'input') return expireInput(live)
    const message = agentMessage('Task timed out', live.fold)
    const ending = { state: 'TASK_STATE_FAILED', message } as const
    const end = isLate ? steps.endTask(turn, ending) : steps.expireTurn(row.consumedSeq, turn, ending)
    abandoned(live, await live.write(end))
  }

  /**
   * Whether another process works on it, with timers of its own: then the task is left to them, because our clock may have
   * been set. A task that waits for a message between two turns is not leased.
   */
  async function runsElsewhere(live: Live): Promise<boolean> {
    if (!shared || live.owned || !isLeftAlone(live.fold)) return false
    await live.write(steps.takeLease)
    return !live.owned
  }

  async function expireInput(live: Live): Promise<void> {
    const { fold } = live
    const entry = parts.agent(live.partition.agent)
    const timeout = entry?.options.inputTimeout
    if (entry !== undefined && timeout?.then === 'continue') return continueWithoutInput(live, entry)
    const metadata = { reason: 'INPUT_TIMEOUT', timeoutSeconds: Math.round((timeout?.afterMs ?? 0) / 1_000) }
    const message = agentMessage('Input timeout', fold)
    const ending = { state: 'TASK_STATE_FAILED', message, metadata } as const
    const run = parts.runOf(live)
    const written = await live.write(steps.expireInput({ statusSeq: fold.statusSeq }, fold.turn, ending))
    // Who asked in the middle of a turn has a signal to hear it by.
    if (run === undefined) abandoned(live, written)
  }

  /** A question in the middle of a turn is left unanswered, wherever that turn runs; else the next turn begins. */
  async function continueWithoutInput(live: Live, entry: AgentEntry): Promise<void> {
    const { turn, statusSeq } = live.fold
    const message = agentMessage('No answer came in time; going on without one', live.fold)
    const question = openQuestion(live.fold)
    if (question !== undefined) {
      await live.write(steps.leaveUnanswered({ statusSeq }, question, message, entry.options))
      return
    }
    const next = withoutInput(live.fold, { turn: turn + 1, attempt: 1 })
    const written = await live.write(steps.startUnanswered({ statusSeq }, next, message, entry.options))
    if (written !== undefined) parts.startRun(live, entry, { ...next, started: true })
  }
}

/** Whether the task has gone on since its due time was claimed: then another time holds for it, or none. */
function hasMovedOn(fold: Fold, row: TaskRow, { kind }: DueTime): boolean {
  return kind === 'input' ? fold.status.timestamp !== row.status.timestamp : fold.consumedSeq !== row.consumedSeq
}

function openQuestion({ questions }: Fold): string | undefined {
  // The last: a turn that was run again may have left one of before unanswered and asked anew.
  return questions.findLast(({ answer }) => answer === undefined)?.id
}

function withoutInput(fold: Fold, start: steps.TurnStart): TurnInput {
  return { ...start, message: noAnswer(fold), options: {}, consumedSeq: fold.consumedSeq }
}

/** A turn began and did not end: it is not over, and does not wait for the message that starts the next. */
function isInterruptedTurn(fold: Fold): boolean {
  return fold.running && !(isInterrupted(fold.status.state) && openQuestion(fold) === undefined)
}

/** There is something to do, and nobody who does it. */
function isLeftAlone(fold: Fold): boolean {
  return isInterruptedTurn(fold) || fold.waiting.length > 0
}

/** How an interrupted task goes on, as its agent declares; nothing if it cannot. */
function resumedTurn(live: Live, { agent }: AgentEntry): TurnInput | undefined {
  const { fold } = live
  // A message came and its turn had not begun: nothing was interrupted.
  if (!isInterruptedTurn(fold)) return nextTurn(live)
  if (typeof agent === 'function' || agent.resume === 'fail') return undefined
  const { turn, checkpoint, reports, current } = fold
  const attempt = fold.attempt + 1
  const taken = current?.body.type === 'message' ? current.body : undefined
  return {
    ...withoutInput(fold, { turn, attempt }),
    ...(taken !== undefined ? { message: taken.message, options: taken.options ?? {} } : {}),
    resumed: { attempt, ...(checkpoint !== undefined ? { checkpoint } : {}), reports, task: viewOf(fold) },
    ...(agent.resume === 'reattach' ? { reattach: true } : {}),
  }
}
