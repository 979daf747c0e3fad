/** Outbound calls: a remote agent's card, and one message to it, with the types of the simple module. */
import { fetchCardDocument } from '../client/card/card-discovery.ts'
import { clearCardCache } from '../client/card/card-cache.ts'
import { connect } from '../client/connect.ts'
import type { ConnectOptions, Fetch, InvokeOptions, RemoteAgent } from '../client/contract.ts'
import type { GuardOptions } from '../client/egress/guarded-fetch.ts'
import { asSimpleTasksCard, simpleTasksInterface } from '../client/simple-tasks/simple-tasks-card.ts'
import { invokeWith, messageWithStatus } from '../client/invoke.ts'
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { ExternalServiceError, ValidationError } from './errors.ts'
import { flatCard, type A2AAgentCard } from './flat-card.ts'

/** The result of a call. `taskId` is set once the remote agent has named it, `responseText` if there is any. */
export interface RemoteInvocationResult {
  success: boolean
  taskId?: string
  /** The agent's last text. */
  responseText?: string
  /** Why the call failed. */
  error?: string
}

/** Which addresses the functions that call other agents may reach. */
export interface EgressOptions {
  /**
   * For a `baseUrl` from an untrusted source: calls only the addresses that these rules allow, `{}` only public ones over https.
   * Blocked addresses fail like unreachable ones. Needs the modules of Node. Default: every address is called.
   */
  readonly egress?: Omit<GuardOptions, 'lookup'> | undefined
}

/** Options of `invokeRemoteAgent`: those of `invoke`, and which addresses may be called. `egress` overrides `fetch`. */
export interface RemoteInvocationOptions extends InvokeOptions, EgressOptions {}

/** A task is polled every three seconds (S0-24). */
const pollMs = 3_000

/**
 * Fetches the card of the agent at `baseUrl` from `/.well-known/agent-card.json`. It is cached for five minutes, or as long as
 * its headers say. Throws `ExternalServiceError` with `details.status` if there is none, and `ValidationError` with
 * `details.violations` for a card without a name or a version. `egress` limits the addresses that are called.
 *
 * @example
 * ```ts
 * const { name, skills } = await fetchAgentCard('https://agent.example.com')
 * ```
 */
export async function fetchAgentCard(baseUrl: string, { egress }: EgressOptions = {}): Promise<A2AAgentCard> {
  try {
    const fetch = await fetchWithin(egress)
    const { card, document } = await fetchCardDocument(baseUrl, { fetch, limits: { attempts: 1 } })
    const { url } = document
    return flatCard(card, typeof url === 'string' ? url : undefined)
  } catch (reason) {
    throw errorOf(reason)
  }
}

/** Like `fetchAgentCard`, but returns `null` instead of throwing. */
export async function discoverAgent(baseUrl: string, options: EgressOptions = {}): Promise<A2AAgentCard | null> {
  return fetchAgentCard(baseUrl, options).catch(() => null)
}

/** Drops all cached cards, so that the next call fetches them again. */
export function clearAgentCardCache(): void {
  clearCardCache()
}

/**
 * Submits a text to the agent at `baseUrl` and polls its task every three seconds until it is done. If the peer's card lists an
 * A2A interface, that interface is used; a peer without a card, or whose card declares no protocol, is called by `POST
 * /a2a/tasks/send` and `GET /a2a/tasks/{id}`, and gets the text once: a failed submission is not repeated. If the card cannot be
 * fetched for another reason, the result has an `error`. Never throws. `options.timeoutMs` is 300,000 by default; the options of
 * `connect`, including credentials, also apply to the card request.
 *
 * @example
 * ```ts
 * const { success, responseText, error } = await invokeRemoteAgent('https://agent.example.com', 'Summarize this')
 * ```
 */
export async function invokeRemoteAgent(
  baseUrl: string,
  message: string,
  { egress, ...options }: RemoteInvocationOptions = {},
): Promise<RemoteInvocationResult> {
  const open = async (about: ConnectOptions): Promise<RemoteAgent> => {
    const { fetch } = about
    return connectTo(baseUrl, { ...about, fetch: egress || !fetch ? await fetchWithin(egress) : fetch })
  }
  const { taskId, responseText, success, error } = await invokeWith(open, message, {
    ...options,
    limits: { firstDelayMs: pollMs, pollMs, ...options.limits },
  })
  return {
    success,
    ...(taskId !== undefined ? { taskId } : {}),
    ...(success || responseText !== '' ? { responseText } : {}),
    ...(error !== undefined ? { error } : {}),
  }
}

/**
 * Unlike `connect`, a card with a `url` that declares no protocol is that of a peer with simple tasks: nothing else is tried. A card
 * that exists but cannot be fetched or read is an error: the agent behind it may not serve simple tasks.
 */
async function connectTo(baseUrl: string, options: ConnectOptions): Promise<RemoteAgent> {
  try {
    const agent = await connect(baseUrl, options)
    const simpleTasksCard = asSimpleTasksCard(agent.card)
    // The signature of the card is verified by then.
    return simpleTasksCard ? await connect(simpleTasksCard, { ...options, verify: 'off' }) : agent
  } catch (reason) {
    if (!(reason instanceof A2AError)) throw reason
    if (reason.code === 'CARD_NOT_FOUND') return connect(cardWithoutName(baseUrl), options)
    const { message, details } = reason
    const status = details.status === undefined ? '' : `HTTP ${details.status}: `
    throw new ExternalServiceError(`Submit failed: ${status}${message}`, details, { code: reason.code, cause: reason })
  }
}

/** The platform's fetch, called as programs of this module call it: with a URL, so that they can replace it. */
const fetchUrl: Fetch = async (request) => {
  const { url, method, headers, redirect, signal } = request
  const body = await request.text()
  return fetch(url, {
    method,
    headers: Object.fromEntries(headers),
    ...(body !== '' ? { body } : {}),
    redirect,
    signal,
  })
}

/** One fetch for each set of rules: its connections and the cards that it fetched are used again. */
const guardedFetches = new Map<string, Fetch>()

async function fetchWithin(egress: EgressOptions['egress']): Promise<Fetch> {
  if (egress === undefined) return fetchUrl
  const { guardedFetch } = await import('../client/egress/guarded-fetch.ts')
  const rules = JSON.stringify(egress)
  const guarded = guardedFetches.get(rules) ?? guardedFetch(egress)
  guardedFetches.set(rules, guarded)
  return guarded
}

function errorOf(reason: unknown): A2AError {
  const error = A2AError.from(reason)
  const { code, message, details } = error
  const options = { code, cause: reason }
  if (details.violations !== undefined) return new ValidationError(message, details, options)
  return new ExternalServiceError(messageWithStatus(message, error), details, options)
}

/** The card of a peer without one: only its URL is known. */
function cardWithoutName(baseUrl: string): AgentCard {
  return {
    name: baseUrl,
    description: '',
    version: '',
    supportedInterfaces: [simpleTasksInterface(baseUrl)],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  }
}
