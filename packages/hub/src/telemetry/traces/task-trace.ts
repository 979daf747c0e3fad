/**
 * Reads the log of one task as spans: the task, its turns, and the work in them. It reads record by record, so that following a
 * task keeps only the running turn in memory; ended spans are reported at once.
 */
import { isInterrupted, isTerminal, type Message, type Struct, type TaskState } from '@parley/a2a'
import {
  spanOutcomeOf,
  readTraceparent,
  spanIdOfEvent,
  spanIdOfTurn,
  traceIdOfTask,
  type Span,
  type SpanOutcome,
  type TraceContext,
} from '@parley/a2a/internal'
import type { LogRecord, Partition, RecordBody } from '@parley/a2a/stores'
import type { DelegationContext, TraceSpan, TraceSpanKind } from './trace-types.ts'
import { EventLog, traceEventOf } from './event-log.ts'
import { SpanTotalsCounter } from './span-totals.ts'
import { chainFromProvenance } from '../../delegation/chain.ts'

/** Receives each ended span, and the record that ended it. */
export type OnSpanEnded = (span: TraceSpan, seq: number) => void

interface OpenTraceSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly name: string
  readonly kind: TraceSpanKind
  startedAt: number
  attributes: Struct
  readonly log: EventLog | undefined
  readonly isSampled: boolean
  readonly link: TraceSpan['link']
}

/** The data of a message until a turn takes it. */
interface PendingMessage {
  readonly messageId: string
  readonly at: number
  readonly context: TraceContext | undefined
}

type TurnStarted = Extract<RecordBody, { readonly type: 'turn-started' }>
type StatusBody = Extract<RecordBody, { readonly type: 'status' }>

const maxErrorLength = 200

export class TaskTrace {
  readonly taskId: string
  readonly partition: Partition
  readonly totals = new SpanTotalsCounter()
  /** The seq of the last record read. */
  head = 0
  contextId = ''
  state: TaskState = 'TASK_STATE_SUBMITTED'
  idempotencyKey = ''
  delegation: DelegationContext | undefined
  endedAt: number | undefined
  error: string | undefined
  readonly #ended: OnSpanEnded
  readonly #isDetailed: boolean
  readonly #waiting = new Map<number, PendingMessage>()
  readonly #questions = new Set<string>()
  #root: OpenTraceSpan | undefined
  #turn: OpenTraceSpan | undefined
  /** The message that started the last turn. */
  #taken: PendingMessage | undefined
  #lastAt = 0
  #turnEndedAt = 0

  /** Not detailed: the spans have no ids, no log events, and only the attributes that metrics read. */
  constructor(taskId: string, partition: Partition, ended: OnSpanEnded = () => {}, isDetailed = true) {
    this.taskId = taskId
    this.partition = partition
    this.#ended = ended
    this.#isDetailed = isDetailed
  }

  get traceId(): string {
    return this.#root?.traceId ?? traceIdOfTask(this.taskId)
  }

  get startedAt(): number {
    return this.#root?.startedAt ?? 0
  }

