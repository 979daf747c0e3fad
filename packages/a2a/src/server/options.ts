/** What a server is told: about its agents, and about the house they live in. Types only. */
import type {
  AgentEntry,
  AgentOptions,
  EngineLimits,
  EngineLog,
  EngineParts,
  EngineRetention,
  OnEvent,
  TransformEvent,
} from '../engine/contract.ts'
import type { Caller } from '../model/caller.ts'
import type { AgentCard, AgentProvider, AgentSkill, SecurityRequirement, SecurityScheme } from '../model/card.ts'
import type { VersionId } from '../versions/version.ts'
import type { Admit, Binding, OnAnswer, OnStream } from './admission.ts'
import type { CardSigning } from './card-keys.ts'
import type { Credentials } from './credentials.ts'
import type { EndpointVariant } from './endpoint-variant.ts'
import type { Extension } from './extension.ts'
import type { PushOptions } from './push-options.ts'
import type { TenantOptions } from './tenants.ts'

/** Whatever the engine runs and wherever it keeps things: the server passes both on and looks into neither. */
export type Agent = AgentEntry['agent']
export type Store = EngineParts['store']

/** `merged`: the 1.0 card with the fields of 0.3 beside it. */
export type CardShape = 'merged' | '1.0' | '0.3'

/** What a card says, beyond its content: set for one agent, or for all agents of a server that do not set it. */
export interface CardSettings {
  /** The card for requests that name no version. Default `merged`. */
  readonly card?: CardShape
  /**
   * Bindings that are served but not listed on the card, for clients that refuse a card with an interface they cannot read.
   * Default: none.
   */
  readonly omitInterfaces?: readonly Binding[]
  /**
   * Leaves `securityRequirements` (0.x: `security`) off the card, for clients that cannot parse them. The schemes stay, and
   * so does what is enforced. Default false.
   */
  readonly omitSecurityRequirements?: boolean
}

/** One agent: what it does, what its card says, and how the engine treats it. */
export interface AgentSettings extends Partial<Omit<AgentOptions, 'idempotencyWindowMs'>>, CardSettings {
  readonly agent: Agent
  /** How repeated messages are recognised. Default: as the server does for all. */
  readonly idempotency?: Idempotency
  /** Of the card. Default: the agent's key, or `Agent`. */
  readonly name?: string
  readonly description?: string
  /** The agent's own version. Default `1.0.0`. */
  readonly version?: string
  readonly skills?: readonly AgentSkill[]
  readonly provider?: AgentProvider
  readonly documentationUrl?: string
  readonly iconUrl?: string
  /** Media types it takes. Default: anything; parts of other types are then refused (B-70). */
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
  /** Default true. */
  readonly streaming?: boolean
  /**
   * Declared in the card, and active for the requests that ask for them; a `required` one must be asked for by whoever
   * sends a message (B-144). Default: none.
   */
  readonly extensions?: readonly Extension[]
  /** Told of every event once it is in the log. */
  readonly onEvent?: OnEvent
  /** Changes or drops what the agent says before it is in the log. */
  readonly transformEvent?: TransformEvent
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme }
  readonly securityRequirements?: readonly SecurityRequirement[]
  /** What callers who proved who they are see beyond the public card, less the skills they may not use. */
  readonly extendedCard?: ExtendedCard
  /** Refuses messages that name no skill in `metadata.skillId`, unless they go on with a task (B-154). Default false. */
  readonly requireSkill?: boolean
  /** Asks for credentials before showing the card as well (B-24). Default: as the server does for all. */
  readonly protectCard?: boolean
  /**
   * A gRPC port of this agent alone, for clients that cannot name an agent in their messages: those of 0.3, and those of 1.0
   * that drop the interface's `tenant`. `serve` opens it; 0 takes a free port. Default: none. Only for one of several agents.
   */
  readonly grpcPort?: number
  /**
   * Where gRPC is reached for this agent alone, as its card says: `weather.example.com:443`. Calls with this `:authority`
   * reach the agent at any gRPC port of the server. Default: none. Only for one of several agents.
   */
  readonly grpcUrl?: string
}

/**
 * For how long a message that comes again is recognised as a repeat (B-163): it has the caller, the agent, the messageId and
 * the content of the first. `off`, or a window of 0: every message is a new one.
 */
export type Idempotency = { readonly windowMs: number } | 'off'

/** Laid over the public card. A function may answer each caller otherwise; nothing means "not configured" (B-136). */
export type CardPatch = Partial<Omit<AgentCard, 'supportedInterfaces' | 'capabilities' | 'signatures'>>
export type ExtendedCard =
  | CardPatch
  | ((caller: Caller) => CardPatch | undefined | null | Promise<CardPatch | undefined | null>)

/**
 * Who calls. Nothing, or a throw, means 401; an A2AError with PERMISSION_DENIED means 403.
 * `challenge` is the WWW-Authenticate header; an UNAUTHENTICATED error may bring its own in `details.challenge`.
 */
export interface Authenticate {
  (credentials: Credentials): Caller | undefined | null | Promise<Caller | undefined | null>
  readonly challenge?: string
  /** What cards say about it, unless an agent's own settings say otherwise: what is declared is what is enforced. */
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme }
  readonly securityRequirements?: readonly SecurityRequirement[]
}

