/**
 * One turn over the WebSocket: sends it, reports its events, finds it again after a lost connection or a restart, and stops
 * it when the task is canceled.
 */
import { fail, file, status, type AgentLog, type Report, type Turn, A2AError } from '@parley/a2a'
import { createGrowingAnswer, isSameText, type GrowingAnswer } from './growing-answer.ts'
import { createApprovalPrompter, type ApprovalPrompter } from './approval-prompter.ts'
import type { OpenClawEntry } from './entry.ts'
import type { RunOutcome } from './run-outcome.ts'
import type { Gateway } from './gateway/gateway.ts'
import type { OpenClawConnection } from './gateway/connection.ts'
import { answerArtifactId, type RunPlan } from './run-plan.ts'
import { isConnectionLost, waitForEnd, waitForSession, findRunStatus, sendRun, type RunStatus } from './run-status.ts'
import { createRunEventQueue, type RunEvent, type RunEventQueue } from './run-events.ts'
import type { GatewayFields } from './gateway/frames.ts'
import { abortableSleep, isCanceledOrTimedOut } from '../timeouts.ts'
import { textOfParts } from '../part-reader.ts'

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

async function* reportEvent(
  runEvent: RunEvent,
  answer: GrowingAnswer,
  approvalPrompter: ApprovalPrompter,
): AsyncGenerator<Report, void, void> {
  if ('text' in runEvent) {
    const report = answer.update(runEvent.text, runEvent.warning)
    if (report !== undefined) yield report
  } else if ('adopted' in runEvent) {
    answer.restart()
    yield status('The OpenClaw gateway was restarted and has resumed the task')
  } else if ('report' in runEvent) yield runEvent.report
  else yield* approvalPrompter.handle(runEvent)
}

async function* reportOutcome(
  deps: RunDeps,
  outcome: RunOutcome,
  answer: GrowingAnswer,
  events: RunEventQueue,
): AsyncGenerator<Report, void, void> {
  const { log, plan } = deps
  if (outcome.kind === 'late') return yield fail('The agent did not finish in time')
  if (outcome.kind === 'stopped' || outcome.kind === 'interrupted') {
    return yield { state: 'TASK_STATE_CANCELED', message: 'The run was stopped at the OpenClaw gateway' }
  }
  if (outcome.kind === 'failed') {
    log.warn('a run failed at the OpenClaw gateway', { runId: plan.key, cause: outcome.cause })
    return yield fail(outcome.said)
  }
  const whole = finalAnswerText(outcome.text, answer, events)
  if (!isSameText(whole, answer.text())) {
    const report = answer.update(whole)
    if (report !== undefined) yield report
  }
  const last = answer.close()
  if (last !== undefined) yield last
  for (const url of outcome.media.filter(isShown)) yield file(url)
  if (outcome.usage !== undefined) yield { state: 'TASK_STATE_COMPLETED', metadata: { usage: outcome.usage } }
}

/** The end may contain the whole text or only the last item. */
function finalAnswerText(final: string, answer: GrowingAnswer, events: RunEventQueue): string {
  const said = answer.text()
  if (final.trim() === '' || said.trim().endsWith(final.trim())) return said
  return final.startsWith(said) ? final : events.finalText(final)
}

/** Files of the gateway's machine are not shown to callers. */
function isShown(url: string): boolean {
  return /^https:\/\//i.test(url)
}

function loggedAnswer({ resumed }: Turn, { turn }: RunPlan): string | undefined {
  const artifact = resumed?.task.artifacts?.find(({ artifactId }) => artifactId === answerArtifactId(turn))
  return artifact === undefined ? undefined : textOfParts(artifact.parts, '')
}

interface StopRunDeps {
  readonly gateway: Gateway
  readonly sessionKey: string
  readonly runId: () => string
  readonly isOver: () => boolean
  readonly log: AgentLog
}

/** How long to wait for a disconnected gateway before the run is left alone. */
const stopTimeoutMs = 30_000
/** The gateway may not know a run yet that was just sent. */
const maxAttempts = 10
const retryDelayMs = 300

async function stopRun(deps: StopRunDeps): Promise<void> {
  const signal = AbortSignal.timeout(stopTimeoutMs)
  try {
    for (let attempt = 1; attempt <= maxAttempts && !deps.isOver(); attempt += 1) {
      if (await isStopped(deps, signal)) return
      await abortableSleep(retryDelayMs, signal)
    }
  } catch (cause) {
    const isClosed = cause instanceof A2AError && cause.code === 'UNAVAILABLE'
    const level = isClosed ? 'debug' : 'warn'
    deps.log[level]('a run could not be stopped at the OpenClaw gateway', { cause })
  }
}

async function isStopped({ gateway, sessionKey, runId, log }: StopRunDeps, signal: AbortSignal): Promise<boolean> {
  const connection = await gateway.nextConnection(signal)
  try {
    const answer = await connection.request('chat.abort', { sessionKey, runId: runId() })
    if (!answer.ok) log.warn('the OpenClaw gateway does not stop a run', { ...answer.error })
    return !answer.ok || answer.payload['aborted'] === true
  } catch (reason) {
    if (isConnectionLost(reason)) return false
    throw reason
  }
}
