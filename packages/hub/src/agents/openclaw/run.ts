/**
 * One turn over the WebSocket: sends it, reports its events, finds it again after a lost connection or a restart, and stops
 * it when the task is canceled.
 */
import type { AgentLog, Report, Turn } from '@parley/a2a'
import { createGrowingAnswer } from './growing-answer.ts'
import { createApprovalPrompter } from './approval-prompter.ts'
import type { OpenClawEntry } from './entry.ts'
import type { RunOutcome } from './run-outcome.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { OpenClawConnection } from './gateway/connection.ts'
import { answerArtifactId, type RunPlan } from './run-plan.ts'
import { isConnectionLost, waitForEnd, waitForSession, findRunStatus, sendRun, type RunStatus } from './run-status.ts'
import { createRunEventQueue, type RunEvent } from './run-events.ts'
import type { GatewayFields } from './gateway/frames.ts'
import { isCanceledOrTimedOut } from '../timeouts.ts'
import { stopRun } from './stop-run.ts'
import { reportEvent, reportOutcome, loggedAnswer } from './run-reports.ts'

export interface OpenClawTimes {
  /** How long a restarted gateway may leave a turn idle before it counts as lost. */
  readonly idleMs: number
  /** Polling interval. */
  readonly everyMs: number
}

export interface RunDeps {
  readonly turn: Turn
  readonly plan: RunPlan
  readonly entry: OpenClawEntry
  readonly gateway: Gateway
  readonly log: AgentLog
  /** Builds the request when it is needed: a turn that is already running does not send it. */
  readonly request: (connection: OpenClawConnection) => Promise<GatewayFields>
  /** Sent to the gateway, so that its spans join the trace of the turn. */
  readonly traceparent: string
  readonly times: OpenClawTimes
  /** Called when the turn has ended, as far as known also at the gateway. */
  readonly leave: () => void
}

/** `middle`: the turn was started by an earlier process. */
export type RunStart = 'start' | 'middle'

export async function* followRun(deps: RunDeps, from: RunStart): AsyncGenerator<Report, void, void> {
  const { turn, entry, gateway } = deps
  let { plan } = deps
  const events = createRunEventQueue(plan.key, entry.toolCalls, turn.signal)
  const answer = createGrowingAnswer(
    answerArtifactId(plan.turn),
    from === 'middle' ? loggedAnswer(turn, plan) : undefined,
  )
  const approvalPrompter = createApprovalPrompter({ ...deps, events, remember: (approvals) => remember({ approvals }) })
  const stopListening = gateway.listen({ sessionKey: plan.sessionKey, runId: plan.key }, events.listener)
  let isOver = false
  let stopping: Promise<void> | undefined
  turn.signal.addEventListener('abort', stopOnAbort, { once: true })
  let polling = new AbortController()
  try {
    let runStatus = from === 'start' ? await startRun(await gateway.connection(turn.signal)) : await recover()
    for (;;) {
      if (runStatus.at === 'end') {
        isOver = true
        yield* reportOutcome(deps, runStatus.outcome, answer, events)
        return
      }
      const runEvent = await events.next()
      if ('lost' in runEvent) runStatus = await recover()
      else if ('isUnsent' in runEvent) runStatus = await startRun(await gateway.nextConnection(turn.signal))
      else if ('outcome' in runEvent) runStatus = statusAfter(runStatus, runEvent.outcome)
      else if ('chatOutcome' in runEvent) runStatus = await chatEnded(runStatus, runEvent)
      else yield* reportEvent(runEvent, answer, approvalPrompter)
    }
  } finally {
    isOver ||= stopping === undefined
    polling.abort()
    stopListening()
    turn.signal.removeEventListener('abort', stopOnAbort)
    void Promise.resolve(stopping).finally(deps.leave)
  }

  function stopOnAbort(): void {
    // If only this hub shuts down, the run continues.
    if (isOver || !isCanceledOrTimedOut(turn.signal)) return
    const runId = (): string => events.runId()
    stopping = stopRun({ gateway, sessionKey: plan.sessionKey, runId, isOver: () => isOver, log: deps.log })
  }

  async function remember(change: Partial<RunPlan>): Promise<void> {
    plan = { ...plan, ...change }
    await turn.checkpoint(plan)
  }

  async function startRun(connection: OpenClawConnection): Promise<RunStatus> {
    const { bootId } = connection.hello
    if (bootId !== plan.bootId) await remember({ bootId })
    const onEnd = (outcome: RunOutcome): void => events.push({ outcome })
    const params = await deps.request(connection)
    try {
      const { traceparent, log } = deps
      return await watchRun(
        connection,
        await sendRun({ connection, plan, params, traceparent, onEnd, signal: turn.signal, log }),
      )
    } catch (reason) {
      // It is unknown whether the request arrived.
      if (!isConnectionLost(reason)) throw reason
      return recover()
    }
  }

  /** Finds out what became of the run, as soon as the gateway is connected. */
  async function recover(): Promise<RunStatus> {
    for (;;) {
      polling.abort()
      const connection = await gateway.nextConnection(turn.signal)
      try {
        const found = await findRunStatus(connection, plan)
        if (found.at === 'nowhere') return await startRun(connection)
        await approvalPrompter.recoverPending(connection)
        return await watchRun(connection, found)
      } catch (reason) {
        if (!isConnectionLost(reason)) throw reason
      }
    }
  }

  /** Listens or polls, depending on the status. */
  async function watchRun(connection: OpenClawConnection, runStatus: RunStatus): Promise<RunStatus> {
    polling.abort()
    polling = new AbortController()
    const pollParts = { connection, plan, signal: polling.signal, ...deps.times }
    if (runStatus.at === 'begun') events.readFrom('items')
    if (runStatus.at === 'found') {
      events.readFrom('chat')
      // Only if it continues the reported text: the gateway may have shortened it.
      if (runStatus.text?.startsWith(answer.text()) === true) events.push({ text: runStatus.text })
      pushOutcome(waitForEnd(pollParts))
    }
    if (runStatus.at === 'session') {
      events.readFrom(runStatus.streams ? 'session' : 'none')
      pushOutcome(waitForSession(pollParts))
    }
    return runStatus
  }

  /** A lost connection is reported separately. */
  function pushOutcome(outcome: Promise<RunOutcome | undefined>): void {
    const { signal } = polling
    outcome.then(
      (one) => signal.aborted || events.push(one === undefined ? { isUnsent: true } : { outcome: one }),
      (cause: unknown) => signal.aborted || isConnectionLost(cause) || events.push({ lost: String(cause) }),
    )
  }

  async function chatEnded(runStatus: RunStatus, { chatOutcome, isOfRun }: ChatOutcome): Promise<RunStatus> {
    // The second response of `agent` has more detail, and a session does not end with one of its runs.
    if (runStatus.at === 'session' || (runStatus.at === 'begun' && plan.method === 'agent')) return runStatus
    const wasQueued = !isOfRun && chatOutcome.kind === 'done' && chatOutcome.text === ''
    return wasQueued
      ? watchRun(await gateway.nextConnection(turn.signal), { at: 'session', streams: false })
      : statusAfter(runStatus, chatOutcome)
  }
}

type ChatOutcome = Extract<RunEvent, { readonly chatOutcome: unknown }>

/** A gateway that shuts down announces it; the fate of the run is queried after its restart. */
function statusAfter(runStatus: RunStatus, outcome: RunOutcome): RunStatus {
  return outcome.kind === 'interrupted' ? runStatus : { at: 'end', outcome }
}
