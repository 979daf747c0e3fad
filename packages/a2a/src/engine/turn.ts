/** What an agent is given: one turn of a task. It shows what the engine knows, and asks the engine for the rest. */
import type { AgentLog, AgentMessage, AskOptions, Resumed, Turn } from '../agents/agent.ts'
import { anonymous, type Caller } from '../model/caller.ts'
import { A2AError } from '../model/error.ts'
import type { LogRecord, TurnOptions } from '../model/record.ts'
import { secretTextIn } from '../model/sensitive.ts'
import type { Message, Struct, Task } from '../model/task.ts'
import { earlier } from './fold.ts'
import type { Live } from './live.ts'
import type { TurnSpans } from './turn-spans.ts'

export interface TurnParts {
  readonly live: Live
  readonly message: Message
  readonly options: TurnOptions
  readonly resumed: Resumed | undefined
  /** Which one of the task's it is. */
  readonly input: { readonly turn: number }
  readonly deadlineAt: number | undefined
  readonly log: AgentLog
  readonly spans: TurnSpans
  readonly messages: AsyncIterable<Message>
  signal(): AbortSignal
  /** The task as it stands, once everything said so far is written. */
  current(): Promise<Task | undefined>
  conversation(): Promise<readonly Task[]>
  referenced(): Promise<readonly Task[]>
  checkpoint(data: unknown): Promise<void>
  ask(question: string | AgentMessage, options: AskOptions): Promise<Message>
}

/** Whoever sent the message of this turn, and not that of another: keys of one owner may differ in what they may. */
function callerOf({ partition }: Live, { scopes, skills }: TurnOptions): Caller {
  const { owner, tenant } = partition
  return {
    id: owner,
    tenant,
    ...(scopes !== undefined ? { scopes } : {}),
    ...(skills !== undefined ? { skills } : {}),
    ...(owner === anonymous.id ? { anonymous: true } : {}),
  }
}

export function createTurn(parts: TurnParts): Turn {
  return new EngineTurn(parts)
}

/**
 * A class for its getters, which an object literal would make anew for each turn. What can be called is made when it is
 * looked at, so that an agent may take its turn apart: `async *agent({ text, ask })`.
 */
class EngineTurn implements Turn {
  readonly message: Message
  readonly caller: Caller
  readonly resumed: Resumed | undefined
  readonly #parts: TurnParts

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.message = parts.message
    this.caller = callerOf(parts.live, parts.options)
    this.resumed = parts.resumed
  }

  get text(): string {
    return textOf(this.message)
  }

  get task(): Turn['task'] {
    const { live, options } = this.#parts
    const { contextId, status } = live.fold
    const deadlineAt = earlier(live.fold.deadlineAt, options.deadlineAt)
    return { id: live.id, contextId, state: status.state, ...(deadlineAt !== undefined ? { deadlineAt } : {}) }
  }

  /** Of the messages before, where this one came without: what it goes on with came from there. */
  get provenance(): Struct | undefined {
    const { options, live } = this.#parts
    return options.provenance ?? live.fold.provenance
  }

  get tenant(): string {
    return this.#parts.live.partition.tenant
  }

  get remembered(): Turn['remembered'] {
    const { input, live } = this.#parts
    const { turn, checkpoint, remembered } = live.fold
    // The agent may look before the start of its turn is written: what was said last is then that of the turn before.
    return turn < input.turn ? (checkpoint ?? remembered) : remembered
  }

  get deadlineAt(): number | undefined {
    return this.#parts.deadlineAt
  }

  get signal(): AbortSignal {
    return this.#parts.signal()
  }

  get messages(): AsyncIterable<Message> {
    return this.#parts.messages
  }

  get acceptedOutputModes(): readonly string[] {
    return this.#parts.options.acceptedOutputModes ?? []
  }

  get streamed(): boolean {
    return this.#parts.options.streamed === true
  }

  get metadata(): Struct {
    return this.#parts.options.metadata ?? {}
  }

  get extensions(): readonly string[] {
    return this.#parts.options.extensions ?? []
  }

  get history(): Turn['history'] {
    return async () => (await this.#parts.current())?.history ?? [this.message]
  }

  get artifacts(): Turn['artifacts'] {
    return async () => (await this.#parts.current())?.artifacts ?? []
  }

  get context(): Turn['context'] {
    return () => this.#parts.conversation()
  }

  get references(): Turn['references'] {
    return () => this.#parts.referenced()
  }

  get checkpoint(): Turn['checkpoint'] {
    return (data) => unheard(this.#parts.checkpoint(data))
  }

  get log(): AgentLog {
    return this.#parts.log
  }

  get traceparent(): string {
    return this.#parts.spans.traceparent
  }

  get tracestate(): string | undefined {
    return this.#parts.options.tracestate
  }

  get span(): Turn['span'] {
    return (name, options = {}) => this.#parts.spans.start(name, options)
  }

  get ask(): Turn['ask'] {
    return (question, options = {}) => unheard(this.#parts.ask(question, options).then(textOf))
  }

  get askMessage(): Turn['askMessage'] {
    return (question, options = {}) => unheard(this.#parts.ask(question, options))
  }
}

/** An agent that does not wait for what it asked for must not bring the process down when it is stopped. */
function unheard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

export function turnIsOver(): A2AError {
  return new A2AError('INTERRUPTED', 'The turn is over')
}

export function textOf(message: Message): string {
  const [only] = message.parts
  if (message.parts.length === 1 && only !== undefined && 'text' in only) return only.text
  const texts = message.parts.flatMap((part) => ('text' in part ? [part.text] : []))
  // Clients that mark a secret say it as data and not as text, where it would be shown.
  return (texts.length > 0 ? texts : message.parts.flatMap((part) => secretTextIn(part) ?? [])).join('\n')
}

/** An AbortSignal made only if somebody looks at it: most short turns never do, and a controller is not free. */
export class StopSignal {
  #controller: AbortController | undefined
  #aborted: { readonly reason: unknown } | undefined

  signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason)
    }
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    if (this.#aborted !== undefined) return
    this.#aborted = { reason }
    this.#controller?.abort(reason)
  }
}

/**
 * The messages that steer a turn, as they come. Each is taken when the agent reads it and not before: one that it never
 * reads still waits when the turn ends, and starts the next.
 */
export function createInbox(take: (record: LogRecord) => Message | undefined): Inbox {
  const arrived: LogRecord[] = []
  let ended = false
  let wake: (() => void) | undefined
  const changed = (): void => {
    wake?.()
    wake = undefined
  }
  async function* read(): AsyncGenerator<Message> {
    while (!ended) {
      const record = arrived.shift()
      if (record === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else {
        const message = take(record)
        if (message !== undefined) yield message
      }
    }
  }
  return {
    push(record) {
      arrived.push(record)
      changed()
    },
    end() {
      ended = true
      changed()
    },
    values: { [Symbol.asyncIterator]: read },
  }
}

export interface Inbox {
  push(record: LogRecord): void
  end(): void
  readonly values: AsyncIterable<Message>
}
