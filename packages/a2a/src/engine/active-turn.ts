/**
 * One turn: the agent is called, what it says is written as it says it, and what it
 * asks of its turn (a checkpoint, a question) is done for it. It ends with an `Ending`,
 * which the run writes.
 */
import type { AgentFunction, AgentMessage, AskOptions, Resumed } from '../agents/agent.ts'
import type { Caller } from '../model/caller.ts'
import { A2AError } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type { LogRecord, TurnOptions } from '../model/record.ts'
import { isTerminal } from '../model/state.ts'
import type { Json, Message, Task } from '../model/task.ts'
import type { IdempotencyKey } from '../stores/store.ts'
import type { AgentEntry, EngineLog } from './contract.ts'
import { viewOf } from './fold.ts'
import type { Live } from './live.ts'
import { openOutput } from './output.ts'
import type { ReportSource } from './output.ts'
import { agentMessage, createInterpreter, endsTurn } from './report.ts'
import type { Said } from './report.ts'
import type { Ending } from './steps.ts'
import * as steps from './steps.ts'
import { createInbox, createStopSignal, createTurn } from './turn.ts'

/** What a turn is about. */
export interface TurnInput {
  readonly message: Message
  readonly options: TurnOptions
  readonly turn: number
  readonly attempt: number
  /** The messages up to here are this turn's. */
  readonly consumedSeq: number
  /** Set for the first turn of a task that is not in the log yet. */
  readonly opening?: { readonly idempotency: IdempotencyKey; readonly atOnce: boolean }
  readonly resumed?: Resumed
  readonly reattach?: true
}

/** How the first message of a task was received. */
export type Opening = { readonly reply: Message } | { readonly submittedSeq: number }

export interface ActiveTurn {
  readonly input: TurnInput
  /** The task is, or is about to be, in the log. */
  readonly begun: boolean
  begin(working: boolean): void
  /** Resolves with how the turn ends, or with nothing when it was stopped or answered without a task. */
  listen(): Promise<Ending | undefined>
  /** A message came for this task. */
  received(record: LogRecord): void
  answerNothing(): boolean
  /** Asks the agent to stop. */
  abort(reason: unknown): void
  /** The turn is over: timers and waiting ones go. With a reason, the agent is told. */
  end(reason: unknown): void
}

export interface RunParts {
  readonly live: Live
  readonly entry: AgentEntry
  readonly caller: Caller
  readonly log: EngineLog
  conversation(live: Live): Promise<readonly Task[]>
  referenced(live: Live, message: Message): Promise<readonly Task[]>
}

export interface ActiveTurnParts extends RunParts {
  readonly opening: { resolve(opening: Opening): void; reject(reason: unknown): void }
  isStopped(): boolean
  orStop<T>(value: Promise<T>): Promise<T | undefined>
  expire(): void
}

