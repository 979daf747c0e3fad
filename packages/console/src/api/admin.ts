/**
 * The admin API as the hub describes it. Made by `npm run admin-types`; not to be edited.
 */

export type Error = {
  readonly error: {
    /** For programs. */
    readonly code:
      | 'INVALID_PARAMS'
      | 'UNAUTHENTICATED'
      | 'PERMISSION_DENIED'
      | 'NOT_FOUND'
      | 'METHOD_NOT_ALLOWED'
      | 'CONFLICT'
      | 'PAYLOAD_TOO_LARGE'
      | 'UNSUPPORTED_MEDIA_TYPE'
      | 'RATE_LIMITED'
      | 'UNAVAILABLE'
      | 'INTERNAL'
    /** For people. */
    readonly message: string
    /** Every mistake, with its place. */
    readonly violations?: readonly {
      readonly field: string
      readonly description: string
    }[]
  }
}

export type Session = {
  /** `admin`, or the caller that a token named. */
  readonly subject: string
  /** What was shown with this request. */
  readonly by: 'key' | 'token' | 'session'
  /** To be shown in X-CSRF-Token, with the cookie. */
  readonly csrf?: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly expiresAt?: string
}

export type ListedSession = {
  readonly id: string
  /** `admin`, or the caller that a token named. */
  readonly subject: string
  /** The kind of credentials that opened it. They are checked at every request. */
  readonly by: 'key' | 'token' | 'oidc'
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly createdAt: string
  /** The last request with it; of other replicas up to ten seconds late. */
  readonly lastUsedAt: string
  /** The latest end, whatever is renewed. */
  readonly expiresAt: string
  /** The address that it was opened from. */
  readonly from?: string
  /** Whether this request was sent with this session. */
  readonly isCurrent: boolean
}

export type Key = {
  readonly id: string
  /** The part of the key that is no secret. */
  readonly prefix: string
  readonly name: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly scopes: readonly string[]
  /** Whose tasks are opened with it. */
  readonly principal: string
  readonly tenant?: string
  readonly rate?: string
  readonly tasksPerDay?: number
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly createdAt: string
  readonly createdBy: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly expiresAt?: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly revokedAt?: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly lastUsedAt?: string
}

export type MadeKey = {
  /** Shown only now. */
  readonly key: string
  readonly id: string
  /** The part of the key that is no secret. */
  readonly prefix: string
  readonly name: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly scopes: readonly string[]
  /** Whose tasks are opened with it. */
  readonly principal: string
  readonly tenant?: string
  readonly rate?: string
  readonly tasksPerDay?: number
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly createdAt: string
  readonly createdBy: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly expiresAt?: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly revokedAt?: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly lastUsedAt?: string
}

export type AuditEntry = {
  /** Where it stands. `before` with its last number plus one begins a page with it. */
  readonly id: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly at: string
  readonly agent?: string
  /** The principal, or `admin`. */
  readonly who?: string
  /** The id of the key that was shown, or that it is about. */
  readonly key?: string
  readonly task?: string
  readonly event: string
  readonly operation?: string
  /** `OK`, or the code of the error. */
  readonly outcome?: string
  readonly binding?: string
  readonly version?: string
  readonly state?: string
  readonly status?: number
  readonly from?: string
  readonly durationMs?: number
  readonly count?: number
}

export type Agent = {
  readonly name: string
  readonly kind: string
  readonly state: 'open' | 'unavailable'
  /** Why it is not open, when it was last tried, and when it is tried next. */
  readonly startError?: {
    readonly message: string
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly at: string
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly nextTryAt: string
  }
  /** Deprecated: `startError.message`. */
  readonly trouble?: string
  readonly health: {
    readonly state: 'up' | 'slow' | 'down'
    readonly why?: string
    /** Open: nothing is handed on to it for a while. */
    readonly breaker: 'closed' | 'open' | 'half-open'
    /** The usual time to its first word. */
    readonly firstWordMs?: number
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly askedAt?: string
  }
  readonly title: string
  readonly description?: string
  readonly version: string
  readonly url: string
  /** Where its card is. */
  readonly card: string
  readonly tags: readonly string[]
  readonly skills: readonly {
    readonly id: string
    readonly name: string
    readonly description: string
    readonly tags: readonly string[]
  }[]
  readonly isDefault: boolean
  /** Whether it may be called without credentials. */
  readonly isOpen: boolean
  readonly isCardPrivate: boolean
  readonly load: {
    /** Tasks that were sent or are being worked on. */
    readonly working: number
    /** Tasks that wait for their caller. */
    readonly waiting: number
    /** Streams that are open in this process. */
    readonly streams: number
  }
  /** The task that failed last. */
  readonly lastError?: {
    readonly taskId: string
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly at: string
    readonly text?: string
  }
  /** The card of a remote agent is not the one that was approved; blocked: it is not called. */
  readonly drift?: 'changed' | 'blocked'
}

