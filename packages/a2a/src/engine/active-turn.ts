/**
 * One turn: the agent is called, what it says is written as it says it, and what it
 * asks of its turn (a checkpoint, a question) is done for it. It ends with an `Ending`,
 * which the run writes.
 */
import type { AgentFunction, AgentMessage, AskOptions, Resumed } from '../agents/agent.ts'
import { A2AError } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type { LogRecord, TurnOptions } from '../model/record.ts'
import type { SpanOutcome } from '../model/span.ts'
import { isTerminal } from '../model/state.ts'
import type { Message, Task } from '../model/task.ts'
import type { Intent } from './batch.ts'
import type { AgentOptions, EngineLog } from './contract.ts'
import { earlier, noAnswer, questionsToReplay, viewOf } from './fold.ts'
import type { Wait } from './later.ts'
import { later } from './later.ts'
import type { Live } from './live.ts'
import { isThenable, openOutput } from './output.ts'
import type { ReportSource } from './output.ts'
import { agentMessage, checkJson, endsTurn, Interpreter } from './report.ts'
import type { Said } from './report.ts'
import { askingFor, reveal } from './secrets.ts'
import type { Ending } from './steps.ts'
import * as steps from './steps.ts'
import type { Transformer } from './transform.ts'
import { transformerOf } from './transform.ts'
import type { Inbox, TurnParts } from './turn.ts'
import { TurnClock } from './turn-clock.ts'
import { failedTurn, isProtocolError } from './turn-failure.ts'
import { TurnQuestion } from './turn-question.ts'
import { hasStarted, writeStart } from './turn-start.ts'
import { turnLog } from './turn-log.ts'
import { TurnSpans } from './turn-spans.ts'
import type { ActiveTurnParts, TurnInput } from './turn-input.ts'
import { createInbox, createTurn, StopSignal, turnIsOver } from './turn.ts'

/** A class, because a turn of closures is made of twenty, and most turns need three. */
export class ActiveTurn implements TurnParts {
  readonly input: TurnInput
  /** With its secrets, which the one in the log has not. */
  readonly message: Message
  readonly #parts: ActiveTurnParts
  readonly #limits: AgentOptions
  readonly #stop = new StopSignal()
  readonly #interpreter: Interpreter
  readonly #transformer: Transformer | undefined
  #inbox: Inbox | undefined
  #begun: boolean
  #over = false
  #asked = 0
  #question: TurnQuestion | undefined
  #held: Intent[] = []
  /** Messages up to here were given to the agent, or are about to be. */
  #takenSeq: number
  readonly #clock: TurnClock
  #spans: TurnSpans | undefined
  #log: EngineLog | undefined
  #opensAt: Wait | undefined
  /** Settles when the start of the turn is durable; only where the agent is not called before. */
  #durable: Promise<unknown> | undefined