export function startTurn(parts: ActiveTurnParts, input: TurnInput): ActiveTurn {
  const { live, entry, opening, orStop } = parts
  const { options: limits } = entry
  const stopSignal = createStopSignal()
  const inbox = createInbox<Message>()
  const interpreter = createInterpreter(live.fold, input.turn)
  let begun = false
  let asked = 0
  let question: { readonly id: string; readonly answer: PromiseWithResolvers<Message> } | undefined
  let deadline: ReturnType<typeof setTimeout> | undefined
  let opensAt: ReturnType<typeof setTimeout> | undefined

  if (input.opening === undefined || input.opening.atOnce) begin(true)
  else opensAt = setTimeout(() => begin(true), limits.openAfterMs)
  setDeadline()

  const turn = createTurn({
    live,
    message: input.message,
    options: input.options,
    caller: parts.caller,
    resumed: input.resumed,
    log: parts.log,
    messages: inbox.values,
    signal: () => stopSignal.signal(),
    async current() {
      if (!begun) return undefined
      await live.flushed()
      return live.opened ? viewOf(live.fold) : undefined
    },
    conversation: () => parts.conversation(live),
    referenced: () => parts.referenced(live, input.message),
    checkpoint,
    ask,
  })

  return {
    input,
    get begun() {
      return begun
    },
    begin,
    listen,
    received,
    answerNothing,
    abort: stopSignal.abort,
    end,
  }

  /** The task is there from now on, and if `working` says so at work. */
  function begin(working: boolean): void {
    if (begun) return
    begun = true
    clearTimeout(opensAt)
    if (input.opening === undefined) {
      live.post(steps.startTurn(input, input.consumedSeq, limits), 200)
      return
    }
    const intent = steps.open(input.message, input.options, input.opening.idempotency, limits, working)
    live.write(intent).then((seq) => opening.resolve({ submittedSeq: (seq as number) + 1 }), opening.reject)
  }

  function setDeadline(): void {
    // A local timer is exact; the due time in the store covers a process that dies before it.
    if (limits.turnTimeoutMs < 2 ** 31) deadline = setTimeout(parts.expire, limits.turnTimeoutMs)
  }

  async function listen(): Promise<Ending | undefined> {
    try {
      const source = await orStop(openOutput(callAgent()))
      return source === undefined ? undefined : await readReports(source)
    } catch (reason) {
      return parts.isStopped() ? undefined : failed(reason)
    }
  }

  async function callAgent(): Promise<unknown> {
    const { agent } = entry
    const run: AgentFunction = typeof agent === 'function' ? agent : agent.run
    const attach = input.reattach && typeof agent === 'object' && agent.resume === 'reattach'
    return (attach ? agent.reattach : run)(turn)
  }

  async function readReports(source: ReportSource): Promise<Ending | undefined> {
    for (;;) {
      if (live.isFull) await live.flushed()
      const step = parts.isStopped() ? undefined : await orStop(source.next())
      if (parts.isStopped()) {
        source.stop()
        return undefined
      }
      if (step === undefined) break
      const ending = say(interpreter.read(step.report, step.final))
      if (ending !== undefined) {
        source.stop()
        return ending === 'replied' ? undefined : ending
      }
      if (step.final) break
    }
    const last = interpreter.close()
    if (last !== undefined) say(last)
    begin(false)
    return { state: 'TASK_STATE_COMPLETED' }
  }

  /** Writes what was said; answers the ending if it ends the turn. */
  function say(said: Said): Ending | 'replied' | undefined {
    if (said.kind === 'reply') {
      if (begun) return { state: 'TASK_STATE_COMPLETED', message: said.message, explicit: true }
      const { taskId: _, ...message } = said.message
      opening.resolve({ reply: message })
      return 'replied'
    }
    if (said.kind === 'artifact') {
      begin(true)
      live.post(said.body, said.bytes)
      return undefined
    }
    const { state, message, metadata } = said
    begin(false)
    if (!endsTurn(state)) {
      live.post(steps.work(message, metadata), 500)
      return undefined
    }
    const about = { ...(message !== undefined ? { message } : {}), ...(metadata !== undefined ? { metadata } : {}) }
    return { state, ...about, explicit: true }
  }

  function failed(reason: unknown): Ending | undefined {
    const isOurs = reason instanceof A2AError && reason.code !== 'INTERNAL' && reason.code !== 'INVALID_AGENT_RESPONSE'
    // An agent's own protocol error before there is a task is the answer to the call.
    if (!begun && isOurs) {
      opening.reject(reason)
      return undefined
    }
    begin(false)
    parts.log.error('agent failed', { taskId: live.id, agent: live.partition.agent, cause: reason })
    const text = isOurs ? reason.message : 'The agent failed'
    const note = reason instanceof Error ? (reason.stack ?? String(reason)) : String(reason)
    return { state: 'TASK_STATE_FAILED', message: agentMessage(text, live.fold), note }
  }

  async function checkpoint(data: Json): Promise<void> {
    begin(true)
    const body = { type: 'checkpoint', data: structuredClone(data) } as const
    const written = await live.write((draft) => (isTerminal(draft.state) ? undefined : { bodies: [body] }))
    if (written === undefined) throw new A2AError('INTERRUPTED', 'The task has ended')
  }

  async function ask(asking: string | AgentMessage, options: AskOptions): Promise<Message> {
    if (question !== undefined) throw new Error('a question is already open: await its answer first')
    if (parts.isStopped()) throw new A2AError('INTERRUPTED', 'The task has ended')
    const known = live.fold.questions[asked]
    asked += 1
    // A turn that is run again gets the answers it got before, in the same order.
    if (known?.answer !== undefined && input.resumed !== undefined) return known.answer
    begin(true)
    const id = known?.id ?? newId()
    const state = options.auth === true ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
    const { answer } = (question = { id, answer: Promise.withResolvers<Message>() })
    clearTimeout(deadline)
    const asks = { id, turn: input.turn, isNew: known === undefined }
    live.post(steps.askQuestion(state, agentMessage(asking, live.fold), asks, limits), 500)
    // Messages are taken in the order they came: one that already waits is the answer.
    const waiting = live.fold.waiting.find(({ seq }) => seq > input.consumedSeq)
    if (waiting !== undefined) received(waiting)
    return answer.promise
  }

  function received(record: LogRecord): void {
    if (record.body.type !== 'message' || record.seq <= input.consumedSeq) return
    const { message } = record.body
    if (question !== undefined) {
      const { id, answer } = question
      question = undefined
      setDeadline()
      live.write(steps.answerQuestion(id, record.seq, limits)).then(() => answer.resolve(message), answer.reject)
    } else if (limits.whenBusy === 'steer' && begun) {
      live.post({ type: 'steered', messageSeq: record.seq }, 100)
      inbox.push(message)
    }
  }

  function answerNothing(): boolean {
    if (question === undefined) return false
    const { answer } = question
    question = undefined
    setDeadline()
    live.post(steps.work(agentMessage('No answer came in time; going on without one', live.fold)), 200)
    answer.resolve({ messageId: newId(), role: 'ROLE_USER', parts: [{ text: '' }], metadata: { reason: 'INPUT_TIMEOUT' } })
    return true
  }

  function end(reason: unknown): void {
    clearTimeout(opensAt)
    clearTimeout(deadline)
    inbox.end()
    question?.answer.promise.catch(() => {})
    question?.answer.reject(reason)
    if (reason !== undefined) stopSignal.abort(reason)
  }
}
