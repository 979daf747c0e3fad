/**
 * One turn over the WebSocket: asked of the gateway, told as it goes, found again when the connection or this process was
 * lost, stopped when the task is.
 */
import { fail, file, status } from '@parley/a2a'
import type { AgentLog, Report, Turn } from '@parley/a2a'
import { createAnswer, isSameText } from './answer.ts'
import type { Answer } from './answer.ts'
import { createDesk } from './approval-desk.ts'
import type { Desk } from './approval-desk.ts'
import type { OpenclawEntry } from './entry.ts'
import type { Outcome } from './ending.ts'
import type { Gateway } from './gateway.ts'
import type { Line } from './line.ts'
import { answerName } from './plan.ts'
import type { Plan } from './plan.ts'
import { isBrokenOff, waitForEnd, waitForSession } from './poll.ts'
import { findOut, send } from './standing.ts'
import type { Standing } from './standing.ts'
import { isToStop, stopRun } from './stop.ts'
import { createWatch } from './watch.ts'
import type { Happening, Watch } from './watch.ts'
import type { Fields } from './wire.ts'

export interface Times {
  /** How long a gateway that has started anew may leave a turn alone before it counts as lost. */
  readonly idleMs: number
  /** How often it is asked. */
  readonly everyMs: number
}

export interface RunParts {
  readonly turn: Turn
  readonly plan: Plan
  readonly entry: OpenclawEntry
  readonly gateway: Gateway
  readonly log: AgentLog
  /** The request, made when it is needed: a turn that is found under way does not send it. */
  readonly request: (line: Line) => Promise<Fields>
  /** For the gateway, so that what it records fits to the turn. */
  readonly traceparent: string
  readonly times: Times
  /** The turn is over, also at the gateway as far as we can tell. */
  readonly leave: () => void
}

/** A turn that was begun before this process. */
export type RunFrom = 'start' | 'middle'

export async function* followRun(parts: RunParts, from: RunFrom): AsyncGenerator<Report, void, void> {
  const { turn, entry, gateway } = parts
  let { plan } = parts
  const watch = createWatch(plan.key, entry.toolCalls, turn.signal)
  const answer = createAnswer(answerName(plan.turn), from === 'middle' ? saidBefore(turn, plan) : undefined)
  const desk = createDesk({ ...parts, watch, remember: (approvals) => remember({ approvals }) })
  const deaf = gateway.listen({ sessionKey: plan.sessionKey, runId: plan.key }, watch.listener)
  let isOver = false
  let stopping: Promise<void> | undefined
  turn.signal.addEventListener('abort', halt, { once: true })
  let asking = new AbortController()
  try {
    let standing = from === 'start' ? await begin(await gateway.line(turn.signal)) : await recover()
    for (;;) {
      if (standing.at === 'end') {
        isOver = true
        yield* conclude(parts, standing.outcome, answer, watch)
        return
      }
      const happening = await watch.take()
      if ('lost' in happening) standing = await recover()
      else if ('isUnsent' in happening) standing = await begin(await gateway.nextLine(turn.signal))
      else if ('outcome' in happening) standing = ending(standing, happening.outcome)
      else if ('chatOutcome' in happening) standing = await chatEnded(standing, happening)
      else yield* tell(happening, answer, desk)
    }
  } finally {
    isOver ||= stopping === undefined
    asking.abort()
    deaf()
    turn.signal.removeEventListener('abort', halt)
    void Promise.resolve(stopping).finally(parts.leave)
  }

  function halt(): void {
    if (isOver || !isToStop(turn.signal.reason)) return
    const runId = (): string => watch.runId()
    stopping = stopRun({ gateway, sessionKey: plan.sessionKey, runId, isOver: () => isOver, log: parts.log })
  }

  async function remember(change: Partial<Plan>): Promise<void> {
    plan = { ...plan, ...change }
    await turn.checkpoint(plan)
  }

  async function begin(line: Line): Promise<Standing> {
    const { bootId } = line.hello
    if (bootId !== plan.bootId) await remember({ bootId })
    const onEnd = (outcome: Outcome): void => watch.put({ outcome })
    const params = await parts.request(line)
    try {
      const { traceparent, log } = parts
      return await settled(line, await send({ line, plan, params, traceparent, onEnd, signal: turn.signal, log }))
    } catch (reason) {
      // Whether it arrived is to be found out.
      if (!isBrokenOff(reason)) throw reason
      return recover()
    }
  }

  /** What became of it, as soon as the gateway can be asked. */
  async function recover(): Promise<Standing> {
    for (;;) {
      asking.abort()
      const line = await gateway.nextLine(turn.signal)
      try {
        const found = await findOut(line, plan)
        if (found.at === 'nowhere') return await begin(line)
        await desk.lookForOpen(line)
        return await settled(line, found)
      } catch (reason) {
        if (!isBrokenOff(reason)) throw reason
      }
    }
  }

  /** Listens, and asks, as the standing needs it. */
  async function settled(line: Line, standing: Standing): Promise<Standing> {
    asking.abort()
    asking = new AbortController()
    const pollParts = { line, plan, signal: asking.signal, ...parts.times }
    if (standing.at === 'begun') watch.readFrom('items')
    if (standing.at === 'found') {
      watch.readFrom('chat')
      // Only if it goes on from what was said: the gateway may have shortened it.
      if (standing.text?.startsWith(answer.text()) === true) watch.put({ text: standing.text })
      hear(waitForEnd(pollParts))
    }
    if (standing.at === 'session') {
      watch.readFrom(standing.streams ? 'session' : 'none')
      hear(waitForSession(pollParts))
    }
    return standing
  }

  /** A connection that breaks is told of by itself. */
  function hear(outcome: Promise<Outcome | undefined>): void {
    const { signal } = asking
    outcome.then(
      (one) => signal.aborted || watch.put(one === undefined ? { isUnsent: true } : { outcome: one }),
      (cause: unknown) => signal.aborted || isBrokenOff(cause) || watch.put({ lost: String(cause) }),
    )
  }

  async function chatEnded(standing: Standing, { chatOutcome, isOfRun }: ChatOutcome): Promise<Standing> {
    // The second answer of `agent` says more, and a session is not over with one of its runs.
    if (standing.at === 'session' || (standing.at === 'begun' && plan.method === 'agent')) return standing
    const wasQueued = !isOfRun && chatOutcome.kind === 'done' && chatOutcome.text === ''
    return wasQueued
      ? settled(await gateway.nextLine(turn.signal), { at: 'session', streams: false })
      : ending(standing, chatOutcome)
  }
}

