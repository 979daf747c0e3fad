/**
 * The options of a handler and of its agents by name, each with the check of its value. `satisfies` keeps the tables complete: an
 * option without a line here does not compile.
 */
import { bindingNames } from '../bindings/protocol-bindings.ts'
import type { EngineRetention } from '../engine/contract.ts'
import { forCardTexts } from '../model/card.ts'
import { isStruct } from '../model/struct.ts'
import { versions } from '../versions/index.ts'
import type { CardSigning } from './cards/card-keys.ts'
import * as check from './option-checks.ts'
import type { AgentSettings, CardSettings, HandlerOptions, Limits, ServerOptions, TenantOptions } from './options.ts'
import type { PushJwtOptions, PushOptions } from './push/push-options.ts'

const cardOptions = {
  card: check.isOneOf('merged', ...versions.map(({ id }) => id)),
  omitInterfaces: check.isListOfAny(...bindingNames),
  omitSecurityRequirements: check.isBoolean,
} satisfies check.ChecksOf<keyof CardSettings>

const idempotency = check.eitherOf(['off'], check.isClosed({ windowMs: check.unchecked }))

export const limitOptions = {
  parts: check.isLimit,
  metadataDepth: check.isLimit,
  jsonNodes: check.isLimit,
  tasksPerCaller: check.isLimit,
  waitMs: check.isDuration,
  bodyBytes: check.isLimit,
  streamsPerCaller: check.isLimit,
  unsentBytes: check.isLimit,
  unsentBytesPerCaller: check.isLimit,
} satisfies check.ChecksOf<keyof Limits>

const pushJwtOptions = {
  issuer: check.isString,
  lifetimeMs: check.unchecked,
  rotateAfterMs: check.unchecked,
  overlapMs: check.unchecked,
} satisfies check.ChecksOf<keyof PushJwtOptions>

/** `checkPushOptions` checks the values. */
export const pushOptions = {
  fetch: check.unchecked,
  validateUrl: check.isFunction,
  triggers: check.unchecked,
  scheduleMs: check.isList,
  timeoutMs: check.unchecked,
  concurrent: check.unchecked,
  concurrentPerHost: check.unchecked,
  configsPerTask: check.unchecked,
  challenge: check.isBoolean,
  onResult: check.isFunction,
  jwt: check.eitherOf([true], check.isClosed(pushJwtOptions)),
} satisfies check.ChecksOf<keyof PushOptions>

/** Of `guardedWebhooks()`, which only Node has: `serve` calls it, and has its options in `push`. */
export const webhookGuardOptions = {
  only: check.isStringList,
  allow: check.isStringList,
  allowLoopback: check.isBoolean,
  ports: check.isList,
  ca: check.unchecked,
  lookup: check.isFunction,
}

function checkHandlerPush(push: unknown, path: string): readonly check.OptionProblem[] {
  const instead = (given: string): string =>
    `is for serve(): pass \`push: guardedWebhooks(${given})\` of @parley/a2a/node to createHandler()`
  if (push === true) return [{ path, message: `true ${instead('')}` }]
  const ofServe = (name: string): string | undefined =>
    Object.hasOwn(webhookGuardOptions, name) ? instead(`{ ${name} }`) : undefined
  return check.isClosed(pushOptions, ofServe)(push, path)
}

const signingOptions = {
  key: check.unchecked,
  alg: check.isString,
  kid: check.isString,
  previous: check.isList,
  jku: check.eitherOf([false], check.isString),
  rotateAfterMs: check.isPositiveDuration,
} satisfies check.ChecksOf<keyof CardSigning>

const tenantOptions = {
  declared: check.isStringList,
  allowedTenants: check.isFunction,
} satisfies check.ChecksOf<keyof TenantOptions>

const retentionOptions = {
  finishedMs: check.isDuration,
  maxTasks: check.isLimit,
  logMs: check.isDuration,
  deliveriesMs: check.isDuration,
} satisfies check.ChecksOf<keyof EngineRetention>

