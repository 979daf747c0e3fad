/** Outbound calls: a remote agent's card, and one message to it, with the types of the simple module. */
import { fetchCard } from '../client/card/card-discovery.ts'
import { clearCardCache } from '../client/card/card-cache.ts'
import { cardSourceOf } from '../client/card/card-source.ts'
import { connect } from '../client/connect.ts'
import type { ConnectOptions, InvokeOptions, RemoteAgent } from '../client/contract.ts'
import { simpleTasksInterface } from '../client/simple-tasks/simple-tasks-card.ts'
import { createHttpClient, platformFetch } from '../client/http/http-client.ts'
import { invokeWith, messageWithStatus } from '../client/invoke.ts'
import { defaultClientLimits } from '../client/default-limits.ts'
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

/** A task is polled every three seconds (S0-24). */
const pollMs = 3_000

/**
 * Fetches the card of the agent at `baseUrl` from `/.well-known/agent-card.json`. It is cached for five minutes, or as long as
 * its headers say. Throws `ExternalServiceError` with `details.status` if there is none, and `ValidationError` with
 * `details.violations` for a card without a name or a version.
 *
 * @example
 * ```ts
 * const { name, skills } = await fetchAgentCard('https://agent.example.com')
 * ```
 */
export async function fetchAgentCard(baseUrl: string): Promise<A2AAgentCard> {
  try {
    return withAddress(await findCard(baseUrl))
  } catch (reason) {
    throw errorOf(reason)
  }
}

/** Like `fetchAgentCard`, but returns `null` instead of throwing. */
export async function discoverAgent(baseUrl: string): Promise<A2AAgentCard | null> {
  return fetchAgentCard(baseUrl).catch(() => null)
}

/** Drops all cached cards, so that the next call fetches them again. */
export function clearAgentCardCache(): void {
  clearCardCache()
}

/**
 * Submits a text to the agent at `baseUrl` and polls its task every three seconds until it is done. If the peer's card lists an
 * A2A interface, that interface is used; a peer without one, or without a card, is called by `POST /a2a/tasks/send` and `GET
 * /a2a/tasks/{id}`. If the card cannot be fetched for another reason, the result has an `error`. Never throws.
 * `options.timeoutMs` is 300,000 by default; the options of `connect`, including credentials, also apply to the card request.
 *
 * @example
 * ```ts
 * const { success, responseText, error } = await invokeRemoteAgent('https://agent.example.com', 'Summarize this')
 * ```
 */
export async function invokeRemoteAgent(
  baseUrl: string,
  message: string,
  options: InvokeOptions = {},
): Promise<RemoteInvocationResult> {
  const { taskId, responseText, success, error } = await invokeWith((about) => open(baseUrl, about), message, {
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

/** A card that exists but cannot be fetched or read is an error: the agent behind it may not serve simple tasks. */
async function open(baseUrl: string, options: ConnectOptions): Promise<RemoteAgent> {
  try {
    return await connect(baseUrl, options)
  } catch (reason) {
    if (!(reason instanceof A2AError)) throw reason
    if (reason.code === 'CARD_NOT_FOUND') return connect(cardWithoutName(baseUrl), options)
    const { message, details } = reason
    const status = details.status === undefined ? '' : `HTTP ${details.status}: `
    throw new ExternalServiceError(`Submit failed: ${status}${message}`, details, { code: reason.code, cause: reason })
  }
}

function findCard(baseUrl: string): Promise<AgentCard> {
  const limits = { ...defaultClientLimits, attempts: 1 }
  return fetchCard(baseUrl, { http: createHttpClient({ fetch: platformFetch, limits }), limits })
}

function withAddress(card: AgentCard): A2AAgentCard {
  const { url } = cardSourceOf(card)?.document ?? {}
  return flatCard(card, typeof url === 'string' ? url : undefined)
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