export type AgentDetail = {
  readonly name: string
  readonly kind: string
  readonly state: 'open' | 'unavailable'
  /** Why it is not open, when it was last tried, and when it is tried next. */
  readonly startError?: {
    readonly message: string
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly at: string
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly nextTryAt: string
  }
  /** Deprecated: `startError.message`. */
  readonly trouble?: string
  readonly health: {
    readonly state: 'up' | 'slow' | 'down'
    readonly why?: string
    /** Open: nothing is handed on to it for a while. */
    readonly breaker: 'closed' | 'open' | 'half-open'
    /** The usual time to its first word. */
    readonly firstWordMs?: number
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly askedAt?: string
  }
  readonly title: string
  readonly description?: string
  readonly version: string
  readonly url: string
  /** Where its card is. */
  readonly card: string
  readonly tags: readonly string[]
  readonly skills: readonly {
    readonly id: string
    readonly name: string
    readonly description: string
    readonly tags: readonly string[]
  }[]
  readonly isDefault: boolean
  /** Whether it may be called without credentials. */
  readonly isOpen: boolean
  readonly isCardPrivate: boolean
  readonly load: {
    /** Tasks that were sent or are being worked on. */
    readonly working: number
    /** Tasks that wait for their caller. */
    readonly waiting: number
    /** Streams that are open in this process. */
    readonly streams: number
  }
  /** The task that failed last. */
  readonly lastError?: {
    readonly taskId: string
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly at: string
    readonly text?: string
  }
  /** The card of a remote agent is not the one that was approved; blocked: it is not called. */
  readonly drift?: 'changed' | 'blocked'
  readonly endpoints: readonly {
    readonly url: string
    readonly protocolBinding: string
    readonly protocolVersion: string
    readonly tenant?: string
  }[]
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly streaming: boolean
  readonly pushNotifications: boolean
  readonly extensions: readonly string[]
  /** Its entry in the configuration, without secrets. */
  readonly entry?: unknown
}

export type AgentCards = {
  /** As clients of each version are shown it; `merged` is for those who name none. */
  readonly cards: {
    readonly merged?: Readonly<Record<string, unknown>>
    readonly '1.0'?: Readonly<Record<string, unknown>>
    readonly '0.3'?: Readonly<Record<string, unknown>>
    readonly '0.2'?: Readonly<Record<string, unknown>>
  }
  readonly signatures: readonly {
    readonly alg: string
    readonly kid: string
    readonly keys?: string
  }[]
  /** Of an agent that others run: its own card. */
  readonly remote?: {
    readonly policy: 'alert' | 'block' | 'ignore'
    readonly approved?: {
      readonly fingerprint: string
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly at: string
      readonly card: Readonly<Record<string, unknown>>
    }
    /** What it says now, where that was not approved, and what of it is otherwise. */
    readonly changed?: {
      readonly fingerprint: string
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly at: string
      readonly card: Readonly<Record<string, unknown>>
      readonly fields: readonly string[]
    }
    readonly signature?: {
      readonly status: 'unchecked' | 'unsigned' | 'unverified' | 'verified'
      readonly why?: string
      readonly kid?: string
      readonly alg?: string
      readonly keys?: string
      readonly form?: string
    }
  }
}

export type ConfigApplied = {
  readonly version: string
  readonly hash: string
  readonly effects: ConfigEffects
}

export type ConfigEffects = {
  /** Agents that are new. */
  readonly added: readonly string[]
  readonly changed: readonly string[]
  /** Agents that take nothing new; what runs is finished. */
  readonly removed: readonly string[]
  /** Sections that changed, and hold. */
  readonly applied: readonly string[]
  /** What changed and only holds after a restart. */
  readonly restart: readonly string[]
}