  add(record: LogRecord): void {
    const { seq, at, body } = record
    if (seq <= this.head) return
    this.head = seq
    const root = (this.#root ??= this.#open(body, at))
    if (body.type === 'message') this.#waiting.set(seq, pendingMessageOf(body.message, at, body.options?.traceparent))
    if (body.type === 'turn-started') this.#beginTurn(body, root, at, seq)
    if (body.type === 'question') this.#questions.add(body.questionId)
    if (body.type === 'answer') this.#questions.delete(body.questionId)
    if (body.type === 'span') this.#addSpan(body.span, root, seq)
    const { log } = this.#turn ?? root
    const event = log === undefined ? undefined : traceEventOf(record)
    if (event !== undefined) log?.add(event)
    this.#lastAt = at
    // If it also drops messages, the record with its final state comes next.
    if (body.type === 'turn-ended' && body.consumedSeq === undefined) this.#endTurn('ok', at, seq)
    if (body.type === 'status') this.#reach(body, root, at, seq)
  }

  /** The open spans: the turn, and the task unless it has ended. */
  unfinished(): readonly TraceSpan[] {
    const open = [this.#turn, this.endedAt === undefined ? this.#root : undefined]
    return open.flatMap((one) => (one === undefined ? [] : [this.#spanOf({ ...one, attributes: this.#soFar(one) })]))
  }

  #open(body: RecordBody, at: number): OpenTraceSpan {
    const message = body.type === 'message' ? body : undefined
    const context = readTraceparent(message?.options?.traceparent)
    const { agent, tenant, owner } = this.partition
    this.contextId = message?.message.contextId ?? ''
    this.idempotencyKey = message?.message.messageId ?? ''
    this.delegation =
      message === undefined ? undefined : delegationContextOf(message.message, owner, message.options?.provenance)
    return {
      traceId: context?.traceId ?? traceIdOfTask(this.taskId),
      spanId: this.#isDetailed ? spanIdOfEvent(this.taskId, 0) : '',
      parentId: context?.spanId,
      name: `invoke_agent ${agent}`,
      kind: 'task',
      startedAt: at,
      attributes: this.#isDetailed
        ? {
            type: 'A2A_TASK',
            ...this.#about(),
            caller: owner,
            ...(tenant !== '' ? { tenant } : {}),
            idempotencyKey: this.idempotencyKey,
            ...(this.delegation !== undefined ? { delegationContext: { ...this.delegation } } : {}),
          }
        : { 'gen_ai.agent.name': agent },
      log: this.#isDetailed ? new EventLog(this.taskId) : undefined,
      isSampled: context?.isSampled ?? true,
      link: undefined,
    }
  }

  #soFar({ kind, attributes }: OpenTraceSpan): Struct {
    return kind === 'task' ? { ...attributes, state: this.state, ...this.totals.attributes() } : attributes
  }

  #about(): Struct {
    return {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': this.partition.agent,
      ...(this.contextId !== '' ? { 'gen_ai.conversation.id': this.contextId } : {}),
      taskId: this.taskId,
    }
  }

  #beginTurn({ turn, attempt, consumedSeq }: TurnStarted, root: OpenTraceSpan, at: number, seq: number): void {
    // The previous run has no end: its process died.
    this.#endTurn('error', this.#lastAt, seq, { interrupted: true })
    // A repeated turn has the message of its first attempt.
    if (attempt === 1) this.#taken = this.#waiting.get(consumedSeq)
    const { messageId, context } = this.#taken ?? {}
    // The start is logged with the first output, but the agent works from the message on, or from the end of the turn before.
    const startedAt = attempt === 1 ? Math.min(at, Math.max(this.#taken?.at ?? at, this.#turnEndedAt)) : at
    for (const known of this.#waiting.keys()) if (known <= consumedSeq) this.#waiting.delete(known)
    const isElsewhere = context !== undefined && context.traceId !== root.traceId
    this.totals.turns += 1
    this.#questions.clear()
    this.#turn = {
      traceId: isElsewhere ? context.traceId : root.traceId,
      spanId: this.#isDetailed ? spanIdOfTurn(this.taskId, turn, attempt) : '',
      parentId: isElsewhere ? context.spanId : root.spanId,
      name: `turn ${turn}`,
      kind: 'turn',
      startedAt,
      attributes: this.#isDetailed
        ? { ...this.#about(), turn, attempt, ...(messageId !== undefined ? { messageId } : {}) }
        : { 'gen_ai.agent.name': this.partition.agent, attempt },
      log: this.#isDetailed ? new EventLog(this.taskId) : undefined,
      isSampled: context?.isSampled ?? root.isSampled,
      link: isElsewhere ? { traceId: root.traceId, spanId: root.spanId } : undefined,
    }
  }

  #addSpan(span: Span, root: OpenTraceSpan, seq: number): void {
    const turn = this.#turn ?? root
    // An agent begins before its task is in the log. A resumed turn began in an earlier attempt.
    if (turn.attributes['attempt'] === 1) turn.startedAt = Math.min(turn.startedAt, span.startedAt)
    root.startedAt = Math.min(root.startedAt, span.startedAt)
    this.totals.add(span)
    const { attributes = {}, ...rest } = span
    const { traceId, isSampled } = turn
    const about = { ...attributes, taskId: this.taskId }
    this.#ended(
      { ...rest, traceId, taskId: this.taskId, attributes: about, events: [], droppedEvents: 0, isSampled },
      seq,
    )
  }

  #reach({ status }: StatusBody, root: OpenTraceSpan, at: number, seq: number): void {
    this.state = status.state
    const isOver = isTerminal(status.state)
    // A turn that asks midway continues.
    if (!isOver && (!isInterrupted(status.state) || this.#questions.size > 0)) return
    const outcome = spanOutcomeOf(status.state)
    const error = outcome === 'error' ? errorText(status.message) : undefined
    const about = { state: status.state, ...(error !== undefined ? { error } : {}) }
    this.#endTurn(outcome, at, seq, about)
    if (!isOver) return
    this.endedAt = at
    this.error = error
    root.attributes = { ...root.attributes, ...about, ...this.totals.attributes() }
    this.#ended(this.#spanOf(root, at, outcome), seq)
  }

  #endTurn(outcome: SpanOutcome, at: number, seq: number, about: Struct = {}): void {
    const turn = this.#turn
    if (turn === undefined) return
    this.#turn = undefined
    this.#turnEndedAt = at
    turn.attributes = { ...turn.attributes, ...about }
    if (outcome === 'error') this.totals.errors += 1
    this.#ended(this.#spanOf(turn, at, outcome), seq)
  }

  #spanOf({ log, parentId, link, ...open }: OpenTraceSpan, endedAt?: number, outcome?: SpanOutcome): TraceSpan {
    return {
      ...open,
      ...(parentId !== undefined ? { parentId } : {}),
      ...(link !== undefined ? { link } : {}),
      taskId: this.taskId,
      ...(endedAt !== undefined ? { endedAt: Math.max(endedAt, open.startedAt) } : {}),
      ...(outcome !== undefined ? { outcome } : {}),
      events: log?.events ?? [],
      droppedEvents: log?.dropped ?? 0,
    }
  }
}

function pendingMessageOf({ messageId }: Message, at: number, traceparent: string | undefined): PendingMessage {
  return { messageId, at, context: readTraceparent(traceparent) }
}

function errorText(message: Message | undefined): string | undefined {
  const text = (message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join(' ')
  return text === '' ? undefined : text.slice(0, maxErrorLength).toWellFormed()
}

const onBehalf = /^agent:([^|]*)\|/
const maxAgents = 32

/**
 * The chain of agents that led to this task; `undefined` for a task that no agent created. Derived from the provenance that the hub
 * stored with the message, or from the owner of the task, which only the hub assigns; never from the content of a message.
 */
function delegationContextOf(
  message: Pick<Message, 'referenceTaskIds'>,
  owner: string,
  provenance: Struct | undefined,
): DelegationContext | undefined {
  const chain = chainFromProvenance(provenance)
  if (chain !== undefined && chain.visited.length > 0) {
    const { parent: parentTaskId, root: rootTaskId, visited } = chain
    return { parentTaskId, rootTaskId, depth: visited.length, visited: visited.slice(0, maxAgents) }
  }
  const agents = agentsIn(owner)
  if (agents.length === 0) return undefined
  const [parentTaskId] = message.referenceTaskIds ?? []
  return { ...(parentTaskId !== undefined ? { parentTaskId } : {}), depth: agents.length, visited: agents }
}

/** A child belongs to the calling agent on behalf of its caller: the last caller comes first in the owner. */
function agentsIn(owner: string): readonly string[] {
  const agents: string[] = []
  let rest = owner
  for (let found = onBehalf.exec(rest); found !== null && agents.length < maxAgents; found = onBehalf.exec(rest)) {
    agents.unshift(found[1] ?? '')
    rest = rest.slice(found[0].length)
  }
  return agents
}
