/**
 * An agent kind: a schema for its entry in the configuration, and a function that opens it. Each kind is one folder or file
 * of this module, and is complete when it passes `agentContract` of `@parley/a2a/testing`.
 */
import type {
  Agent,
  AgentCard,
  AgentLog,
  AgentMessage,
  AgentSkill,
  Message,
  Part,
  StreamEvent,
  Task,
  Turn,
} from '@parley/a2a'
import type { CardInfo, CardSignature } from '@parley/a2a/internal'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { DirectFetch } from '@parley/a2a/client'
import type { Extension } from '@parley/a2a/server'
import type { ZodType } from 'zod'
import type { ChatModel, TokenUsage } from './chat-model.ts'

export interface AgentKind<Entry = unknown> {
  /** The value of `kind:` in the configuration. */
  readonly kind: string
  /** The fields of this kind; fields of every entry (description, skills, limits…) belong to the configuration. */
  readonly schema: ZodType<Entry>
  /** Must not wait long for a connection: the backend may be down when the hub starts. */
  open(entry: Entry, services: AgentServices): OpenAgent | Promise<OpenAgent>
  /** Source files of the agent: the hub opens it again when one of them changes. */
  files?(entry: Entry, baseDir: string): readonly string[]
  /** Default turn timeout of this kind. Default: 5 minutes. */
  readonly turnTimeoutMs?: number
  /**
   * 0 for kinds that never answer with a bare Message: the agent is called once the message is durable, so that a crash
   * cannot run it twice. Default: 250 ms, within which an agent may answer without a task.
   */
  readonly openAfterMs?: number
  /** Its card is that of a remote agent, which decides itself what it accepts: input modes are shown, and refuse nothing. */
  readonly hasRemoteCard?: true
}

/** What the hub provides to an agent. */
export interface AgentServices {
  /** The agent's name in this hub. */
  readonly name: string
  readonly log: AgentLog
  /** Base of relative paths in the entry: the folder of the configuration file. */
  readonly baseDir: string
  /** Environment for child processes: PATH, HOME, LANG and the like, without secrets. */
  readonly programEnv: Readonly<Record<string, string>>
  /** For addresses from the configuration. */
  readonly fetch: typeof fetch & Partial<Pick<DirectFetch, 'exchange'>>
  /** For addresses from a caller or a remote party: never reaches the internal network (B-173). */
  readonly guardedFetch: typeof fetch & Partial<Pick<DirectFetch, 'exchange'>>
  /** Resolves the host of an address that a remote party names, for transports other than fetch; rejects if it is internal. */
  readonly guardedLookup: (host: string, port: number) => Promise<readonly string[]>
  /** Limit of JSON values in one response or message of the backend (`limits.jsonNodes`). Default 100,000. */
  readonly jsonNodes?: number
  /** Key-value store for what this agent remembers beyond one turn. Not shared with other agents. */
  readonly kv: KeyValueStore
  /** Key-value store shared by all agents of this kind; the same object for all. If omitted, nothing is shared. */
  readonly kindKv?: KeyValueStore
  /** The turn timeout, for backends that need it. The engine enforces it. */
  readonly turnTimeoutMs?: number
  /** The content of a raw, text or url part; fetched with the guarded fetch and a size limit. */
  readPart(part: Part, signal: AbortSignal): Promise<PartBytes>
  /** Calls other agents of this hub. */
  readonly inProcessClient: InProcessClient
  /** The model of another agent of this hub, as configured now; undefined if there is no such agent or it has no model. */
  model(agent: string): ChatModel | undefined
  /** The persona from the entry, for agents that use a prompt. */
  readonly persona?: string
  /** The cost of a model call by the configured prices; undefined if no price is known. */
  cost?(model: string, usage: TokenUsage): number | undefined
  /** The public URL of the hub, without a trailing slash. Undefined before it listens. */
  publicUrl(): string | undefined
  /** Wall-clock time, for values that are displayed, stored or sent. */
  readonly now: () => number
  /** For durations: steps of the wall clock do not affect it. */
  readonly monotonicNow: () => number
  /** Asks the hub to fetch the card again, because the agent's description changed. Optional. */
  readonly refreshCard?: () => void
  /** Signals a change of the agent that the operator should see. Optional. */
  readonly notifyChange?: () => void
}

export interface PartBytes {
  readonly bytes: Uint8Array
  readonly mediaType?: string
  readonly filename?: string
}

