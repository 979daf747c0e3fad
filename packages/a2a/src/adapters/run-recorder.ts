/**
 * Turns what a framework does into reports of the turn and spans of its trace. An adapter calls it for each event of the framework;
 * the reports are written in that order.
 */
import type { OpenSpan, Report, Turn } from '../agents/agent.ts'
import { status } from '../agents/reports.ts'
import type { SpanOutcome } from '../model/record.ts'
import type { Json, Part, Struct } from '../model/task.ts'
import type { AdapterOptions, ModelUsage } from './adapter-options.ts'
import { boundedJson, boundedValue, toJson } from './bounded-json.ts'
import type { RunQuestion } from './questions.ts'

/** Limit of arguments and results in metadata, in characters. */
const maxCallCharacters = 2_000
/** Marks status messages that the model did not write, so that the history does not attribute them to it. */
export const progressMarkerKey = 'aside'

/** A tool call as its events identify it. */
export interface ToolCallEvent {
  readonly id: string
  readonly name: string
}

/** The end of a tool call. */
export interface ToolCallEnd extends ToolCallEvent {
  /** `unknown`: the run ended before the result of the call arrived. */
  readonly outcome: 'succeeded' | 'failed' | 'unknown'
  readonly result?: unknown
}

/** One finished model call. */
export interface ModelCallEvent {
  readonly model: string | undefined
  readonly usage?: ModelUsage
  readonly finishReason?: string | undefined
  /** In the currency of the operator. Default: by the option `cost`. */
  readonly cost?: number | undefined
}

/** Makes a step durable. `textLength`: how much text of the turn belongs to it and to the steps before. */
export type WriteStep = (state: unknown, textLength: number) => Promise<void>

type RecordedOptions = Pick<AdapterOptions, 'reasoning' | 'toolCalls' | 'cost'>

/**
 * The sink of one run. Everything that an adapter reports goes through it.
 *
 * @example
 * ```ts
 * onEvent(event, out) {
 *   if (event.type === 'text') out.text(event.delta, event.messageId)
 *   if (event.type === 'tool') out.toolStarted({ id: event.id, name: event.name }, event.input)
 * }
 * ```
 */
export class RunRecorder {
  readonly #turn: Turn
  readonly #options: RecordedOptions
  #queue: Report[] = []
  /** Of text in this turn, with what earlier runs of it reported and this one continues. */
  #textLength: number
  #endsWith = ''
  #block: string | undefined
  readonly #tools = new Map<string, { readonly name: string; readonly span: OpenSpan }>()
  #modelStartedAt: number | undefined
  readonly #questions: RunQuestion[] = []
  /** Steps that wait until the reports before them are written. */
  readonly #steps: (() => Promise<void>)[] = []
  #isWriting = false
  readonly #writeStep: WriteStep
  #paused: Json = null
  #ending: Report | undefined

  /** `before`: the text of this turn that an interrupted run reported and this run continues. */
  constructor(turn: Turn, options: RecordedOptions, writeStep: WriteStep, before = '') {
    this.#turn = turn
    this.#options = options
    this.#writeStep = writeStep
    this.#textLength = before.length
    this.#endsWith = before.slice(-2)
    // The first text of a run replaces the artifact, so the text that stays is reported again.
    if (before !== '') this.#queue.push(before)
  }

