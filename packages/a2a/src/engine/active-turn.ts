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
import type { Message, Task } from '../model/task.ts'
import type { IdempotencyKey } from '../stores/store.ts'
import type { AgentEntry, EngineLog } from './contract.ts'
import { noAnswer, viewOf } from './fold.ts'
import type { Live } from './live.ts'
import { openOutput } from './output.ts'
import type { ReportSource } from './output.ts'
import { agentMessage, checkJson, createInterpreter, endsTurn } from './report.ts'
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
  /** Its start is already in the log. */
  readonly started?: true
  readonly resumed?: Resumed
  readonly reattach?: true
}

/** How the first message of a task was received. */
export type Opening = { readonly reply: Message } | { readonly submittedSeq: number }

export interface ActiveTurn {
  readonly input: TurnInput
  /** The task is, or is about to be, in the log. */
  isBegun(): boolean
  begin(working: boolean): void
  /** Resolves with how the turn ends, or with nothing when it was stopped or answered without a task. */
  listen(): Promise<Ending | undefined>
  /** A message came for this task. */
  received(record: LogRecord): void
  /** The answer to a question of this task is in the log. */
  answered(questionId: string): void
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
  const inbox = createInbox(takeSteering)
  const interpreter = createInterpreter(live.fold, input.turn)
  let begun = input.started === true
  let over = false
  let asked = 0
  let question: Question | undefined
  /** Messages up to here were given to the agent, or are about to be. */
  let takenSeq = input.consumedSeq
  let deadline: ReturnType<typeof setTimeout> | undefined
  let opensAt: ReturnType<typeof setTimeout> | undefined

