/**
 * What a kind of agent is to the hub: a schema for its entry in the configuration, and a way to open it. Each kind is one
 * folder or file of this room, and is done when it passes `agentContract` of `@parley/a2a/testing`.
 */
import type {
  Agent,
  AgentCard,
  AgentLog,
  AgentMessage,
  AgentProvider,
  AgentSkill,
  Notes,
  Part,
  StreamEvent,
  Task,
  Turn,
} from '@parley/a2a'
import type { CardSignature } from '@parley/a2a/client'
import type { Extension } from '@parley/a2a/server'
import type { ZodType } from 'zod'
import type { ChatModel, TokenUsage } from './chat-model.ts'

export interface AgentKind<Entry = unknown> {
  /** As `kind:` in the configuration says it. */
  readonly kind: string
  /** The fields of its own; those that every entry has (description, skills, limits…) are the configuration's. */
  readonly schema: ZodType<Entry>
  /** Makes no connection that it would have to wait for long: what is behind may be down when the hub starts. */
  open(entry: Entry, parts: KindParts): OpenAgent | Promise<OpenAgent>
  /** Files that the agent is made of: when one of them changes it is opened anew. */
  files?(entry: Entry, baseDir: string): readonly string[]
  /** How long a turn may take where the entry does not say. Default: 5 minutes. */
  readonly turnTimeoutMs?: number
  /**
   * 0 for kinds that never answer with a bare Message: their agents are called once the message is durable, so that a crash
   * cannot make them run twice. Default: 250 ms, within which an agent may answer without a task.
   */
  readonly openAfterMs?: number
}

/** What the hub lends to an agent. */
export interface KindParts {
  /** The agent's name in this hub. */
  readonly name: string
  readonly log: AgentLog
  /** Relative paths of the entry begin here: where the configuration file is. */
  readonly baseDir: string
  /** What programs that it starts see of the hub's own environment: PATH, HOME, LANG and the like, and no secrets. */
  readonly programEnv: Readonly<Record<string, string>>
  /** For addresses that the configuration names. */
  readonly fetch: typeof fetch
  /** For addresses that a stranger names: never reaches the inside of the network (B-173). */
  readonly guardedFetch: typeof fetch
  /** Resolves the host of an address that a remote party names, for transports other than fetch; rejects if it is internal. */
  readonly guardedLookup: (host: string, port: number) => Promise<readonly string[]>
  /** JSON values in one answer or message of the backend (`limits.jsonNodes`). Default 100,000. */
  readonly jsonNodes?: number
  /** What this agent has to remember beyond one turn. Nobody else's notes are in it. */
  readonly notes: Notes
  /** What all agents of this kind remember together, the same object for all. Left out: each for itself. */
  readonly kindNotes?: Notes
  /** How long a turn may take, for backends that want to be told. The engine sees to it. */
  readonly turnTimeoutMs?: number
  /** The content of a raw, text or url part; fetched under the guard and within a bound. */
  bytes(part: Part, signal: AbortSignal): Promise<PartBytes>
  /** Other agents of this hub. */
  readonly house: House
  /** What an agent of this hub thinks with, as it is configured now; nothing if there is no such agent, or it has none. */
  model(agent: string): ChatModel | undefined
  /** What the agent is like, as its entry says: agents that talk by themselves are told. */
  readonly persona?: string
  /** What a call of a model costs, as the configuration prices it; nothing where no price is known. */
  cost?(model: string, usage: TokenUsage): number | undefined
  /** Where the hub is reached from outside, without a slash at the end. Nothing before it listens. */
  publicUrl(): string | undefined
  /** Wall time: what is shown, kept, or told to others. */
  readonly now: () => number
  /** For durations: a step of the wall clock does not change it. */
  readonly monotonicNow: () => number
  /** What the agent says of itself has changed: the hub should look again. Left out: nobody listens. */
  readonly lookAgain?: () => void
  /** Something about the agent is otherwise than it was, for whoever runs the hub to see. Left out: nobody looks. */
  readonly notice?: () => void
}

export interface PartBytes {
  readonly bytes: Uint8Array
  readonly mediaType?: string
  readonly filename?: string
}

