/**
 * One turn: calls the agent, writes its reports as they arrive, and carries out what the agent asks of its turn (a checkpoint, a
 * question). It ends with a `TurnEnding`, which the run writes.
 */
import type { AgentFunction, AgentLog, AgentMessage, AskOptions, ResumeState, TurnStore } from '../../agents/agent.ts'
import { startTimer } from '../../model/clock.ts'
import { wireCodeOf } from '../../model/error-table.ts'
import { A2AError } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import type { LogRecord, SpanOutcome, TurnOptions } from '../../model/record.ts'
import { revealSecrets, withAuthRequest, withSecretRequest } from '../../model/secrets.ts'
import { isTerminal, type TaskState } from '../../model/state.ts'
import type { Json, Message, Task } from '../../model/task.ts'
import type { IdempotencyKey } from '../../stores/store.ts'
import type { AgentEntry, AgentOptions, EngineLog } from '../contract.ts'
import { earlierOf, inputTimeoutMessage, questionsToReplay, taskView } from '../task/fold.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { Intent, TurnEnding } from '../task/task-intents.ts'
import * as intents from '../task/task-intents.ts'
import { isThenable, openReportSource, type ReportSource } from './agent-output.ts'
import {
  checkJson,
  describeError,
  endingOfReport,
  endsTurn,
  EventTransformer,
  type InterpretedReport,
  ReportInterpreter,
  toAgentMessage,
} from './report-interpreter.ts'
import { createSteeringInbox, EngineTurn, type SteeringInbox, TurnClock, type TurnDeps, turnEnded } from './turn.ts'
import { TurnSpans } from './turn-spans.ts'
import { appendRecord, createTurnStore } from './turn-store.ts'

/** The input of a turn. */
export interface TurnInput {
  readonly message: Message
  readonly options: TurnOptions
  readonly turn: number
  readonly attempt: number
  /** The turn consumes the messages up to this seq. */
  readonly consumedSeq: number
  /** Set for the first turn of a task that is not in the log yet. */
  readonly opening?: {
    readonly idempotency?: IdempotencyKey
    readonly atOnce: boolean
    /** Whether the agent is called only once the opening is durable, whatever `openAfterMs` says. */
    readonly isAwaited: boolean
  }
  /** Its start is already in the log. */
  readonly started?: true
  readonly resumed?: ResumeState
  readonly reattach?: true
}

/** The outcome of the first message of a task. */
export type TaskOpening = { readonly reply: Message } | { readonly submittedSeq: number }

export interface TaskRunDeps {
  readonly loaded: LoadedTask
  readonly entry: AgentEntry
  readonly log: EngineLog
  readonly now: () => number
  /** The limit of JSON values in one value that the agent reports. */
  readonly jsonNodes: number
  readonly monotonicNow: () => number
  /** The question of a running turn timed out. */
  expireInput(): void
  /** The next turn belongs to another agent. */
  isReplaced(): boolean
  /** This process starts no more turns: another process runs them. */
  isClosing(): boolean
  conversation(loaded: LoadedTask): Promise<readonly Task[]>
  referenced(loaded: LoadedTask, message: Message): Promise<readonly Task[]>
  /** What the newest completed task of the conversation stored under a key. */
  earlierStored(loaded: LoadedTask, key: string): Promise<Json | undefined>
}

export interface TurnRunnerDeps extends TaskRunDeps {
  readonly opening: { resolve(opening: TaskOpening): void; reject(reason: unknown): void }
  isStopped(): boolean
  untilStopped<T>(value: Promise<T>): Promise<T | undefined>
  expire(): void
}

/** A question that the turn waits on. */
interface OpenQuestion {
  readonly id: string
  readonly state: TaskState
  readonly answer: PromiseWithResolvers<Message>
  /** When the wait is over, on the monotonic clock: it is a duration, independent of the wall clock. */
  readonly overAt: number
  readonly cancelTimer: () => void
  /** A message was accepted as its answer, and is being written. */
  isAnswered: boolean
}