export type TaskSummary = {
  readonly id: string
  readonly contextId: string
  readonly agent: string
  /** Whose task it is. */
  readonly caller: string
  readonly tenant: string
  readonly state: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly statusAt: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly createdAt: string
  /** From its first event to its end, once it has ended. */
  readonly durationMs?: number
  /** The first words of the message that began it. */
  readonly title?: string
  /** The first words of its status. */
  readonly statusText?: string
  /** The number of its last event. */
  readonly head: number
  /** When something happens by itself: its turn or its wait ends. */
  readonly dueAt?: string
}

export type TaskDetail = {
  readonly id: string
  readonly contextId: string
  readonly agent: string
  /** Whose task it is. */
  readonly caller: string
  readonly tenant: string
  readonly state: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly statusAt: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly createdAt: string
  /** From its first event to its end, once it has ended. */
  readonly durationMs?: number
  /** The first words of the message that began it. */
  readonly title?: string
  /** The first words of its status. */
  readonly statusText?: string
  /** The number of its last event. */
  readonly head: number
  /** When something happens by itself: its turn or its wait ends. */
  readonly dueAt?: string
  readonly firstSeq: number
  readonly traceId: string
  /** As A2A 1.0 writes it: status, history, artifacts. */
  readonly task: Readonly<Record<string, unknown>>
  readonly push: readonly PushCursor[]
}

export type PushCursor = {
  readonly taskId: string
  readonly configId: string
  readonly url: string
  /** Dead: given up after the last try. Done: the task has ended, and all of it was told. */
  readonly state: 'active' | 'dead' | 'done'
  /** All events up to this one are delivered. */
  readonly deliveredSeq: number
  /** How often the next one was tried. */
  readonly attempt: number
  /** When it is tried next. */
  readonly dueAt?: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly createdAt?: string
}

export type LogRecord = {
  readonly seq: number
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly at: string
  readonly type: string
  /** Whether clients are told it. */
  readonly isVisible: boolean
  readonly bytes: number
  readonly body: Readonly<Record<string, unknown>>
}

export type Trace = {
  readonly type: 'A2A_TASK'
  readonly traceId: string
  readonly taskId: string
  /** The first words of the message that began the task; read from the task, not kept in traces. */
  readonly title?: string
  readonly contextId: string
  readonly agent: string
  readonly caller: string
  readonly tenant: string
  readonly state: string
  readonly status: 'PENDING' | 'SUCCESS' | 'ERROR'
  readonly idempotencyKey: string
  readonly delegationContext?: {
    readonly parentTaskId?: string
    readonly rootTaskId?: string
    readonly depth: number
    readonly visited: readonly string[]
  }
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly startedAt: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly endedAt?: string
  readonly durationMs?: number
  readonly error?: string
  readonly agents: readonly string[]
  readonly models: readonly string[]
  readonly tools: readonly string[]
  readonly tasks: number
  readonly turns: number
  readonly spans: number
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost?: number
}

export type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentId?: string
  readonly taskId: string
  readonly name: string
  readonly kind: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly startedAt: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly endedAt?: string
  readonly durationMs?: number
  readonly outcome?: 'ok' | 'error' | 'canceled'
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly {
    readonly seq: number
    readonly spanId: string
    readonly name: string
    /** In UTC, such as 2030-01-31T12:00:00.000Z. */
    readonly at: string
    readonly attributes: Readonly<Record<string, unknown>>
  }[]
  readonly droppedEvents: number
  readonly children: readonly Span[]
}

export type Route = {
  /** Its place in the configuration, from 0. */
  readonly route: number
  readonly name?: string
  readonly from: readonly string[]
  readonly when?: Readonly<Record<string, unknown>>
  readonly to: readonly {
    readonly agent: string
    readonly weight: number
  }[]
  readonly priority: number
  readonly fallback: readonly string[]
}

export type RouteDecision = {
  /** The rule that fits; absent if the agent does the work itself. */
  readonly route?: number
  readonly name?: string
  readonly why: string
  /** The candidates, best first. Empty if none is available. */
  readonly to: readonly string[]
  readonly candidates: readonly {
    readonly agent: string
    readonly state: 'up' | 'slow' | 'down' | 'over'
    readonly why?: string
  }[]
  readonly considered: readonly {
    readonly route: number
    readonly name?: string
    readonly fits: boolean
    readonly why: string
  }[]
}

export type PushSummary = {
  readonly taskId: string
  readonly configId: string
  readonly url: string
  /** Dead: given up after the last try. Done: the task has ended, and all of it was told. */
  readonly state: 'active' | 'dead' | 'done'
  /** All events up to this one are delivered. */
  readonly deliveredSeq: number
  /** How often the next one was tried. */
  readonly attempt: number
  /** When it is tried next. */
  readonly dueAt?: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly createdAt?: string
  readonly agent: string
  /** The first words of the message that began the task. */
  readonly title?: string
  /** The number of the last event of the task. */
  readonly head: number
  /** The last try. */
  readonly last?: PushAttempt
}