/** Calls between agents of the hub: real tasks in this process. */
export interface InProcessClient {
  /** The card as the caller of `turn` may see it; undefined if the agent does not exist or the caller may not see it. */
  card(agent: string, turn: Turn): Promise<AgentCard | undefined>
  /** The agents that the caller of `turn` may use, without those that already work on this chain. */
  agents(turn: Turn): Promise<readonly CallableAgent[]>
  /**
   * Sends a message as a child task. The child belongs to the calling agent on behalf of the turn's caller, and its message
   * references the turn's task. The first event is the child task. Throws before anything is opened if the delegation would
   * form a cycle or exceed its budget.
   */
  stream(call: InProcessCall): AsyncIterable<StreamEvent>
  /** Yields the current state of a child, then its events. For an ended child: its final state. */
  subscribe(agent: string, taskId: string, turn: ParentTurn): AsyncIterable<StreamEvent>
  task(agent: string, taskId: string, turn: ParentTurn): Promise<Task>
  cancel(agent: string, taskId: string, turn: ParentTurn): Promise<Task>
  /**
   * A token that names the subject of a call to a remote agent; undefined if this hub does not trust the remote hub. Throws
   * like `stream`.
   */
  hopTokenFor(turn: Turn, call: { readonly card: AgentCard; readonly messageId: string }): Promise<string | undefined>
}

/** An agent of this hub that a turn may delegate to. */
export interface CallableAgent {
  /** The name to pass to `delegate`. */
  readonly name: string
  /** The card as the caller of the turn may see it. */
  readonly card: AgentCard
}

/** The parent of a child: a turn, or what is known of one that has ended. */
export type ParentTurn = Pick<Turn, 'tenant'> & {
  readonly caller: Pick<Turn['caller'], 'id'>
  readonly signal?: AbortSignal
}

export interface InProcessCall {
  readonly agent: string
  readonly message: AgentMessage
  /** The same id with the same content is the same message. Default: a new id. */
  readonly messageId?: string
  /**
   * When the message was first sent, if this may be a repeat. Throws TASK_FAILED without sending if the hub would no longer
   * recognize it.
   */
  readonly sentAt?: number | undefined
  readonly taskId?: string
  readonly contextId?: string
  /** The turn on whose behalf the call is made. Its signal ends the waiting, not the child. */
  readonly turn: Turn
  /** Deadline of the child, unless its parent ends earlier: milliseconds since the epoch. */
  readonly deadlineAt?: number | undefined
  /** Default: the turn's own. */
  readonly traceparent?: string
  /** The child replaces the turn: it also gets the metadata of the request. */
  readonly isReplacement?: boolean
}

/** An open agent. */
export interface OpenAgent {
  readonly agent: Agent
  /** Card fields that are known without a request; the configuration overrides them. */
  readonly card?: PartialCard
  /** Called after opening and then periodically. If it fails, the previous fields stay. Never calls a model. */
  fetchCard?(signal: AbortSignal): Promise<PartialCard | undefined>
  /** A model that other agents may use. */
  readonly model?: ChatModel
  /** Each text that it yields is a separate message: flat tasks show them separately. Default: chunks of one answer. */
  readonly hasMessagePerText?: boolean
  /** When its tasks open, where its entry sets that. Default: as its kind says. */
  readonly openAfterMs?: number | undefined
  /** Protocol extensions that it supports, in addition to those of every agent. */
  readonly extensions?: readonly Extension[]
  /** Handles requests below `/a2a/{name}/hooks/`, such as notifications of a remote agent. */
  readonly handleWebhook?: (request: Request) => Promise<Response>
  /**
   * Called with a message before it opens a task: throws an A2AError if the message cannot be answered, now or at all, as far as that
   * is known without a request. Messages for an agent that has this are also refused while its circuit breaker is open. Not called for
   * messages that routes delegate to other agents.
   */
  checkMessage?(message: Message): void
  /** Resolves if the backend can be reached. */
  health?(signal: AbortSignal): Promise<void>
  /** For a remote agent: its approved and its current card. */
  readonly cardWatch?: CardWatch
  /** Called when nothing runs any more. */
  close?(): Promise<void>
}

export interface CardWatch {
  state(): Promise<CardState>
  /** Approves this card. Resolves to false if it is not the pending one. */
  approve(fingerprint: string): Promise<boolean>
}

export interface CardState {
  /** What happens with a card that is not approved: it raises an alert, it is blocked, or it is ignored. */
  readonly policy: 'alert' | 'block' | 'ignore'
  readonly approved?: ObservedCard
  /** The current card if it differs from the approved one, and the names of the changed fields. */
  readonly changed?: ObservedCard & { readonly fields: readonly string[] }
  /** The signature check of the last card that was fetched. */
  readonly signature?: CardSignature
}

export interface ObservedCard {
  readonly fingerprint: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly card: AgentCard
}

/** The fields of a card that an agent kind knows. */
export interface PartialCard extends CardInfo {
  readonly name?: string
  readonly description?: string
  readonly version?: string
  readonly skills?: readonly AgentSkill[]
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
  readonly streaming?: boolean
}