export class TurnRunner implements TurnDeps {
  readonly input: TurnInput
  /** With its secrets, which the message in the log lacks. */
  readonly message: Message
  readonly #deps: TurnRunnerDeps
  readonly #limits: AgentOptions
  readonly #stop = new AbortController()
  readonly #interpreter: ReportInterpreter
  readonly #transformer: EventTransformer | undefined
  #inbox: SteeringInbox | undefined
  #hasBegun: boolean
  #isOver = false
  #questionCount = 0
  #question: OpenQuestion | undefined
  #heldIntents: Intent[] = []
  /** The agent has received the messages up to this seq, or is about to. */
  #takenSeq: number
  readonly #clock: TurnClock
  #spans: TurnSpans | undefined
  #log: EngineLog | undefined
  #store: TurnStore | undefined
  #cancelOpenTimer: (() => void) | undefined
  /** Settles when the start of the turn is durable; set only if the agent must not be called before. */
  #durableStart: Promise<unknown> | undefined

  constructor(deps: TurnRunnerDeps, input: TurnInput) {
    const { loaded, entry, jsonNodes, now, monotonicNow, expire } = deps
    const limits = entry.options
    this.input = input
    this.message = revealSecrets(input.message)
    this.#deps = deps
    this.#limits = limits
    this.#clock = new TurnClock({
      now,
      monotonicNow,
      turnTimeoutMs: limits.turnTimeoutMs,
      // The deadline of this turn's message may not be in the log yet.
      deadlineAt: () => earlierOf(loaded.fold.deadlineAt, input.options.deadlineAt),
      expire,
    })
    const createInterpreter = () => new ReportInterpreter(loaded.fold, input.turn, jsonNodes)
    this.#interpreter = createInterpreter()
    if (entry.transformEvent !== undefined)
      this.#transformer = new EventTransformer(entry.transformEvent, loaded.eventContext, createInterpreter())
    this.#hasBegun = input.started === true
    this.#takenSeq = input.consumedSeq
    if (this.#hasBegun) this.#clock.start()
    else if (input.opening === undefined || input.opening.atOnce || limits.openAfterMs <= 0) this.begin(true)
    else {
      const openAfterMs = Math.min(limits.openAfterMs, limits.turnTimeoutMs)
      this.#cancelOpenTimer = startTimer(openAfterMs, () => this.begin(true))
    }
    if (limits.whenBusy === 'steer') for (const waiting of loaded.fold.waiting) this.handleMessage(waiting)
  }

  // Methods for the agent's turn.

  get loaded(): LoadedTask {
    return this.#deps.loaded
  }

  get options(): TurnOptions {
    return this.input.options
  }

  get resumed(): ResumeState | undefined {
    return this.input.resumed
  }

  get deadlineAt(): number | undefined {
    return this.#clock.endsAt
  }

  get hasTimedOut(): boolean {
    return this.#clock.hasTimedOut
  }

  get hasInputTimedOut(): boolean {
    return this.#deps.monotonicNow() >= (this.#question?.overAt ?? Infinity)
  }

  get spans(): TurnSpans {
    const { turn, attempt, options } = this.input
    return (this.#spans ??= new TurnSpans({
      taskId: this.loaded.id,
      turn,
      attempt,
      traceparent: options.traceparent,
      now: this.#deps.now,
      // Before there is a task there is no log: a direct message leaves none.
      isHeld: () => !this.#hasBegun,
      write: (span) => this.#isOver || this.loaded.post({ type: 'span', span }, 300),
    }))
  }

  /** Open spans end with the turn. */
  endSpans(outcome: SpanOutcome): void {
    this.#spans?.endAll(outcome)
  }

  /** Log lines of the agent for the operator, with their task, context and trace (B-171). Fields of one line override these. */
  get log(): EngineLog {
    const { id, fold, partition } = this.loaded
    const about = { agent: partition.agent, taskId: id, contextId: fold.contextId, traceId: this.spans.traceId }
    const at =
      (level: keyof AgentLog): AgentLog[keyof AgentLog] =>
      (message, fields) =>
        this.#deps.log[level](message, { ...about, ...fields })
    return (this.#log ??= { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') })
  }

  get messages(): AsyncIterable<Message> {
    return this.#steeringInbox().values
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  async current(): Promise<Task | undefined> {
    if (!this.#hasBegun) return undefined
    await this.loaded.flushed()
    return this.loaded.isStored ? taskView(this.loaded.fold) : undefined
  }

  conversation(): Promise<readonly Task[]> {
    return this.#deps.conversation(this.loaded)
  }

  referenced(): Promise<readonly Task[]> {
    return this.#deps.referenced(this.loaded, this.message)
  }

  async checkpoint(data: unknown): Promise<void> {
    this.checkNotOver()
    const body = { type: 'checkpoint', data: checkJson(data, 'a checkpoint', this.#deps.jsonNodes) } as const
    this.begin(true)
    await appendRecord(this.loaded, body)
  }

  get store(): TurnStore {
    return (this.#store ??= createTurnStore(this.#deps, this))
  }

  async ask(asking: string | AgentMessage, options: AskOptions): Promise<Message> {
    const { loaded, input } = this
    const state = options.auth === true ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
    const said = toAgentMessage(asking, loaded.fold, this.#deps.jsonNodes)
    const request = options.auth === true ? withAuthRequest(said, options) : said
    const plain = options.sensitive === true ? withSecretRequest(request, newId()) : request
    const message = this.#transformer === undefined ? plain : await this.#transformer.question(state, plain)
    this.checkNotOver()
    if (this.#question !== undefined)
      throw new Error('a question is already open: await its answer before asking another')
    // Only a repeated turn has earlier questions; other turns may see those of the last turn until their own start is written.
    const known = input.resumed === undefined ? undefined : questionsToReplay(loaded.fold)[this.#questionCount]
    this.#questionCount += 1
    // A repeated turn gets its earlier answers in the same order.
    if (known?.answer !== undefined) return known.answer
    this.begin(true)
    const id = known?.id ?? newId()
    const waitMs = this.#limits.inputTimeout?.afterMs ?? Infinity
    const answer = Promise.withResolvers<Message>()
    this.#question = {
      id,
      state,
      answer,
      overAt: this.#deps.monotonicNow() + waitMs,
      cancelTimer: startTimer(waitMs, () => this.#deps.expireInput()),
      isAnswered: false,
    }
    this.#clock.pause()
    const asks = { id, turn: input.turn, isNew: known === undefined }
    loaded.post(intents.askQuestion(state, message, asks, this.#limits), 500)
    // Messages are consumed in order: one that already waits is the answer.
    const waiting = loaded.fold.waiting.find(({ seq }) => seq > this.#takenSeq)
    if (waiting !== undefined) this.handleMessage(waiting)
    return answer.promise
  }

  // Methods for the run.

  /** The task is in the log, or about to be. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The task exists from now on, and with `working` it is WORKING. */
  begin(working: boolean): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#cancelOpenTimer?.()
    this.#clock.start()
    this.#durableStart = this.#writeStart(working)
    this.#spans?.writeHeld()
  }

  /**
   * Writes the start of the turn. Returns a promise that settles with the append, if the agent must wait for it. With `openAfterMs: 0`
   * it must: after a crash before that, the agent has not run, and a repeated message runs it once. So must a turn repeated after a
   * crash: its attempt is counted before the agent is called, so no two processes run the same attempt.
   */
  #writeStart(working: boolean): Promise<unknown> | undefined {
    const { loaded, opening } = this.#deps
    const { input } = this
    const limits = this.#limits
    const isAwaited = limits.openAfterMs <= 0 || input.attempt > 1 || input.opening?.isAwaited === true
    if (input.opening === undefined) {
      const start = intents.startTurn(input, input.consumedSeq, limits)
      if (isAwaited) return loaded.write(start)
      loaded.post(start, 200)
      return undefined
    }
    const { idempotency } = input.opening
    const written = loaded.write(intents.openTask(input.message, input.options, idempotency, limits, working))
    written.then((seq) => opening.resolve({ submittedSeq: (seq as number) + 1 }), opening.reject)
    return isAwaited ? written : undefined
  }

  /** Whether to call the agent: the start of its turn is durable, and the task has not ended meanwhile. */
  async #isStartDurable(written: Promise<unknown>): Promise<boolean> {
    const { loaded, untilStopped, isStopped } = this.#deps
    try {
      await untilStopped(written)
    } catch {
      // A duplicate, or the store cannot be written: the sender gets the error, and the agent is not called.
      return false
    }
    return !isStopped() && !isTerminal(loaded.fold.status.state)
  }

  /** Resolves with the ending of the turn, or with `undefined` if it was stopped or replied without a task. */
  async run(): Promise<TurnEnding | undefined> {
    let opened: Promise<ReportSource> | undefined
    const { signal } = this
    if (this.#durableStart !== undefined && !(await this.#isStartDurable(this.#durableStart))) return undefined
    try {
      const output = this.#callAgent()
      // An immediate result is not awaited, so that a direct message is answered at once. In later turns it is: by then the sender
      // follows the task, and sees each report and not only the result.
      if (this.input.opening !== undefined && !isThenable(output))
        return await this.#readReports(openReportSource(output, signal))
      opened = Promise.resolve(output).then((value) => openReportSource(value, signal))
      const source = await this.#deps.untilStopped(opened)
      if (source !== undefined) return await this.#readReports(source)
    } catch (reason) {
      return this.#deps.isStopped() ? undefined : this.#endingOfFailure(reason)
    }
    // Stopped before the agent returned its output: close the output that arrives later.
    opened.then(
      (source) => source.stop(),
      () => {},
    )
    return undefined
  }

  /** A message arrived for this task. */
  handleMessage(record: LogRecord): void {
    const question = this.#question
    this.#clock.update()
    if (this.#isOver || record.body.type !== 'message' || record.seq <= this.#takenSeq) return
    if (question !== undefined && !question.isAnswered) {
      question.isAnswered = true
      this.#takenSeq = record.seq
      this.loaded.post(intents.answerQuestion(question.id, record.seq, this.#limits), 200)
    } else if (this.#limits.whenBusy === 'steer') this.#steeringInbox().push(record)
  }

  /** The answer to a question of this task is in the log: a message, or a timeout, whichever process noticed it. */
  handleAnswer(questionId: string): void {
    if (this.#question?.id !== questionId) return
    const { answer, cancelTimer } = this.#question
    const { fold } = this.loaded
    this.#question = undefined
    this.#clock.start()
    for (const work of this.#heldIntents.splice(0)) this.loaded.post(work, 500)
    cancelTimer()
    const stored = fold.questions.find(({ id }) => id === questionId)?.answer
    answer.resolve(stored === undefined ? inputTimeoutMessage(fold) : revealSecrets(stored))
  }

  /** Asks the agent to stop. */
  abort(reason: unknown): void {
    this.#stop.abort(reason)
    // An agent that waits for an answer listens to nothing else, and would let the grace period pass.
    if (this.#question !== undefined) this.#rejectQuestion(this.#question, reason)
  }

  /** The turn has ended: clears timers and waiters. With a reason, aborts the agent's signal. */
  end(reason: unknown): void {
    this.#isOver = true
    this.#cancelOpenTimer?.()
    this.#clock.stop()
    this.#inbox?.end()
    if (this.#question !== undefined) this.#rejectQuestion(this.#question, reason ?? turnEnded())
    if (reason !== undefined) this.#stop.abort(reason)
  }

  #rejectQuestion({ cancelTimer, answer }: OpenQuestion, reason: unknown): void {
    cancelTimer()
    answer.reject(reason)
  }

  #callAgent(): unknown {
    const { agent } = this.#deps.entry
    const run: AgentFunction = typeof agent === 'function' ? agent : agent.run
    const attach = this.input.reattach && typeof agent === 'object' && agent.resume === 'reattach'
    return (attach ? agent.reattach : run)(new EngineTurn(this))
  }

  async #readReports(source: ReportSource): Promise<TurnEnding | undefined> {
    const { loaded } = this
    const { isStopped, untilStopped } = this.#deps
    try {
      for (;;) {
        if (loaded.isBacklogFull) await loaded.flushed()
        if (isStopped()) return undefined
        const given = source.next()
        const step = given instanceof Promise ? await untilStopped(given) : given
        if (isStopped()) return undefined
        if (step === undefined) break
        // If written, it would replace the chunk with content as the last one.
        if (step.report === '' && this.#interpreter.isAnswering) {
          if (step.final) break
          continue
        }
        const report = this.#interpreter.read(step.report, step.final)
        const ending =
          this.#transformer === undefined
            ? this.#writeReport(report)
            : await this.#writeTransformed(report, this.#transformer)
        if (ending !== undefined) return ending === 'replied' ? undefined : ending
        if (step.final) break
      }
    } finally {
      source.stop()
    }
    if (this.#transformer !== undefined) await this.#writeLastTransformed(this.#transformer)
    this.#closeAnswer()
    this.begin(false)
    return { state: 'TASK_STATE_COMPLETED' }
  }

  /** Like `#writeReport`, after the transformer. */
  async #writeTransformed(
    report: InterpretedReport,
    transformer: EventTransformer,
  ): Promise<TurnEnding | 'replied' | undefined> {
    if (report.kind === 'reply' || (report.kind === 'state' && endsTurn(report.state)))
      await this.#writeLastTransformed(transformer)
    const passed = await transformer.apply(report)
    return passed === undefined || this.#deps.isStopped() ? undefined : this.#writeReport(passed)
  }

  async #writeLastTransformed(transformer: EventTransformer): Promise<void> {
    const last = this.#interpreter.close()
    if (last !== undefined) await this.#writeTransformed(last, transformer)
  }

  /** The text that was streamed in pieces is complete. */
  #closeAnswer(): void {
    const last = this.#interpreter.close((body) => this.loaded.isQueued(body))
    if (last !== undefined) this.#writeReport(last)
  }

  /** Writes a report; returns the ending if it ends the turn. */
  #writeReport(report: InterpretedReport): TurnEnding | 'replied' | undefined {
    if (report.kind === 'reply') {
      this.#closeAnswer()
      if (this.#hasBegun) return { state: 'TASK_STATE_COMPLETED', message: report.message, explicit: true }
      const { taskId: _, ...message } = report.message
      this.#deps.opening.resolve({ reply: message })
      return 'replied'
    }
    if (report.kind === 'artifact') {
      this.begin(true)
      this.loaded.post(report.body, report.bytes)
      return undefined
    }
    const { state, message, metadata } = report
    this.begin(false)
    if (!endsTurn(state)) {
      const work = intents.reportWorking(message, metadata)
      // A task that waits for an answer is not WORKING: reports meanwhile are held until the answer. Credentials may arrive out of
      // band (B-156).
      if (this.#question?.state !== 'TASK_STATE_INPUT_REQUIRED') this.loaded.post(work, 500)
      else this.#heldIntents = [...this.#heldIntents.slice(-15), work]
      return undefined
    }
    this.#closeAnswer()
    return endingOfReport(report)
  }

  #endingOfFailure(reason: unknown): TurnEnding | undefined {
    // A protocol error that the agent throws before there is a task is the response to the call; so is input that it could not read
    // (-32006).
    if (!this.#hasBegun && isProtocolError(reason)) {
      this.#deps.opening.reject(reason)
      return undefined
    }
    this.begin(false)
    return endingOfError(reason, this.loaded, this.signal, this.log)
  }

  #steeringInbox(): SteeringInbox {
    if (this.#inbox === undefined) {
      this.#inbox = createSteeringInbox((record) => this.#takeSteering(record))
      if (this.#isOver) this.#inbox.end()
    }
    return this.#inbox
  }

  /** Returns the message if it is still unconsumed when the agent reads it; then it belongs to this turn. */
  #takeSteering({ body, seq }: LogRecord): Message | undefined {
    if (this.#isOver || body.type !== 'message' || seq <= this.#takenSeq) return undefined
    this.#takenSeq = seq
    this.loaded.post({ type: 'steered', messageSeq: seq }, 100)
    return revealSecrets(body.message)
  }

  /** An agent may continue after its turn, and keep its turn object. */
  checkNotOver(): void {
    if (this.#isOver || this.#deps.isStopped()) throw turnEnded()
  }
}

/** Whether the agent threw the error deliberately: its message and code are for the caller. */
function isProtocolError(reason: unknown): reason is A2AError {
  return reason instanceof A2AError && reason.code !== 'INTERNAL'
}

/** The end of a turn whose agent threw. `signal` is the stop signal that the agent received. */
function endingOfError(reason: unknown, { fold }: LoadedTask, signal: AbortSignal, log: EngineLog): TurnEnding {
  // An agent that stops when its signal aborts has not failed, but it can stop only by throwing.
  const hasStopped =
    signal.aborted && (reason === signal.reason || (reason instanceof Error && reason.name === 'AbortError'))
  if (hasStopped) log.debug('agent stopped', { cause: reason })
  else log.error('agent failed', { cause: reason })
  // A canceled task would show the AbortError as the reason why it has no result.
  const isCanceled = signal.reason instanceof A2AError && signal.reason.code === 'CANCELED'
  const note = hasStopped && isCanceled ? {} : { note: describeError(reason) }
  const state = 'TASK_STATE_FAILED'
  if (!isProtocolError(reason)) return { state, message: toAgentMessage('The agent failed', fold), ...note }
  // Calling programs need to distinguish an unavailable agent from one that refuses.
  const metadata = { reason: reason.details.reason ?? wireCodeOf(reason.code) }
  return { state, message: toAgentMessage(reason.message, fold), metadata, ...note }
}
