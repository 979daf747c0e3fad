/** The options of a server and of its agents. Types only. */
import type {
  AgentEntry,
  AgentOptions,
  Engine,
  EngineLimits,
  EngineLog,
  EngineRetention,
  OnEvent,
  TransformEvent,
} from '../engine/contract.ts'
import type { BindingName } from '../bindings/protocol-bindings.ts'
import type { ClientCertificate } from '../bindings/http.ts'
import type { Caller } from '../model/caller.ts'
import type { AgentCard, AgentSkill, CardInfo, SecurityRequirement, SecurityScheme } from '../model/card.ts'
import type { A2AError, ErrorCode } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { LogStore } from '../stores/log-store.ts'
import type { Store } from '../stores/store.ts'
import type { VersionId } from '../versions/index.ts'
import type { CardSigning } from './cards/card-keys.ts'
import type { EndpointVariant } from './calls/endpoint-variant.ts'
import type { Extension } from './extensions/extension.ts'
import type { PushOptions } from './push/push-options.ts'

/** The type of the engine for agents: the server passes them on. */
export type Agent = AgentEntry['agent']
export type { Store } from '../stores/store.ts'

/** The shape of an agent card: that of a version, or `merged`, the newest with the fields of 0.3 beside it. */
export type CardVariant = 'merged' | VersionId

/** Options for the form of a card: set for one agent, or as a default for all agents of a server. */
export interface CardSettings {
  /** The card for requests that name no version. Default `merged`. */
  readonly card?: CardVariant
  /**
   * Bindings that are served but not listed on the card, for clients that refuse a card with an interface they cannot read.
   * Default: none.
   */
  readonly omitInterfaces?: readonly BindingName[]
  /**
   * Omits `securityRequirements` (0.x: `security`) from the card, for clients that cannot parse them. The schemes stay, and
   * enforcement does not change. Default false.
   */
  readonly omitSecurityRequirements?: boolean
}

/** One agent: its function, its card, and its engine options. */
export interface AgentSettings extends Partial<Omit<AgentOptions, 'idempotencyWindowMs'>>, CardSettings, CardInfo {
  /** Handles the messages: a function of a turn, or an object that also says what a restart means for unfinished turns. */
  readonly agent: Agent
  /** How repeated messages are recognized. Default: the server's setting. */
  readonly idempotency?: Idempotency
  /** The name in the card. Default: the agent's key, or `Agent`. */
  readonly name?: string
  /** The description in the card. Default: made of the name. */
  readonly description?: string
  /** The agent's own version. Default `1.0.0`. */
  readonly version?: string
  /** The skills in the card. Default: one skill with the id `default`. */
  readonly skills?: readonly AgentSkill[]
  /** Accepted media types. Default: all are accepted. */
  readonly inputModes?: readonly string[]
  /** Whether parts of other media types than `inputModes` are refused (B-70). `false`: the card only shows them. Default true. */
  readonly inputModesRequired?: boolean
  /** Media types that the agent can produce. Default: not restricted. */
  readonly outputModes?: readonly string[]
  /**
   * Whether a request that accepts none of `outputModes` is refused. Default false: what a request accepts is a preference, and the
   * agent answers in its own media types (B-69).
   */
  readonly outputModesRequired?: boolean
  /** Whether the agent supports streaming. Default true. */
  readonly streaming?: boolean
  /**
   * Declared in the card, and active for the requests that ask for them; a client that sends a message must ask for a `required`
   * one (B-144). Default: none.
   */
  readonly extensions?: readonly Extension[]
  /** Refuses messages before they open a task, with the A2AError that it throws. Default: none. */
  readonly checkMessage?: AgentEntry['checkMessage']
  /** Called with every event once it is in the log. */
  readonly onEvent?: OnEvent
  /** Changes or drops reports of the agent before they are in the log. */
  readonly transformEvent?: TransformEvent
  /** The security schemes in the card. Default: those of `authenticate`. */
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme }
  /** The security requirements in the card. Default: those of `authenticate`. */
  readonly securityRequirements?: readonly SecurityRequirement[]
  /** What authenticated callers see beyond the public card, without the skills they may not use. */
  readonly extendedCard?: ExtendedCard
  /** Refuses messages that name no skill in `metadata.skillId`, unless they continue a task (B-154). Default false. */
  readonly requireSkill?: boolean
  /** Requires credentials for the card as well (B-24). Default: the server's setting. */
  readonly protectCard?: boolean
  /**
   * A dedicated gRPC port, for clients that cannot name an agent in their messages: those of 0.3, and those of 1.0 that drop the
   * interface's `tenant`. `serve` opens it; 0 picks a free port. Default: none. Only for one of several agents.
   */
  readonly grpcPort?: number
  /**
   * A dedicated gRPC address, as its card lists it: `weather.example.com:443`. Calls with this `:authority` reach the agent at any
   * gRPC port of the server. Default: none. Only for one of several agents.
   */
  readonly grpcUrl?: string
}

