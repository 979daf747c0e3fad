/** Outbound calls: a remote agent's card, and one question to it, in the words of the simple module. */
import { fetchCard } from '../client/card.ts'
import { clearCardCache } from '../client/card-cache.ts'
import { sourceOf } from '../client/card-source.ts'
import { connect } from '../client/connect.ts'
import type { ConnectOptions, InvokeOptions, RemoteAgent } from '../client/contract.ts'
import { facadeInterface } from '../client/facade-card.ts'
import { createHttp, platformFetch } from '../client/http.ts'
import { invokeWith, withStatus } from '../client/invoke.ts'
import { defaultLimits } from '../client/limits.ts'
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { ExternalServiceError, ValidationError } from './errors.ts'
import { flatCard } from './flat-card.ts'
import type { A2AAgentCard } from './flat-card.ts'

/** What came of a call. `taskId` is there once the remote agent has named it, `responseText` where it said something. */
export interface RemoteInvocationResult {
  success: boolean
  taskId?: string
  /** What the agent said last. */
  responseText?: string
  /** Why there was no success. */
  error?: string
}

/** A task is looked at every three seconds (S0-24). */
const pollMs = 3_000

/**
 * Fetches the card of the agent at `baseUrl` from `/.well-known/agent-card.json`. It is kept for five minutes, or as long as
 * its headers say. Throws `ExternalServiceError` with `details.status` where there is none, and `ValidationError` with
 * `details.violations` for a card without a name or a version.
 *
 * @example
 * const { name, skills } = await fetchAgentCard('https://agent.example.com')
 */
export async function fetchAgentCard(baseUrl: string): Promise<A2AAgentCard> {
  try {
    return fetched(await findCard(baseUrl))
  } catch (reason) {
    throw errorOf(reason)
  }
}

/** As `fetchAgentCard`, but returns `null` instead of throwing. */
export async function discoverAgent(baseUrl: string): Promise<A2AAgentCard | null> {
  return fetchAgentCard(baseUrl).catch(() => null)
}

/** Forgets all cards, so that the next call fetches them again. */
export function clearAgentCardCache(): void {
  clearCardCache()
}

/**
 * Submits a text to the agent at `baseUrl` and polls its task every three seconds until it is done. A peer whose card lists
 * an interface of A2A is called by that one; a peer without one, or without a card, by `POST /a2a/tasks/send` and
 * `GET /a2a/tasks/{id}`. A card that cannot be fetched for another reason is an `error`. Never throws. `options.timeoutMs` is
 * 300,000 by default; the options of `connect`, credentials among them, hold for the card as well.
 *
 * @example
 * const { success, responseText, error } = await invokeRemoteAgent('https://agent.example.com', 'Summarize this')
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

/** A card that exists but cannot be fetched or read is an error: behind it may be an agent that serves no simple tasks. */
async function open(baseUrl: string, options: ConnectOptions): Promise<RemoteAgent> {
  try {
    return await connect(baseUrl, options)
  } catch (reason) {
    if (!(reason instanceof A2AError)) throw reason
    if (reason.code === 'CARD_NOT_FOUND') return connect(nameless(baseUrl), options)
    const { message, details } = reason
    const status = details.status === undefined ? '' : `HTTP ${details.status}: `
    throw new ExternalServiceError(`Submit failed: ${status}${message}`, details, { code: reason.code, cause: reason })
  }
}

function findCard(baseUrl: string): Promise<AgentCard> {
  const limits = { ...defaultLimits, attempts: 1 }
  return fetchCard(baseUrl, { http: createHttp({ fetch: platformFetch, limits }), limits })
}

function fetched(card: AgentCard): A2AAgentCard {
  const { url } = sourceOf(card)?.document ?? {}
  return flatCard(card, typeof url === 'string' ? url : undefined)
}

function errorOf(reason: unknown): A2AError {
  const error = A2AError.from(reason)
  const { code, message, details } = error
  const options = { code, cause: reason }
  if (details.violations !== undefined) return new ValidationError(message, details, options)
  return new ExternalServiceError(withStatus(message, error), details, options)
}

/** Of a peer without a card nothing is known but where it is. */
function nameless(baseUrl: string): AgentCard {
  return {
    name: baseUrl,
    description: '',
    version: '',
    supportedInterfaces: [facadeInterface(baseUrl)],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  }
}