export interface Limits extends EngineLimits {
  /** Of a request's body. Default 20 MB. */
  readonly bodyBytes: number
  /** Streams open at one time. */
  readonly streamsPerCaller: number
  /**
   * Bytes held for all clients that have not read them yet; bytes that several clients share count once. Over it the server
   * fetches no more for them until they read, or until clients that read nothing are disconnected after `stallMs`. Default
   * 256 MB.
   */
  readonly unsentBytes: number
  /** The same for one caller, so that no caller can stop the others. Default 64 MB. */
  readonly unsentBytesPerCaller: number
}

export interface HouseOptions extends CardSettings {
  /** Where the agents are reached from outside; a mount prefix is added. Default: as the request's Host says. */
  readonly publicUrl?: string
  /**
   * Where gRPC is reached from outside, as cards say it: `agent.example.com:443`. Default: the host that the card was
   * asked of, with the port that gRPC listens at; and nothing as long as it does not.
   */
  readonly grpcUrl?: string
  /** The path under which this handler is mounted, where the framework does not cut it off itself. */
  readonly prefix?: string
  /** Whether X-Forwarded-Host, X-Forwarded-Proto and X-Forwarded-For may be believed. Default false. */
  readonly trustProxy?: boolean
  /** The origins that browsers may call from. Default: none. */
  readonly cors?: readonly string[] | '*'
  /**
   * Requests for any other Host, or from a page of any other origin, are refused. Default: without `authenticate`,
   * connections to a loopback address of this machine must be for one of its names or for that of `publicUrl`.
   */
  readonly hosts?: readonly string[]
  /** Reads a missing A2A-Version as 0.3, as the letter of 1.0 says, instead of looking at method or path. */
  readonly strict?: boolean
  /** Paths that serve some requests differently from the official text. Default: none. */
  readonly endpointVariants?: readonly EndpointVariant[]
  /** What is offered. Default: all. */
  readonly versions?: readonly VersionId[]
  /** Default 300. */
  readonly cardMaxAgeSeconds?: number
  /**
   * Signs the cards, with a key of the store's keyring or a given one. Needs `publicUrl`, or `hosts` without a trusted
   * proxy: a signature must not vouch for whatever address a stranger's request names. Default: unsigned.
   */
  readonly signing?: boolean | CardSigning
  /**
   * What whoever runs the server signs beside, with `handler.keys`: each purpose has keys of its own in the store's keyring,
   * and their public halves are published with the others under names that begin with the purpose. Default: nothing.
   */
  readonly signsFor?: readonly string[]
  /** As for an agent, for all of them. */
  readonly extensions?: readonly Extension[]
  readonly onEvent?: OnEvent
  readonly transformEvent?: TransformEvent
  /** Keeps tasks apart by tenant (B-165…B-167). Default: there are none. */
  readonly tenants?: TenantOptions
  /** As for an agent, for all that do not say. Default false. */
  readonly protectCard?: boolean
  /** Whether callers without a name may list tasks. Default: those on this machine may. */
  readonly anonymousMayList?: boolean
  /** As for an agent, for all that do not say. Default 24 hours. */
  readonly idempotency?: Idempotency
  readonly authenticate?: Authenticate
  /** Asked of every call once it is known who calls and what for: refuses it, or says what goes along with its answer. */
  readonly admit?: Admit
  /**
   * Whether a caller may know of an agent: where a request names one that is not there, the answer lists those that are.
   * Default: those whose card is public.
   */
  readonly mayKnow?: (caller: Caller, agent: string) => boolean
  /**
   * Whether a browser at `/` gets a page that says which agents there are and how to call them; agents with a private card are
   * left out. Default: only `serve` shows it.
   */
  readonly homePage?: boolean
  /** Told of every request once it is answered: who, what, and how it went. Never of what was said. */
  readonly onAnswer?: OnAnswer
  /** Called for every stream that opens, to end it early: when the credentials that opened it are revoked, for example. */
  readonly onStream?: OnStream
  readonly limits?: Partial<Limits>
  /** Tells webhooks of what happens to a task. Default: no webhooks. */
  readonly push?: PushOptions
  /** Default 15 s. */
  readonly keepAliveMs?: number
  /** A connection that takes nothing for so long is dropped; its reader resumes by cursor. Default 30 s. */
  readonly stallMs?: number
  /** What is removed after a while. Default: nothing, unless the store has a rule of its own. */
  readonly retention?: EngineRetention
  /** 32 bytes that wrap the keys in the store, so that a copy of the store alone signs nothing. */
  readonly masterKey?: Uint8Array
  /** Default: warnings and errors go to the console. */
  readonly log?: EngineLog
}

/** One agent, described in place, or several by name. */
export type AgentsOption =
  | (AgentSettings & { readonly agents?: undefined })
  | {
      readonly agents: { readonly [name: string]: Agent | AgentSettings }
      /**
       * Which one answers where a request names none. Default: the first. `false`: no agent does, and such a request fails
       * with AGENT_NOT_FOUND and the names of the agents.
       */
      readonly default?: string | false
      readonly agent?: undefined
    }

export type HandlerOptions = HouseOptions & AgentsOption & { readonly store: Store }