/**
 * How long a repeated message is recognized (B-163): it has the caller, the agent, the messageId and the content of the first.
 * `off`, or a window of 0: every message is new.
 */
export type Idempotency = { readonly windowMs: number } | 'off'

/** Fields that the extended card adds to the public card, or replaces there. */
export type CardPatch = Partial<Omit<AgentCard, 'supportedInterfaces' | 'capabilities' | 'signatures'>>
/**
 * The extended card: a patch over the public card, or a function that returns a patch for each caller; `undefined`
 * means "not configured" (B-136).
 */
export type ExtendedCard =
  | CardPatch
  | ((caller: Caller) => CardPatch | undefined | null | Promise<CardPatch | undefined | null>)

/** One call of an agent, as `authenticate`, `admit`, `onStream` and `onOutcome` get it: the same object for all of them. */
export interface Call {
  readonly method: string
  readonly path: string
  /** The query string, without `?`. */
  readonly query: string
  /** Returns a request header; `name` is in lower case. For gRPC: the metadata of the call. */
  readonly header: (name: string) => string | undefined
  /** The address of the peer, as the listener reports it. */
  readonly remoteAddress?: string | undefined
  /** The address of the client: behind a trusted proxy (`trustProxy`), the one that the proxy reports. */
  readonly clientAddress?: string | undefined
  /** The client's TLS certificate, if the listener requests certificates and trusts the issuer of this one. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The name of the called agent. */
  readonly agent: string
  /** `call`: an operation. `card`: an agent card. */
  readonly endpoint: 'call' | 'card'
  readonly binding: BindingName
  /** The version of the response. Absent for cards. */
  readonly version?: VersionId | undefined
  /** The object that `authenticate` returned. Absent until then. */
  readonly caller?: Caller | undefined
  /** Absent until the request is read, for cards, and if the request names no operation, such as one that is not JSON. */
  readonly operation?: Operation | undefined
  /** The task that the request or the response names, once it is known. */
  readonly taskId?: string | undefined
  /** Data of your application: set it in `authenticate` and read it in the hooks that follow. No agent and no log sees it. */
  data?: unknown
}

/** A call whose caller is known: it waits for admission, or streams. */
export interface AuthenticatedCall extends Call {
  readonly caller: Caller
}

/** A call that was answered, as reported to `onOutcome`. For a stream: how it began. Never the content. */
export interface EndedCall extends Call {
  /** `OK`, or the code of the error. */
  readonly outcome: 'OK' | ErrorCode
  /** The HTTP status; for gRPC the equivalent one. */
  readonly status: number
  /** From the arrival of the request to its response; for a stream, to its first event. */
  readonly durationMs: number
}

/** The decision on a call. An empty object admits it. */
export interface AdmissionResult {
  /** Sent with the response, success or error, by lower-case name. In gRPC they are metadata. */
  readonly headers?: Readonly<Record<string, string>>
  /** Refuses the call with this error: RATE_LIMITED (its `retryAfterSeconds` becomes the header), PERMISSION_DENIED. */
  readonly refuse?: A2AError
}