export const serverOptions = {
  ...cardOptions,
  publicUrl: check.isString,
  grpcUrl: check.isString,
  prefix: check.isString,
  trustProxy: check.isBoolean,
  cors: check.eitherOf(['*'], check.isStringList),
  hosts: check.isStringList,
  strict: check.isBoolean,
  endpointVariants: check.isList,
  versions: check.isListOfAny(...versions.map(({ id }) => id)),
  cardMaxAgeSeconds: check.isLimit,
  signing: check.eitherOf([true, false], check.isClosed(signingOptions)),
  signingPurposes: check.isStringList,
  extensions: check.isList,
  onEvent: check.isFunction,
  transformEvent: check.isFunction,
  tenants: check.isClosed(tenantOptions),
  protectCard: check.isBoolean,
  allowAnonymousList: check.isBoolean,
  idempotency,
  authenticate: check.isFunction,
  admit: check.isFunction,
  intersectScopes: check.isFunction,
  canSeeAgent: check.isFunction,
  homePage: check.isBoolean,
  onOutcome: check.isFunction,
  onStream: check.isFunction,
  limits: check.isClosed(limitOptions),
  push: checkHandlerPush,
  keepAliveMs: check.isPositiveDuration,
  stallMs: check.isPositiveDuration,
  wrapEngine: check.isFunction,
  retention: check.isClosed(retentionOptions),
  masterKey: check.unchecked,
  log: check.isLog,
} satisfies check.ChecksOf<keyof ServerOptions>

const agentOptions = {
  ...cardOptions,
  agent: checkAgent,
  turnTimeoutMs: check.isPositiveDuration,
  whenBusy: check.isOneOf('queue', 'reject', 'steer'),
  inputTimeout: check.isClosed({ afterMs: check.isDuration, then: check.isOneOf('fail', 'continue') }),
  cancelGraceMs: check.isDuration,
  openAfterMs: check.isDuration,
  coalesceText: check.isBoolean,
  keepOpenOnInputRequired: check.isBoolean,
  stateTransitionHistory: check.isBoolean,
  idempotency,
  name: check.isString,
  description: check.isString,
  version: check.isString,
  skills: check.eachOf(checkSkill),
  provider: check.unchecked,
  ...forCardTexts(check.isString),
  inputModes: check.isStringList,
  outputModes: check.isStringList,
  inputModesRequired: check.isBoolean,
  outputModesRequired: check.isBoolean,
  streaming: check.isBoolean,
  extensions: check.isList,
  checkMessage: check.isFunction,
  onEvent: check.isFunction,
  transformEvent: check.isFunction,
  securitySchemes: check.unchecked,
  securityRequirements: check.isList,
  extendedCard: check.unchecked,
  requireSkill: check.isBoolean,
  protectCard: check.isBoolean,
  grpcPort: check.isPort,
  grpcUrl: check.isString,
} satisfies check.ChecksOf<keyof AgentSettings>

/** The members that every version of the protocol requires; a skill may have others. */
function checkSkill(skill: unknown, path: string): readonly check.OptionProblem[] {
  if (!isStruct(skill)) return [{ path, message: 'must be an object with id, name, description and tags' }]
  return [
    ...(['id', 'name', 'description'] as const).flatMap((name) =>
      skill[name] === undefined
        ? [{ path: `${path}.${name}`, message: 'is required' }]
        : check.isString(skill[name], `${path}.${name}`),
    ),
    ...check.isStringList(skill['tags'] ?? [], `${path}.tags`),
    ...(skill['tags'] === undefined
      ? [{ path: `${path}.tags`, message: 'is required: a list of strings, or []' }]
      : []),
  ]
}

export const isStore: check.OptionCheck = (store, path) =>
  typeof store === 'object' && store !== null && ('tasks' in store || 'findMessage' in store)
    ? []
    : [
        {
          path,
          message:
            'must be a store, such as memoryStore(), or a log store with append, load, read, list and findMessage',
        },
      ]