  if (input.opening === undefined || input.opening.atOnce) begin(true)
  else opensAt = setTimeout(() => begin(true), limits.openAfterMs)
  setDeadline()
  if (limits.whenBusy === 'steer') live.fold.waiting.forEach(received)

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
    isBegun: () => begun,
    begin,
    listen,
    received,
    answered,
    abort,
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
    const opened = openOutput(callAgent())
    try {
      const source = await orStop(opened)
      if (source !== undefined) return await readReports(source)
    } catch (reason) {
      return parts.isStopped() ? undefined : failed(reason)
    }
    // Stopped before the agent gave anything back: what it gives back later must not stay open.
    opened.then(
      (source) => source.stop(),
      () => {},
    )
    return undefined
  }

  async function callAgent(): Promise<unknown> {
    const { agent } = entry
    const run: AgentFunction = typeof agent === 'function' ? agent : agent.run
    const attach = input.reattach && typeof agent === 'object' && agent.resume === 'reattach'
    return (attach ? agent.reattach : run)(turn)
  }

  async function readReports(source: ReportSource): Promise<Ending | undefined> {
    try {
      for (;;) {
        if (live.isFull) await live.flushed()
        const step = parts.isStopped() ? undefined : await orStop(source.next())
        if (parts.isStopped()) return undefined
        if (step === undefined) break
        const ending = say(interpreter.read(step.report, step.final))
        if (ending !== undefined) return ending === 'replied' ? undefined : ending
        if (step.final) break
      }
    } finally {
      source.stop()
    }
    closeAnswer()
    begin(false)
    return { state: 'TASK_STATE_COMPLETED' }
  }

  /** The text that was said in pieces is complete. */
  function closeAnswer(): void {
    const last = interpreter.close()
    if (last !== undefined) say(last)
  }

  /** Writes what was said; answers the ending if it ends the turn. */
  function say(said: Said): Ending | 'replied' | undefined {
    if (said.kind === 'reply') {
      closeAnswer()
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
    closeAnswer()
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
    // An agent that stops because it was told to has not failed, though it can only say so by throwing.
    const told = stopSignal.signal()
    const obeys = told.aborted && (reason === told.reason || (reason instanceof Error && reason.name === 'AbortError'))
    const about = { taskId: live.id, agent: live.partition.agent, cause: reason }
    if (obeys) parts.log.debug('agent stopped', about)
    else parts.log.error('agent failed', about)
    const text = isOurs ? reason.message : 'The agent failed'
    return { state: 'TASK_STATE_FAILED', message: agentMessage(text, live.fold), note: describe(reason) }
  }

  async function checkpoint(data: unknown): Promise<void> {
    checkNotOver()
    const body = { type: 'checkpoint', data: checkJson(data, 'a checkpoint') } as const
    begin(true)
    const written = await live.write((draft) => (isTerminal(draft.state) ? undefined : { bodies: [body] }))
    if (written === undefined) throw new A2AError('INTERRUPTED', 'The task has ended')
  }

  async function ask(asking: string | AgentMessage, options: AskOptions): Promise<Message> {
    checkNotOver()
    if (question !== undefined) throw new Error('a question is already open: await its answer first')
    const message = agentMessage(asking, live.fold)
    const known = live.fold.questions[asked]
    asked += 1
    // A turn that is run again gets the answers it got before, in the same order.
    if (known?.answer !== undefined && input.resumed !== undefined) return known.answer
    begin(true)
    const id = known?.id ?? newId()
    const state = options.auth === true ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
    const answer = Promise.withResolvers<Message>()
    question = { id, answer, isAnswered: false }
    clearTimeout(deadline)
    live.post(steps.askQuestion(state, message, { id, turn: input.turn, isNew: known === undefined }, limits), 500)
    // Messages are taken in the order they came: one that already waits is the answer.
    const waiting = live.fold.waiting.find(({ seq }) => seq > takenSeq)
    if (waiting !== undefined) received(waiting)
    return answer.promise
  }

  function received(record: LogRecord): void {
    if (over || record.body.type !== 'message' || record.seq <= takenSeq) return
    if (question !== undefined && !question.isAnswered) {
      question.isAnswered = true
      takenSeq = record.seq
      live.post(steps.answerQuestion(question.id, record.seq, limits), 200)
    } else if (limits.whenBusy === 'steer') inbox.push(record)
  }

  /** Whether a message is still to be had when the agent asks its turn for it: if so, it is this turn's. */
  function takeSteering({ body, seq }: LogRecord): Message | undefined {
    if (over || body.type !== 'message' || seq <= takenSeq) return undefined
    takenSeq = seq
    live.post({ type: 'steered', messageSeq: seq }, 100)
    return body.message
  }

  /** By a message, or by nobody in time; written here, or wherever that was noticed. */
  function answered(questionId: string): void {
    if (question?.id !== questionId) return
    const { answer } = question
    question = undefined
    setDeadline()
    answer.resolve(live.fold.questions.find(({ id }) => id === questionId)?.answer ?? noAnswer(live.fold))
  }

  /** An agent may go on after its turn, and hold on to what it was given. */
  function checkNotOver(): void {
    if (over || parts.isStopped()) throw turnIsOver()
  }

  function abort(reason: unknown): void {
    stopSignal.abort(reason)
    // Whoever waits for an answer listens to nothing else, and would let the time of grace pass.
    question?.answer.reject(reason)
  }

  function end(reason: unknown): void {
    over = true
    clearTimeout(opensAt)
    clearTimeout(deadline)
    inbox.end()
    question?.answer.reject(reason ?? turnIsOver())
    if (reason !== undefined) stopSignal.abort(reason)
  }
}

interface Question {
  readonly id: string
  readonly answer: PromiseWithResolvers<Message>
  /** A message was taken as its answer, and is being written. */
  isAnswered: boolean
}

function turnIsOver(): A2AError {
  return new A2AError('INTERRUPTED', 'The turn is over')
}

/** For the log. Anything can be thrown, also what cannot be made a string. */
function describe(reason: unknown): string {
  try {
    return String(reason instanceof Error ? (reason.stack ?? reason) : reason)
  } catch {
    return 'something that has no text'
  }
}