type ChatOutcome = Extract<Happening, { readonly chatOutcome: unknown }>

/** A gateway that goes down says so; what becomes of the run is asked when it is back. */
function ending(standing: Standing, outcome: Outcome): Standing {
  return outcome.kind === 'interrupted' ? standing : { at: 'end', outcome }
}

async function* tell(happening: Happening, answer: Answer, desk: Desk): AsyncGenerator<Report, void, void> {
  if ('text' in happening) {
    const report = answer.become(happening.text, happening.warning)
    if (report !== undefined) yield report
  } else if ('adopted' in happening) {
    answer.restart()
    yield status('The OpenClaw gateway was restarted, and has taken the task up again')
  } else if ('report' in happening) yield happening.report
  else yield* desk.take(happening)
}

async function* conclude(
  parts: RunParts,
  outcome: Outcome,
  answer: Answer,
  watch: Watch,
): AsyncGenerator<Report, void, void> {
  const { log, plan } = parts
  if (outcome.kind === 'late') return yield fail('The agent did not finish in time')
  if (outcome.kind === 'stopped' || outcome.kind === 'interrupted') {
    return yield { state: 'TASK_STATE_CANCELED', message: 'The run was stopped at the OpenClaw gateway' }
  }
  if (outcome.kind === 'failed') {
    log.warn('a run failed at the OpenClaw gateway', { runId: plan.key, cause: outcome.cause })
    return yield fail(outcome.said)
  }
  const whole = wholeOf(outcome.text, answer, watch)
  if (!isSameText(whole, answer.text())) {
    const report = answer.become(whole)
    if (report !== undefined) yield report
  }
  const last = answer.close()
  if (last !== undefined) yield last
  for (const url of outcome.media.filter(isShown)) yield file(url)
  if (outcome.usage !== undefined) yield { state: 'TASK_STATE_COMPLETED', metadata: { usage: outcome.usage } }
}

/** The end may tell all, or only what was said last. */
function wholeOf(final: string, answer: Answer, watch: Watch): string {
  const said = answer.text()
  if (final.trim() === '' || said.trim().endsWith(final.trim())) return said
  return final.startsWith(said) ? final : watch.concluded(final)
}

/** Files of the gateway's machine are not for callers. */
function isShown(url: string): boolean {
  return /^https:\/\//i.test(url)
}

function saidBefore({ resumed }: Turn, { turn }: Plan): string | undefined {
  const artifact = resumed?.task.artifacts?.find(({ artifactId }) => artifactId === answerName(turn))
  return artifact?.parts.map((part) => ('text' in part ? part.text : '')).join('')
}