/**
 * Decides whether a call may proceed, once the caller and the operation are known. May be async. A thrown A2AError
 * refuses the call; any other thrown value becomes INTERNAL.
 */
export type Admit = (call: AuthenticatedCall) => AdmissionResult | Promise<AdmissionResult>

/**
 * Called for every stream that opens. `end` ends it early with an error; its task continues. Returns a function that is called when
 * the stream has ended, or `undefined` if you will not end it.
 */
export type OnStream = (call: AuthenticatedCall, end: (reason: A2AError) => void) => (() => void) | undefined

/** Called for every answered request. Not awaited; errors that it throws are logged. */
export type OnOutcome = (call: EndedCall) => void

/**
 * Identifies the caller of a request. `undefined`, or a thrown error, means 401; an A2AError with PERMISSION_DENIED
 * means 403. `apiKey`, `basic`, `bearer` and `mtls` create one; `anyOf` and `allOf` combine several.
 */
export interface Authenticate {
  (call: Call): Caller | undefined | null | Promise<Caller | undefined | null>
  /** The WWW-Authenticate header of a 401. An UNAUTHENTICATED error may carry its own in `details.challenge`. */
  readonly challenge?: string
  /** The declaration in cards, unless an agent's own settings override it. Declare what you enforce. */
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme }
  readonly securityRequirements?: readonly SecurityRequirement[]
}

/** What one request or caller may take. Requests beyond a limit are refused. */
export interface Limits extends EngineLimits {
  /** Size of a request body in bytes. Default 20,000,000. */
  readonly bodyBytes: number
  /** Open streams of one caller. Default 2,000. Beyond it a stream fails with RATE_LIMITED. */
  readonly streamsPerCaller: number
  /**
   * Bytes held for all clients that have not read them yet; bytes that several clients share count once. Over it the server fetches
   * no more for them until they read, or until clients that read nothing are disconnected after `stallMs`. Default 256 MB.
   */
  readonly unsentBytes: number
  /** The same for one caller, so that no caller can block the others. Default 64 MB. */
  readonly unsentBytesPerCaller: number
}

/** Which tenants a server has. A tenant is a partition: tasks of one are invisible to another. */
export interface TenantOptions {
  /** The tenants that the card lists, each with interfaces of its own. */
  readonly declared: readonly string[]
  /** The tenants that a caller may use. Default: its `tenants`, else its own `tenant`, else all declared ones. */
  allowedTenants?(caller: Caller): readonly string[]
}

/**
 * Options of a server that apply to all its agents. Invalid ones make `createHandler` and `serve` throw ConfigError.
 */