export type PushAttempt = {
  /** The event that it was about. */
  readonly seq: number
  readonly attempt: number
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly at: string
  readonly durationMs: number
  /** A status, or what went wrong. */
  readonly outcome: string
  /** The first words of an answer that did not take the event. */
  readonly answer?: string
}

export type Health = {
  /** Degraded: the store or an agent is not well. */
  readonly status: 'ok' | 'degraded'
  readonly version: string
  readonly node: string
  readonly protocols: readonly string[]
  /** Another one after each restart. */
  readonly instance: string
  /** In UTC, such as 2030-01-31T12:00:00.000Z. */
  readonly startedAt: string
  readonly uptimeMs: number
  readonly store: {
    readonly name: string
    readonly isReady: boolean
    readonly latencyMs: number
    readonly trouble?: string
  }
  readonly agents: {
    readonly all: number
    readonly open: number
    readonly down: readonly string[]
    /** Remote agents whose card waits to be approved. */
    readonly drifted: readonly string[]
  }
  readonly tasks: Readonly<Record<string, number>>
  readonly streams: number
  readonly push: {
    readonly isOn: boolean
    /** Webhooks that were given up; at most 100 are counted. */
    readonly dead: number
  }
}

export interface Operations {
  /** Signs in: shown the admin key or a token, it sets a cookie. */
  signIn: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Session
  }
  /** Says who is signed in. */
  getSession: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Session
  }
  /** Signs out: the cookie opens nothing any more. */
  signOut: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Readonly<Record<string, never>>
  }
  /** Lists the sessions of the console, the oldest first. */
  listSessions: {
    params: Readonly<Record<string, never>>
    query: { limit?: number | undefined; after?: string | undefined }
    body: undefined
    answer: {
      readonly sessions: readonly ListedSession[]
      /** Pass it as `after` to get the next page; absent on the last. */
      readonly after?: string
    }
  }
  /** Ends a session of the console, and the streams that it has open. */
  endSession: {
    params: { id: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Readonly<Record<string, never>>
  }
  /** Lists the keys, also those that are good no more. */
  listKeys: {
    params: Readonly<Record<string, never>>
    query: { limit?: number | undefined; after?: string | undefined }
    body: undefined
    answer: {
      readonly keys: readonly Key[]
      /** To be asked for next, if there are more. */
      readonly after?: string
    }
  }
  /** Makes a key, and shows it for the only time. */
  createKey: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: {
      readonly name?: string
      /** `agents: [gpt]` is `scopes: [agent:gpt]`. */
      readonly agents?: readonly string[]
      readonly scopes?: readonly string[]
      readonly principal?: string
      readonly tenant?: string
      /** A rate: 10/s, 60/min, 1000/h or 5000/day. */
      readonly rate?: string
      readonly tasksPerDay?: number
      readonly expiresAt?: string
      /** A duration: 500ms, 30s, 10m, 12h or 7d. */
      readonly expiresIn?: string
      /** The id of another key: everything that is not said is as with that one, and tasks go on with the new one. */
      readonly replaces?: string
    }
    answer: MadeKey
  }
  /** Shows what is known of a key. */
  getKey: { params: { id: string }; query: Readonly<Record<string, never>>; body: undefined; answer: Key }
  /** Revokes a key. */
  revokeKey: { params: { id: string }; query: Readonly<Record<string, never>>; body: undefined; answer: Key }
  /** Lists the keys that the caller has created for the agent; for the admin, all. */
  listOwnKeys: {
    params: { agent: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly keys: readonly Key[]
    }
  }
  /** Makes a key for the agent, and shows it for the only time. */
  generateOwnKey: {
    params: { agent: string }
    query: Readonly<Record<string, never>>
    body:
      | {
          readonly name?: string
          readonly scopes?: readonly string[]
          readonly expiresAt?: string
          /** A duration: 500ms, 30s, 10m, 12h or 7d. */
          readonly expiresIn?: string
        }
      | undefined
    answer: {
      readonly agent: string
      /** Shown only now. */
      readonly key: string
      readonly id: string
      /** The part of the key that is no secret. */
      readonly prefix: string
      readonly name: string
      readonly state: 'active' | 'expired' | 'revoked'
      readonly scopes: readonly string[]
      /** Whose tasks are opened with it. */
      readonly principal: string
      readonly tenant?: string
      readonly rate?: string
      readonly tasksPerDay?: number
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly createdAt: string
      readonly createdBy: string
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly expiresAt?: string
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly revokedAt?: string
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly lastUsedAt?: string
      /** The same as `key`, by the name that other gateways give it. */
      readonly apiKey: string
    }
  }
  /** Revokes one of the keys that the caller has created. */
  revokeOwnKey: {
    params: { agent: string; id: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Key
  }
  /** Lists who did what, newest first. */
  listAudit: {
    params: Readonly<Record<string, never>>
    query: {
      limit?: number | undefined
      before?: string | undefined
      agent?: string | undefined
      who?: string | undefined
      key?: string | undefined
      task?: string | undefined
      event?: string | undefined
      operation?: string | undefined
      outcome?: string | undefined
      since?: string | undefined
      until?: string | undefined
      text?: string | undefined
      reads?: 'yes' | 'no' | undefined
    }
    body: undefined
    answer: {
      readonly entries: readonly AuditEntry[]
      readonly before?: string
    }
  }
  /** In which ways one may sign in. */
  getSignIn: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      /** With the admin key: POST /admin/session. */
      readonly key: true
      /** By the issuer: lead the browser to `start`. */
      readonly oidc?: {
        readonly issuer: string
        readonly start: string
      }
    }
  }
  /** Lists the agents: what each is, how it is and what it does. */
  listAgents: {
    params: Readonly<Record<string, never>>
    query: {
      text?: string | undefined
      tag?: string | undefined
      skill?: string | undefined
      kind?: string | undefined
    }
    body: undefined
    answer: {
      readonly agents: readonly Agent[]
    }
  }
  /** Adds an agent to the configuration. */
  addAgent: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: {
      readonly name: string
      /** As the file has it: `kind`, and what that kind takes. */
      readonly entry: {
        readonly kind: string
      }
      readonly note?: string
      readonly base?: string
    }
    answer: ConfigApplied
  }
  /** Shows an agent with its endpoints and its entry. */
  getAgent: { params: { agent: string }; query: Readonly<Record<string, never>>; body: undefined; answer: AgentDetail }
  /** Replaces an agent's entry. Secrets that are shown as (not shown) stay what they are. */
  changeAgent: {
    params: { agent: string }
    query: Readonly<Record<string, never>>
    body: {
      /** As the file has it: `kind`, and what that kind takes. */
      readonly entry: {
        readonly kind: string
      }
      readonly note?: string
      readonly base?: string
    }
    answer: ConfigApplied
  }
  /** Takes an agent out of the configuration. What runs is finished, and its tasks stay. */
  removeAgent: {
    params: { agent: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: ConfigApplied
  }
  /** Asks the agent anew what it says of itself. */
  lookAtAgent: { params: { agent: string }; query: Readonly<Record<string, never>>; body: undefined; answer: Agent }
  /** The card as clients of each version see it, with the state of its signatures. */
  getAgentCards: {
    params: { agent: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: AgentCards
  }
  /** Approves a remote agent's card that has changed. */
  approveCard: {
    params: { agent: string }
    query: Readonly<Record<string, never>>
    body: {
      readonly fingerprint: string
    }
    answer: Agent
  }
  /** The kinds of agents, each with the JSON Schemas of its entries. */
  listKinds: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly kinds: readonly {
        readonly kind: string
        readonly schemas: readonly Readonly<Record<string, unknown>>[]
      }[]
    }
  }
  /** Finds out what is behind an address or a command. */
  detectAgent: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: {
      /** A url, or the words of a command. */
      readonly target: string | readonly string[]
      /** Tried where credentials are asked for; not kept. */
      readonly token?: string
      /** The variable of the environment that will hold it. Default: AGENT_TOKEN. */
      readonly tokenEnv?: string
    }
    answer: {
      readonly kind?: string
      readonly name?: string
      /** What to put into the configuration. */
      readonly entry?: Readonly<Record<string, unknown>>
      /** What a person should know. */
      readonly notes?: readonly string[]
      /** What was tried, if no kind was detected. */
      readonly reasons?: readonly string[]
    }
  }
  /** Lists the tasks of everybody, the newest status first. */
  listTasks: {
    params: Readonly<Record<string, never>>
    query: {
      limit?: number | undefined
      before?: string | undefined
      agent?: string | undefined
      state?:
        | readonly (
            | 'TASK_STATE_SUBMITTED'
            | 'TASK_STATE_WORKING'
            | 'TASK_STATE_COMPLETED'
            | 'TASK_STATE_FAILED'
            | 'TASK_STATE_CANCELED'
            | 'TASK_STATE_INPUT_REQUIRED'
            | 'TASK_STATE_REJECTED'
            | 'TASK_STATE_AUTH_REQUIRED'
          )[]
        | undefined
      caller?: string | undefined
      context?: string | undefined
      since?: string | undefined
      until?: string | undefined
      text?: string | undefined
    }
    body: undefined
    answer: {
      readonly tasks: readonly TaskSummary[]
      readonly before?: string
    }
  }
  /** How many tasks there are in each state. */
  countTasks: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly states: Readonly<Record<string, number>>
      readonly unfinished: readonly {
        readonly agent: string
        readonly state: string
        readonly tasks: number
      }[]
    }
  }
  /** Shows a task of any owner. */
  getTask: { params: { taskId: string }; query: Readonly<Record<string, never>>; body: undefined; answer: TaskDetail }
  /** The log of a task as it was written, also what no client is told. */
  listTaskEvents: {
    params: { taskId: string }
    query: { limit?: number | undefined; after?: number | undefined }
    body: undefined
    answer: {
      readonly events: readonly LogRecord[]
      /** The number of the last event. */
      readonly head: number
      /** The number of the first that is still in the log. */
      readonly firstSeq: number
      /** To be asked for next, if there are more. */
      readonly after?: number
    }
  }
  /** The events of a task as clients of each version get them. */
  listTaskFrames: {
    params: { taskId: string }
    query: { limit?: number | undefined; after?: number | undefined }
    body: undefined
    answer: {
      readonly events: readonly {
        readonly seq: number
        /** In UTC, such as 2030-01-31T12:00:00.000Z. */
        readonly at: string
        readonly frames: readonly {
          readonly version: '1.0' | '0.3' | '0.2'
          readonly binding: 'JSONRPC' | 'HTTP+JSON'
          /** The event, as clients of that version read it. */
          readonly payload: unknown
          /** The bytes of the stream. */
          readonly frame: string
        }[]
      }[]
      /** The number of the last event. */
      readonly head: number
      /** The number of the first that is still in the log. */
      readonly firstSeq: number
      /** To be asked for next, if there are more. */
      readonly after?: number
    }
  }
  /** Cancels a task, as its caller would. */
  cancelTask: {
    params: { taskId: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly task: Readonly<Record<string, unknown>>
    }
  }
  /** Lists traces, newest first. */
  listTraces: {
    params: Readonly<Record<string, never>>
    query: {
      limit?: number | undefined
      before?: string | undefined
      agent?: string | undefined
      caller?: string | undefined
      context?: string | undefined
      state?:
        | 'TASK_STATE_SUBMITTED'
        | 'TASK_STATE_WORKING'
        | 'TASK_STATE_COMPLETED'
        | 'TASK_STATE_FAILED'
        | 'TASK_STATE_CANCELED'
        | 'TASK_STATE_INPUT_REQUIRED'
        | 'TASK_STATE_REJECTED'
        | 'TASK_STATE_AUTH_REQUIRED'
        | undefined
      status?: 'PENDING' | 'SUCCESS' | 'ERROR' | undefined
      since?: string | undefined
      until?: string | undefined
      minDurationMs?: number | undefined
      minErrors?: number | undefined
      text?: string | undefined
    }
    body: undefined
    answer: {
      readonly traces: readonly Trace[]
      readonly before?: string
    }
  }
  /** Shows a trace, by its id or by that of a task. */
  getTrace: {
    params: { id: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly traces: readonly {
        readonly summary: Trace
        readonly root: Span
        readonly isPartial: boolean
      }[]
    }
  }
  /** Lists the rules, as the configuration has them. */
  listRoutes: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly routes: readonly Route[]
    }
  }
  /** Says which rule a message would meet, and why. Nothing is sent. */
  decideRoute: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: {
      /** Whom the message would be sent to. */
      readonly agent: string
      readonly text?: string
      /** Instead of a text: parts as A2A 1.0 has them. */
      readonly parts?: readonly Readonly<Record<string, unknown>>[]
      readonly skill?: string
      readonly metadata?: Readonly<Record<string, unknown>>
      /** The caller of the message. Default: the caller of this request. */
      readonly caller?: string
      /** What the caller may use. Default: every agent. */
      readonly scopes?: readonly string[]
    }
    answer: RouteDecision
  }
  /** Lists webhooks, the ones made last first. With `state=dead`: the dead letters. */
  listPush: {
    params: Readonly<Record<string, never>>
    query: {
      limit?: number | undefined
      before?: number | undefined
      state?: 'active' | 'dead' | 'done' | undefined
      agent?: string | undefined
      text?: string | undefined
    }
    body: undefined
    answer: {
      readonly push: readonly PushSummary[]
      readonly before?: number
    }
  }
  /** Shows a webhook with its last tries, the newest first. */
  getPush: {
    params: { taskId: string; configId: string }
    query: { limit?: number | undefined }
    body: undefined
    answer: {
      readonly taskId: string
      readonly configId: string
      readonly url: string
      /** Dead: given up after the last try. Done: the task has ended, and all of it was told. */
      readonly state: 'active' | 'dead' | 'done'
      /** All events up to this one are delivered. */
      readonly deliveredSeq: number
      /** How often the next one was tried. */
      readonly attempt: number
      /** When it is tried next. */
      readonly dueAt?: string
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly createdAt?: string
      readonly agent: string
      /** The first words of the message that began the task. */
      readonly title?: string
      /** The number of the last event of the task. */
      readonly head: number
      /** The last try. */
      readonly last?: PushAttempt
      readonly attempts: readonly PushAttempt[]
    }
  }
  /** Tries again at once, also what was given up. */
  redeliver: {
    params: { taskId: string; configId: string }
    query: Readonly<Record<string, never>>
    body:
      | {
          /** Begins after this event. Default: with the first that was not delivered. */
          readonly afterSeq?: number
        }
      | undefined
    answer: PushCursor
  }
  /** The configuration as it is written, without its secrets. */
  getConfig: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly file: string
      readonly text: string
      readonly hash: string
    }
  }
  /** Makes a text hold, and writes it into the file. */
  applyConfig: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: {
      /** The whole file. Secrets that are shown as (not shown) stay what they are. */
      readonly text: string
      /** The reason for the change, shown in the list of versions. */
      readonly note?: string
      /** The hash of what was edited; 409 if it is another by now. */
      readonly base?: string
    }
    answer: ConfigApplied
  }
  /** The JSON Schema of the file, for editors. */
  getConfigSchema: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Readonly<Record<string, unknown>>
  }
  /** Says all that is wrong with a text; changes nothing. */
  checkConfig: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: {
      /** The whole file. Secrets that are shown as (not shown) stay what they are. */
      readonly text: string
    }
    answer: {
      readonly problems: readonly {
        readonly path: string
        readonly line?: number
        readonly message: string
      }[]
    }
  }
  /** Compares a text with what holds, and says what applying it would do; changes nothing. */
  diffConfig: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: {
      /** The whole file. Secrets that are shown as (not shown) stay what they are. */
      readonly text: string
    }
    answer: {
      readonly diff: readonly {
        readonly change: 'same' | 'added' | 'removed'
        readonly text: string
        readonly before?: number
        readonly after?: number
      }[]
      readonly effects: ConfigEffects
    }
  }
  /** Lists what was applied, the newest first. */
  listConfigVersions: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly versions: readonly {
        readonly id: string
        /** In UTC, such as 2030-01-31T12:00:00.000Z. */
        readonly at: string
        /** Absent: it was found in the file when another took its place. */
        readonly who?: string
        readonly note?: string
        readonly hash: string
        readonly isCurrent: boolean
      }[]
    }
  }
  /** Shows one of them, without its secrets. */
  getConfigVersion: {
    params: { id: string }
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly id: string
      /** In UTC, such as 2030-01-31T12:00:00.000Z. */
      readonly at: string
      /** Absent: it was found in the file when another took its place. */
      readonly who?: string
      readonly note?: string
      readonly hash: string
      readonly isCurrent: boolean
      readonly text: string
      /** From what holds now to this one. */
      readonly diff: readonly {
        readonly change: 'same' | 'added' | 'removed'
        readonly text: string
        readonly before?: number
        readonly after?: number
      }[]
      /** What restoring it would do; absent if it cannot be restored. */
      readonly effects?: ConfigEffects
    }
  }
  /** Goes back to one of them. */
  restoreConfig: {
    params: { id: string }
    query: Readonly<Record<string, never>>
    body:
      | {
          /** The reason for the change, shown in the list of versions. */
          readonly note?: string
          /** The hash of what was edited; 409 if it is another by now. */
          readonly base?: string
        }
      | undefined
    answer: ConfigApplied
  }
  /** How the hub is: its store, its agents, its webhooks. */
  getHealth: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Health
  }
  /** The last hour of this process, minute by minute. */
  getPulse: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: {
      readonly minutes: readonly {
        /** In UTC, such as 2030-01-31T12:00:00.000Z. */
        readonly at: string
        readonly requests: number
        readonly errors: number
        readonly p50Ms?: number
        readonly p99Ms?: number
        readonly streams: number
      }[]
    }
  }
  /** Finds agents by name and skill, tasks by the beginning of an id or by context, keys by id. */
  search: {
    params: Readonly<Record<string, never>>
    query: { q: string; limit?: number | undefined }
    body: undefined
    answer: {
      readonly agents: readonly {
        readonly name: string
        readonly kind: string
        readonly title: string
      }[]
      readonly tasks: readonly TaskSummary[]
      readonly keys: readonly Key[]
    }
  }
  /** This document. */
  getOpenApi: {
    params: Readonly<Record<string, never>>
    query: Readonly<Record<string, never>>
    body: undefined
    answer: Readonly<Record<string, unknown>>
  }
}