export function checkAgent(agent: unknown, path: string): readonly check.OptionProblem[] {
  if (typeof agent === 'function') return []
  if (!isStruct(agent) || typeof agent['run'] !== 'function')
    return [{ path, message: 'must be a function, or an object with resume and run' }]
  const { resume, reattach, onAbandoned } = agent
  const lacksReattach = resume === 'reattach' && typeof reattach !== 'function'
  return [
    ...check.isOneOf('fail', 'rerun', 'reattach')(resume, `${path}.resume`),
    ...(lacksReattach ? [{ path: `${path}.reattach`, message: "must be a function with resume: 'reattach'" }] : []),
    ...(onAbandoned === undefined ? [] : check.isFunction(onAbandoned, `${path}.onAbandoned`)),
  ]
}

/** One of several agents, with or without settings. */
export function checkNamedAgent(name: string, given: unknown): readonly check.OptionProblem[] {
  const path = `agents.${name}`
  const problem = validateAgentName(name)
  return [...(problem === undefined ? [] : [{ path, message: problem }]), ...checkAgentSettings(given, path)]
}

/** The settings of an agent, or the agent without them. */
export function checkAgentSettings(given: unknown, path: string): readonly check.OptionProblem[] {
  const settings = isStruct(given) && 'agent' in given ? given : { agent: given }
  return [...check.checkNames(settings, agentOptions, `${path}.`), ...checkHasAgent(settings.agent, `${path}.agent`)]
}

/** `checkNames` skips options that are undefined. */
function checkHasAgent(agent: unknown, path: string): readonly check.OptionProblem[] {
  return agent === undefined ? checkAgent(agent, path) : []
}

/** `checks`: the options that are neither those of one agent nor `agents` and `default`. */
export function checkServerOptions(options: object, checks: check.OptionChecks): readonly check.OptionProblem[] {
  const { agent, agents } = options as { readonly agent?: unknown; readonly agents?: unknown }
  if (agents === undefined) {
    const onlySeveral = (name: string) => (name === 'default' ? 'is for several agents: set `agents`' : undefined)
    const known = { ...agentOptions, agents: check.unchecked, ...checks }
    return [...check.checkNames(options, known, '', onlySeveral), ...checkHasAgent(agent, 'agent')]
  }
  if (agent !== undefined)
    return [{ path: 'agents', message: 'must be omitted with `agent`: a server has one agent, or several by name' }]
  const ofOneAgent = (name: string) =>
    Object.hasOwn(agentOptions, name) ? `is an option of one agent: set it in each of \`agents\`` : undefined
  const severalAgents = { agent: check.unchecked, agents: checkAgents, default: check.unchecked }
  return check.checkNames(options, { ...checks, ...severalAgents }, '', ofOneAgent)
}

function checkAgents(agents: unknown, path: string): readonly check.OptionProblem[] {
  if (!isStruct(agents)) return [{ path, message: 'must be an object of agents by name' }]
  return Object.entries(agents).flatMap(([name, given]) => checkNamedAgent(name, given))
}

/** Throws ConfigError. */
export function checkHandlerOptions(options: HandlerOptions): void {
  const { store } = options as { readonly store?: unknown }
  check.throwConfigError([
    ...checkServerOptions(options, { ...serverOptions, store: isStore }),
    ...(store === undefined ? [{ path: 'store', message: 'is required, such as memoryStore()' }] : []),
  ])
}

// Rules for agent names: a name is a path segment, so it must not have another meaning there.

const reservedAgentNames: ReadonlySet<string> = new Set([
  'tasks',
  'agents',
  'agent',
  'v1',
  'admin',
  'api',
  'mcp',
  'healthz',
  'readyz',
  'metrics',
  'agent-card',
  'extendedAgentCard',
])

/**
 * Checks an agent name: 1 to 64 URL-safe characters that are not reserved. Returns what is wrong with it, or
 * `undefined` if it is valid.
 */
export function validateAgentName(name: string): string | undefined {
  if (reservedAgentNames.has(name)) return 'is reserved: choose another name'
  if (/^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/.test(name)) return undefined
  return 'a name is 1 to 64 letters, digits, dots, dashes, underscores or tildes, and begins with a letter or digit'
}