  constructor(parts: ActiveTurnParts, input: TurnInput) {
    this.input = input
    this.message = reveal(input.message)
    this.#parts = parts
    this.#limits = parts.entry.options
    this.#clock = new TurnClock({
      now: parts.now,
      monotonicNow: parts.monotonicNow,
      turnTimeoutMs: this.#limits.turnTimeoutMs,
      // The one that this turn's message brings may not be in the log yet.
      deadlineAt: () => earlier(parts.live.fold.deadlineAt, input.options.deadlineAt),
      expire: parts.expire,
    })
    this.#interpreter = new Interpreter(parts.live.fold, input.turn, parts.jsonNodes)
    this.#transformer = transformerOf(parts, input.turn)
    this.#begun = input.started === true
    this.#takenSeq = input.consumedSeq
    if (this.#begun) this.#clock.start()
    else if (input.opening === undefined || input.opening.atOnce || this.#limits.openAfterMs <= 0) this.begin(true)
    else this.#opensAt = later(Math.min(this.#limits.openAfterMs, this.#limits.turnTimeoutMs), () => this.begin(true))
    if (this.#limits.whenBusy === 'steer') for (const waiting of this.live.fold.waiting) this.received(waiting)
  }

  // What the agent's turn is made of.

  get live(): Live {
    return this.#parts.live
  }

  get options(): TurnOptions {
    return this.input.options
  }

  get resumed(): Resumed | undefined {
    return this.input.resumed
  }

  get deadlineAt(): number | undefined {
    return this.#clock.endsAt
  }

  get isTimeOver(): boolean {
    return this.#clock.isOver
  }

  get isInputTimeOver(): boolean {
    return this.#question?.isTimeOver === true
  }

  get spans(): TurnSpans {
    const { turn, attempt, options } = this.input
    return (this.#spans ??= new TurnSpans({
      taskId: this.live.id,
      turn,
      attempt,
      traceparent: options.traceparent,
      now: this.#parts.now,
      // Before there is a task there is no log: a direct message leaves none.
      isHeld: () => !this.#begun,
      write: (span) => this.#over || this.live.post({ type: 'span', span }, 300),
    }))
  }

  /** What is still open ends with the turn. */
  endSpans(outcome: SpanOutcome): void {
    this.#spans?.endAll(outcome)
  }

  get log(): EngineLog {
    const { id, fold, partition } = this.live
    const { traceId } = this.spans
    const about = { agent: partition.agent, taskId: id, contextId: fold.contextId, traceId }
    return (this.#log ??= turnLog(this.#parts.log, about))
  }

  get messages(): AsyncIterable<Message> {
    return this.#steering().values
  }

  signal(): AbortSignal {
    return this.#stop.signal()
  }

  async current(): Promise<Task | undefined> {
    if (!this.#begun) return undefined
    await this.live.flushed()
    return this.live.opened ? viewOf(this.live.fold) : undefined
  }

  conversation(): Promise<readonly Task[]> {
    return this.#parts.conversation(this.live)
  }

  referenced(): Promise<readonly Task[]> {
    return this.#parts.referenced(this.live, this.message)
  }

  async checkpoint(data: unknown): Promise<void> {
    this.#checkNotOver()
    const body = { type: 'checkpoint', data: checkJson(data, 'a checkpoint', this.#parts.jsonNodes) } as const
    this.begin(true)
    const written = await this.live.write((draft) => (isTerminal(draft.state) ? undefined : { bodies: [body] }))
    if (written === undefined) throw new A2AError('INTERRUPTED', 'The task has ended')
  }

  async ask(asking: string | AgentMessage, options: AskOptions): Promise<Message> {
    const { live, input } = this
    const state = options.auth === true ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
    const plain = askingFor(agentMessage(asking, live.fold, this.#parts.jsonNodes), options)
    const message = this.#transformer === undefined ? plain : await this.#transformer.question(state, plain)
    this.#checkNotOver()
    if (this.#question !== undefined) throw new Error('a question is already open: await its answer first')
    // Only a turn that is run again has questions from before; others may see those of the last turn until theirs has begun.
    const known = input.resumed === undefined ? undefined : questionsToReplay(live.fold)[this.#asked]
    this.#asked += 1
    // A turn that is run again gets the answers it got before, in the same order.
    if (known?.answer !== undefined) return known.answer
    this.begin(true)
    const id = known?.id ?? newId()
    const { monotonicNow, expireInput: expire } = this.#parts
    const timeoutMs = this.#limits.inputTimeout?.afterMs
    const question = (this.#question = new TurnQuestion({ id, state, timeoutMs, monotonicNow, expire }))
    this.#clock.pause()
    const asks = { id, turn: input.turn, isNew: known === undefined }
    live.post(steps.askQuestion(state, message, asks, this.#limits), 500)
    // Messages are taken in the order they came: one that already waits is the answer.
    const waiting = live.fold.waiting.find(({ seq }) => seq > this.#takenSeq)
    if (waiting !== undefined) this.received(waiting)
    return question.answer
  }

  // What the run does with it.

  /** The task is, or is about to be, in the log. */
  get begun(): boolean {
    return this.#begun
  }

  /** The task is there from now on, and if `working` says so at work. */
  begin(working: boolean): void {
    if (this.#begun) return
    this.#begun = true
    this.#opensAt?.cancel()
    this.#clock.start()
    this.#durable = writeStart(this.#parts, this.input, working)
    this.#spans?.writeHeld()
  }

  /** Resolves with how the turn ends, or with nothing when it was stopped or answered without a task. */
  async listen(): Promise<Ending | undefined> {
    let opened: Promise<ReportSource> | undefined
    if (this.#durable !== undefined && !(await hasStarted(this.#durable, this.#parts))) return undefined
    try {
      const output = this.#callAgent()
      // What is there at once is not waited for, which is cheaper for a direct message. In later turns it is: whoever sent
      // the message has then begun to follow, and sees what was said and not only what it came to.
      if (this.input.opening !== undefined && !isThenable(output)) return await this.#readReports(openOutput(output))
      opened = Promise.resolve(output).then(openOutput)
      const source = await this.#parts.orStop(opened)
      if (source !== undefined) return await this.#readReports(source)
    } catch (reason) {
      return this.#parts.isStopped() ? undefined : this.#failed(reason)
    }
    // Stopped before the agent gave anything back: what it gives back later must not stay open.
    opened.then(
      (source) => source.stop(),
      () => {},
    )
    return undefined
  }

  /** A message came for this task. */
  received(record: LogRecord): void {
    const question = this.#question
    this.#clock.update()
    if (this.#over || record.body.type !== 'message' || record.seq <= this.#takenSeq) return
    if (question !== undefined && !question.isAnswered) {
      question.isAnswered = true
      this.#takenSeq = record.seq
      this.live.post(steps.answerQuestion(question.id, record.seq, this.#limits), 200)
    } else if (this.#limits.whenBusy === 'steer') this.#steering().push(record)
  }

  /** The answer to a question of this task is in the log: by a message, or by nobody in time, wherever that was noticed. */
  answered(questionId: string): void {
    if (this.#question?.id !== questionId) return
    const question = this.#question
    const { fold } = this.live
    this.#question = undefined
    this.#clock.start()
    for (const work of this.#held.splice(0)) this.live.post(work, 500)
    const given = fold.questions.find(({ id }) => id === questionId)?.answer
    question.resolve(given === undefined ? noAnswer(fold) : reveal(given))
  }

  /** Asks the agent to stop. */
  abort(reason: unknown): void {
    this.#stop.abort(reason)
    // Whoever waits for an answer listens to nothing else, and would let the time of grace pass.
    this.#question?.reject(reason)
  }

  /** The turn is over: timers and waiting ones go. With a reason, the agent is told. */
  end(reason: unknown): void {
    this.#over = true
    this.#opensAt?.cancel()
    this.#clock.stop()
    this.#inbox?.end()
    this.#question?.reject(reason ?? turnIsOver())
    if (reason !== undefined) this.#stop.abort(reason)
  }

  #callAgent(): unknown {
    const { agent } = this.#parts.entry
    const run: AgentFunction = typeof agent === 'function' ? agent : agent.run
    const attach = this.input.reattach && typeof agent === 'object' && agent.resume === 'reattach'
    return (attach ? agent.reattach : run)(createTurn(this))
  }

  async #readReports(source: ReportSource): Promise<Ending | undefined> {
    const { live } = this
    const { isStopped, orStop } = this.#parts
    try {
      for (;;) {
        if (live.isFull) await live.flushed()
        if (isStopped()) return undefined
        const given = source.next()
        const step = given instanceof Promise ? await orStop(given) : given
        if (isStopped()) return undefined
        if (step === undefined) break
        // Written, it would be the last chunk in place of the one that says something.
        if (step.report === '' && this.#interpreter.isAnswering) {
          if (step.final) break
          continue
        }
        const said = this.#interpreter.read(step.report, step.final)
        const ending = this.#transformer === undefined ? this.#say(said) : await this.#pass(said, this.#transformer)
        if (ending !== undefined) return ending === 'replied' ? undefined : ending
        if (step.final) break
      }
    } finally {
      source.stop()
    }
    if (this.#transformer !== undefined) await this.#passLast(this.#transformer)
    this.#closeAnswer()
    this.begin(false)
    return { state: 'TASK_STATE_COMPLETED' }
  }

  /** The same as `#say`, with what somebody makes of it first. */
  async #pass(said: Said, transformer: Transformer): Promise<Ending | 'replied' | undefined> {
    if (said.kind === 'reply' || (said.kind === 'state' && endsTurn(said.state))) await this.#passLast(transformer)
    const passed = await transformer.apply(said)
    return passed === undefined || this.#parts.isStopped() ? undefined : this.#say(passed)
  }

  async #passLast(transformer: Transformer): Promise<void> {
    const last = this.#interpreter.close()
    if (last !== undefined) await this.#pass(last, transformer)
  }

  /** The text that was said in pieces is complete. */
  #closeAnswer(): void {
    const last = this.#interpreter.close((body) => this.live.isQueued(body))
    if (last !== undefined) this.#say(last)
  }

  /** Writes what was said; answers the ending if it ends the turn. */
  #say(said: Said): Ending | 'replied' | undefined {
    if (said.kind === 'reply') {
      this.#closeAnswer()
      if (this.#begun) return { state: 'TASK_STATE_COMPLETED', message: said.message, explicit: true }
      const { taskId: _, ...message } = said.message
      this.#parts.opening.resolve({ reply: message })
      return 'replied'
    }
    if (said.kind === 'artifact') {
      this.begin(true)
      this.live.post(said.body, said.bytes)
      return undefined
    }
    const { state, message, metadata } = said
    this.begin(false)
    if (!endsTurn(state)) {
      const work = steps.work(message, metadata)
      // A task that waits for an answer is not at work: what is said meanwhile is told with it. Credentials may come otherwise (B-156).
      if (this.#question?.state !== 'TASK_STATE_INPUT_REQUIRED') this.live.post(work, 500)
      else this.#held = [...this.#held.slice(-15), work]
      return undefined
    }
    this.#closeAnswer()
    const about = { ...(message !== undefined ? { message } : {}), ...(metadata !== undefined ? { metadata } : {}) }
    return { state, ...about, explicit: true }
  }

  #failed(reason: unknown): Ending | undefined {
    // An agent's own protocol error before there is a task is the answer to the call; so is what it could not read (-32006).
    if (!this.#begun && isProtocolError(reason)) {
      this.#parts.opening.reject(reason)
      return undefined
    }
    this.begin(false)
    return failedTurn(reason, this.live, this.#stop.signal(), this.log)
  }

  #steering(): Inbox {
    if (this.#inbox === undefined) {
      this.#inbox = createInbox((record) => this.#takeSteering(record))
      if (this.#over) this.#inbox.end()
    }
    return this.#inbox
  }

  /** Whether a message is still to be had when the agent asks its turn for it: if so, it is this turn's. */
  #takeSteering({ body, seq }: LogRecord): Message | undefined {
    if (this.#over || body.type !== 'message' || seq <= this.#takenSeq) return undefined
    this.#takenSeq = seq
    this.live.post({ type: 'steered', messageSeq: seq }, 100)
    return reveal(body.message)
  }

  /** An agent may go on after its turn, and hold on to what it was given. */
  #checkNotOver(): void {
    if (this.#over || this.#parts.isStopped()) throw turnIsOver()
  }
}