export const operations = {
  signIn: ['POST', '/admin/session'],
  getSession: ['GET', '/admin/session'],
  signOut: ['DELETE', '/admin/session'],
  listSessions: ['GET', '/admin/sessions'],
  endSession: ['DELETE', '/admin/sessions/{id}'],
  listKeys: ['GET', '/admin/keys'],
  createKey: ['POST', '/admin/keys'],
  getKey: ['GET', '/admin/keys/{id}'],
  revokeKey: ['DELETE', '/admin/keys/{id}'],
  listOwnKeys: ['GET', '/a2a/{agent}/api-key'],
  generateOwnKey: ['POST', '/a2a/{agent}/api-key/generate'],
  revokeOwnKey: ['DELETE', '/a2a/{agent}/api-key/{id}'],
  listAudit: ['GET', '/admin/audit'],
  getSignIn: ['GET', '/admin/sign-in'],
  listAgents: ['GET', '/admin/agents'],
  addAgent: ['POST', '/admin/agents'],
  getAgent: ['GET', '/admin/agents/{agent}'],
  changeAgent: ['PUT', '/admin/agents/{agent}'],
  removeAgent: ['DELETE', '/admin/agents/{agent}'],
  lookAtAgent: ['POST', '/admin/agents/{agent}/look'],
  getAgentCards: ['GET', '/admin/agents/{agent}/card'],
  approveCard: ['POST', '/admin/agents/{agent}/card/approve'],
  listKinds: ['GET', '/admin/kinds'],
  detectAgent: ['POST', '/admin/agents/detect'],
  listTasks: ['GET', '/admin/tasks'],
  countTasks: ['GET', '/admin/task-counts'],
  getTask: ['GET', '/admin/tasks/{taskId}'],
  listTaskEvents: ['GET', '/admin/tasks/{taskId}/events'],
  listTaskFrames: ['GET', '/admin/tasks/{taskId}/wire'],
  cancelTask: ['POST', '/admin/tasks/{taskId}/cancel'],
  listTraces: ['GET', '/admin/traces'],
  getTrace: ['GET', '/admin/traces/{id}'],
  listRoutes: ['GET', '/admin/routes'],
  decideRoute: ['POST', '/admin/routes/decide'],
  listPush: ['GET', '/admin/push'],
  getPush: ['GET', '/admin/push/{taskId}/{configId}'],
  redeliver: ['POST', '/admin/push/{taskId}/{configId}/redeliver'],
  getConfig: ['GET', '/admin/config'],
  applyConfig: ['PUT', '/admin/config'],
  getConfigSchema: ['GET', '/admin/config/schema'],
  checkConfig: ['POST', '/admin/config/check'],
  diffConfig: ['POST', '/admin/config/diff'],
  listConfigVersions: ['GET', '/admin/config/versions'],
  getConfigVersion: ['GET', '/admin/config/versions/{id}'],
  restoreConfig: ['POST', '/admin/config/versions/{id}/restore'],
  getHealth: ['GET', '/admin/health'],
  getPulse: ['GET', '/admin/health/pulse'],
  search: ['GET', '/admin/search'],
  getOpenApi: ['GET', '/admin/openapi.json'],
} as const satisfies Readonly<Record<keyof Operations, readonly [method: string, path: string]>>
