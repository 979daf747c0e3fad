/** Connects to an agent: fetches its card, selects an interface and loads the codecs of its version. */
import type { AgentCard } from '../model/card.ts'
import { createRemoteAgent } from './remote-agent.ts'
import { fetchAndVerifyCard, httpFromOptions } from './card/card-discovery.ts'
import type { ConnectOptions, RemoteAgent } from './contract.ts'
import { selectInterfaces } from './select-interface.ts'
import { createSession } from './session.ts'

/**
 * Connects to an agent: fetches its card, selects an interface that both sides support, and returns the agent's operations.
 *
 * `target` is the URL of the agent, the URL of its card, or the card itself. Cards are cached as their headers say, for five
 * minutes by default. Throws an `A2AError`: CARD_NOT_FOUND, INVALID_AGENT_RESPONSE for an invalid card, VERSION_NOT_SUPPORTED if no
 * interface fits, UNAUTHENTICATED for a protected card, UNAVAILABLE or TIMEOUT if the server does not respond.
 *
 * @example
 * ```ts
 * import { connect } from '@parley/a2a/client'
 *
 * const agent = await connect('https://agent.example.com', { bearer: token })
 * console.log(await agent.ask('Summarize the news'))
 * ```
 */
export async function connect(target: string | URL | AgentCard, options: ConnectOptions = {}): Promise<RemoteAgent> {
  options.signal?.throwIfAborted()
  const parts = httpFromOptions(options)
  const discovered = await fetchAndVerifyCard(target, options, parts)
  const candidates = selectInterfaces(discovered.card, options)
  const session = await createSession({ ...parts, ...discovered, candidates, options })
  return createRemoteAgent(session)
}