export interface ServerOptions extends CardSettings {
  /** The public URL of the agents; a mount prefix is added. Default: from the request's Host. */
  readonly publicUrl?: string
  /**
   * The public address of gRPC in cards: `agent.example.com:443`. Default: the host of the card request with the port of the gRPC
   * listener; none while there is no listener.
   */
  readonly grpcUrl?: string
  /** The path at which this handler is mounted, if the framework does not remove it itself. */
  readonly prefix?: string
  /** Whether to trust X-Forwarded-Host, X-Forwarded-Proto and X-Forwarded-For. Default false. */
  readonly trustProxy?: boolean
  /** The origins that browsers may call from. Default: none. */
  readonly cors?: readonly string[] | '*'
  /**
   * Requests for any other Host, or from a page of any other origin, are refused. Default: without `authenticate`, connections to a
   * loopback address of this machine must name this machine or the host of `publicUrl`.
   */
  readonly hosts?: readonly string[]
  /** Treats a missing A2A-Version as 0.3, as 1.0 literally requires, instead of looking at method or path. */
  readonly strict?: boolean
  /** Paths that serve some requests differently from the official protocol. Default: none. */
  readonly endpointVariants?: readonly EndpointVariant[]
  /** The offered versions. Default: all. */
  readonly versions?: readonly VersionId[]
  /** How long clients may cache a card, in seconds. Default 300. */
  readonly cardMaxAgeSeconds?: number
  /**
   * Signs the cards, with a key of the store's keyring or a configured one. Needs `publicUrl`, or `hosts` without a trusted proxy:
   * a signature must not vouch for an address that a client's request chooses. Default: unsigned.
   */
  readonly signing?: boolean | CardSigning
  /**
   * Purposes for which the operator signs with `handler.signingKeys`: each purpose has keys of its own in the store's keyring, and
   * their public keys are published with the others under key ids that begin with the purpose. Default: none.
   */
  readonly signingPurposes?: readonly string[]
  /** Extensions for all agents. */
  readonly extensions?: readonly Extension[]
  /** Default for agents that do not set it. */
  readonly onEvent?: OnEvent
  /** Default for agents that do not set it. */
  readonly transformEvent?: TransformEvent
  /** Separates tasks by tenant (B-165…B-167). Default: no tenants. */
  readonly tenants?: TenantOptions
  /** Default for agents that do not set it. Default false. */
  readonly protectCard?: boolean
  /** Whether anonymous callers may list tasks. Default: those on this machine may. */
  readonly allowAnonymousList?: boolean
  /** Default for agents that do not set it. Default 24 hours. */
  readonly idempotency?: Idempotency
  /** Identifies the caller, before the body of a request is read. Default: every caller is anonymous. */
  readonly authenticate?: Authenticate
  /** Called for every call once the caller and the operation are known: refuses it, or returns headers for its response. */
  readonly admit?: Admit
  /**
   * The scopes of a caller within those that an extension limits a call to (`CallConstraints.scopes`). Default: the scopes that are
   * in both lists. Set it if a scope of yours can include others, such as `agent:*`.
   */
  readonly intersectScopes?: (held: readonly string[], limit: readonly string[]) => readonly string[]
  /**
   * Whether a caller may see an agent: the error for an agent that is not registered lists those that are. Default: agents with a
   * public card.
   */
  readonly canSeeAgent?: (caller: Caller, agent: string) => boolean
  /**
   * Whether a browser at `/` gets a page that lists the agents and how to call them; agents with a private card are omitted.
   * Default: only `serve` shows it.
   */
  readonly homePage?: boolean
  /** Called for every answered request: the caller, the operation and the outcome. Never the content. */
  readonly onOutcome?: OnOutcome
  /**
   * Called for every stream that opens, so that you can end it early: when the credentials that opened it are revoked, for example.
   */
  readonly onStream?: OnStream
  /** Limits of requests and callers. Default: see each limit. */
  readonly limits?: Partial<Limits>
  /** Enables push notifications. Default: off. */
  readonly push?: PushOptions
  /** Interval of SSE comments and gRPC pings on open streams. Default 15 s. */
  readonly keepAliveMs?: number
  /** A connection that takes nothing for this long is closed; its client resumes by cursor. Default 30 s. */
  readonly stallMs?: number
  /**
   * Replaces operations of the engine, for a server whose tasks are kept elsewhere, such as a proxy of another agent. Gets the
   * engine of the store, and returns the one to use. Default: the engine of the store.
   */
  readonly wrapEngine?: (engine: Engine) => Engine
  /** What is removed after a while. Default: nothing, unless the store has a rule of its own. */
  readonly retention?: EngineRetention
  /** 32 bytes that wrap the keys in the store, so that a copy of the store alone cannot sign. */
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
       * The agent for requests that name none. Default: the first. `false`: no agent, and such a request fails with AGENT_NOT_FOUND
       * and the names of the agents.
       */
      readonly default?: string | false
      readonly agent?: undefined
    }

/** Options of `createHandler`: the server's, one or several agents, and the store, whole or as the logs of an application. */
export type HandlerOptions = ServerOptions & AgentsOption & { readonly store: Store | LogStore }