/** Calls between the agents of a hub: real tasks, in this process. */
export interface House {
  /** As the caller of `turn` may see it; nothing if there is no such agent, or not for that caller. */
  card(agent: string, turn: Turn): Promise<AgentCard | undefined>
  /** Those that the caller of `turn` may use, less the ones that are already at work on it. */
  agents(turn: Turn): Promise<readonly HouseAgent[]>
  /**
   * The child belongs to the calling agent on behalf of the turn's caller; its message refers to the turn's task. Begins with
   * the child as it is. Throws before anything is opened if agents would go in circles, or more of them than may be.
   */
  stream(call: HouseCall): AsyncIterable<StreamEvent>
  /** How a child stands, and then what happens to it. Of one that has ended: how it ended. */
  subscribe(agent: string, taskId: string, turn: OnBehalf): AsyncIterable<StreamEvent>
  task(agent: string, taskId: string, turn: OnBehalf): Promise<Task>
  cancel(agent: string, taskId: string, turn: OnBehalf): Promise<Task>
  /**
   * On whose behalf an agent elsewhere is called, for its hub to see; nothing if that is none that this one trusts. Throws as
   * `stream` does.
   */
  onward(turn: Turn, call: { readonly card: AgentCard; readonly messageId: string }): Promise<string | undefined>
}

export interface HouseAgent {
  readonly name: string
  readonly card: AgentCard
}

/** Whose child it is: a turn, or what is known of one that is over. */
export type OnBehalf = Pick<Turn, 'tenant'> & {
  readonly caller: Pick<Turn['caller'], 'id'>
  readonly signal?: AbortSignal
}

export interface HouseCall {
  readonly agent: string
  readonly message: AgentMessage
  /** The same again, with the same content, is the same message. Default: a new one. */
  readonly messageId?: string
  /**
   * When the message was first sent, where this is not certainly the first time. Throws TASK_FAILED, and sends nothing, if the
   * hub would no longer recognise it.
   */
  readonly sentAt?: number | undefined
  readonly taskId?: string
  readonly contextId?: string
  /** On whose behalf. Its signal ends the waiting, not the child. */
  readonly turn: Turn
  /** The child is ended by then, if its parent is not ended earlier: milliseconds since the epoch. */
  readonly deadlineAt?: number | undefined
  /** Default: the turn's own. */
  readonly traceparent?: string
  /** The child takes the turn's place: what the request said beside its message is said to it, too. */
  readonly isInstead?: boolean
}

/** An agent that runs. */
export interface OpenAgent {
  readonly agent: Agent
  /** What is known of it without asking anybody: laid under what the configuration says. */
  readonly card?: CardPart
  /** Asked once it is open and now and then later; may fail, and then what was known stays. Never calls a model. */
  look?(signal: AbortSignal): Promise<CardPart | undefined>
  /** What others may think with, too. */
  readonly model?: ChatModel
  /** Each text that it yields is a message of its own: flat tasks show them apart. Default: pieces of one answer. */
  readonly textsAreMessages?: boolean
  /** Protocol extensions that it knows, beside those of every agent. */
  readonly extensions?: readonly Extension[]
  /** Requests below `/a2a/{name}/hooks/`, such as notifications of an agent behind it. */
  readonly hook?: (request: Request) => Promise<Response>
  /** Resolves when what is behind can be reached. */
  health?(signal: AbortSignal): Promise<void>
  /** Of an agent that others run: its card as it was approved, and as it is. */
  readonly cardWatch?: CardWatch
  /** Nothing runs any more when it is called. */
  close?(): Promise<void>
}

export interface CardWatch {
  state(): Promise<CardState>
  /** From now on this one is approved. False if it is not the one that waits. */
  approve(fingerprint: string): Promise<boolean>
}

export interface CardState {
  /** What happens with one that was not approved: it is told of, it is not used, or nobody looks. */
  readonly policy: 'alert' | 'block' | 'ignore'
  readonly approved?: SeenCard
  /** What it says now, where that is something else, and which of its members are. */
  readonly changed?: SeenCard & { readonly fields: readonly string[] }
  /** What became of the signature of the one that was seen last. */
  readonly signature?: CardSignature
}

export interface SeenCard {
  readonly fingerprint: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly card: AgentCard
}

/** The part of a card that an agent knows of itself. */
export interface CardPart {
  readonly name?: string
  readonly description?: string
  readonly version?: string
  readonly provider?: AgentProvider
  readonly documentationUrl?: string
  readonly iconUrl?: string
  readonly skills?: readonly AgentSkill[]
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
  readonly streaming?: boolean
}