  /** Adds text to the answer. Text of another `block` (a message, a step) begins after a blank line. */
  text(delta: string, block?: string): void {
    if (delta === '') return
    let added = delta
    if (block !== this.#block) {
      if (this.#textLength > 0) added = breakAfter(this.#endsWith) + delta
      this.#block = block
    }
    this.#textLength += added.length
    this.#endsWith = added.length > 1 ? added.slice(-2) : (this.#endsWith + added).slice(-2)
    this.#queue.push(added)
  }

  /** Reports reasoning, if the option asks for it. */
  reasoning(delta: string): void {
    if (this.#options.reasoning === true && delta !== '')
      this.#queue.push({ state: 'TASK_STATE_WORKING', metadata: { thought: delta } })
  }

  /** A tool begins. Opens its span. A repeated id is ignored. */
  toolStarted({ id, name }: ToolCallEvent, input?: unknown): void {
    if (this.#tools.has(id)) return
    const span = this.#turn.span(`execute_tool ${name}`, {
      kind: 'tool',
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': id },
    })
    this.#tools.set(id, { name, span })
    const about: Struct =
      this.#showsAll && input !== undefined ? { arguments: boundedValue(input, maxCallCharacters) } : {}
    this.#reportCall({ id, name, outcome: 'started', ...about }, name)
  }

  /** A running tool reports progress. */
  toolProgress({ id, name }: ToolCallEvent, progress: unknown): void {
    const about: Struct = this.#showsAll ? { result: boundedJson(progress, maxCallCharacters) } : {}
    this.#reportCall({ id, name, outcome: 'progress', ...about })
  }

  /** A tool has ended. Begins it first if its start was not seen: a resumed run starts with the results. */
  toolEnded({ id, name, outcome, result }: ToolCallEnd): void {
    if (!this.#tools.has(id)) this.toolStarted({ id, name })
    const call = this.#tools.get(id)
    call?.span.end(outcome === 'succeeded' ? 'ok' : outcome === 'failed' ? 'error' : 'canceled')
    const about: Struct =
      this.#showsAll && result !== undefined ? { result: boundedJson(result, maxCallCharacters) } : {}
    this.#reportCall({ id, name: call?.name ?? name, outcome, ...about })
  }

  /** Adds a file, or other content that is not text of the answer, as an artifact of its own. */
  part(part: Part): void {
    this.#queue.push(part)
  }

  /** Adds structured output: one data part. Do not report its JSON as text as well. */
  data(value: unknown): void {
    this.#queue.push({ data: toJson(value) })
  }

  /** Reports progress for people. */
  progress(text: string, metadata?: Struct): void {
    this.#queue.push(status({ parts: [{ text }], metadata: { [progressMarkerKey]: 'progress' } }, metadata))
  }

  /** A model call begins: the start of the next span. */
  modelStarted(): void {
    this.#modelStartedAt = Date.now()
  }

  /** A model call has ended. Writes its span, with tokens and cost. */
  modelEnded({ model = 'unknown', usage = {}, finishReason, cost }: ModelCallEvent, outcome: SpanOutcome = 'ok'): void {
    const startedAt = this.#modelStartedAt ?? Date.now()
    this.#modelStartedAt = undefined
    const paid = cost ?? this.#options.cost?.(model, usage)
    const attributes: Record<string, Json> = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.model': model }
    const set = (name: string, value: Json | undefined): void => {
      if (value !== undefined) attributes[name] = value
    }
    set('gen_ai.response.finish_reasons', finishReason === undefined ? undefined : [finishReason])
    set('gen_ai.usage.input_tokens', usage.inputTokens)
    set('gen_ai.usage.output_tokens', usage.outputTokens)
    set('gen_ai.usage.cache_read.input_tokens', usage.cachedTokens)
    set('gen_ai.usage.reasoning.output_tokens', usage.reasoningTokens)
    set('gen_ai.usage.cost', paid)
    // The model is known only now, so the span starts in the past.
    const span = this.#turn.span(`chat ${model}`, { kind: 'model', resumed: { spanId: newSpanId(), startedAt } })
    span.end(outcome, attributes)
  }

  /** The run waits for an answer. After its last event the task asks the questions, one at a time. */
  ask(question: RunQuestion): void {
    // The call was announced, but did not run: its span begins again after the approval.
    if (question.kind === 'approval') this.#tools.get(question.toolCallId ?? question.id)?.span.end('canceled')
    if (!this.#questions.some(({ id }) => id === question.id)) this.#questions.push(question)
  }

  /** The questions of this run. */
  get questions(): readonly RunQuestion[] {
    return this.#questions
  }

  /** What the framework needs to continue after the answers. JSON. */
  pause(state: unknown): void {
    this.#paused = toJson(state)
  }

  /**
   * Saves a durable step: a run that a restart interrupts continues from `state`, which is JSON. Resolves when durable: a framework
   * that can wait before its next step should.
   */
  saveStep(state: unknown): Promise<void> {
    if (!this.#isWriting && this.#queue.length === 0) return this.#writeStep(state, this.#textLength)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // A framework that does not wait must not crash the process.
    promise.catch(() => {})
    this.#steps.push(() => this.#writeStep(state, this.#textLength).then(resolve, reject))
    return promise
  }

  /** Ends the task with this report instead of COMPLETED, such as `reject(…)`. */
  endWith(report: Report): void {
    this.#ending = report
  }

  /** For the loop that runs the adapter: what was reported, in order. A step is written after the reports that belong to it. */
  async *reports(): AsyncGenerator<Report, void, void> {
    this.#isWriting = true
    try {
      while (this.hasReports) {
        const reports = this.#queue
        this.#queue = []
        for (const report of reports) yield report
        if (this.#queue.length === 0) await this.#steps.shift()?.()
      }
    } finally {
      this.#isWriting = false
    }
  }

  /** Whether `reports` would return anything. */
  get hasReports(): boolean {
    return this.#queue.length > 0 || this.#steps.length > 0
  }

  /** The state passed to `pause`. */
  get pausedState(): Json {
    return this.#paused
  }

  /** The report passed to `endWith`. */
  get ending(): Report | undefined {
    return this.#ending
  }

  get #showsAll(): boolean {
    return (this.#options.toolCalls ?? 'all') === 'all'
  }

  #reportCall(toolCall: Struct, text?: string): void {
    if (this.#options.toolCalls === 'none') return
    this.#queue.push(
      text === undefined
        ? { state: 'TASK_STATE_WORKING', metadata: { toolCall } }
        : status({ parts: [{ text }], metadata: { [progressMarkerKey]: 'tool-call' } }, { toolCall }),
    )
  }
}

function breakAfter(ending: string): string {
  if (ending === '\n\n') return ''
  return ending.endsWith('\n') ? '\n' : '\n\n'
}

function newSpanId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
