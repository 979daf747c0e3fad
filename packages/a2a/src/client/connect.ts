/** From an address to an agent one can talk to: its card is found, an interface chosen, and its version's codecs loaded. */
import type { AgentCard } from '../model/card.ts'
import { createAgent } from './agent.ts'
import { authenticatorOf } from './auth/authenticator.ts'
import { findCard } from './card.ts'
import type { ConnectOptions, RemoteAgent } from './contract.ts'
import { createHttp, platformFetch } from './http.ts'
import { defaultLimits } from './limits.ts'
import { candidates } from './select.ts'
import { createSession } from './session.ts'
import { httpBindings } from './wire.ts'

/** Takes the agent's address, that of its card, or the card. */
export async function connect(target: string | URL | AgentCard, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const { fetch = platformFetch, headers, signal, bindings = [] } = options
  signal?.throwIfAborted()
  const limits = { ...defaultLimits, ...options.limits }
  const http = createHttp({ fetch, authenticate: authenticatorOf(options, { fetch, limits }), limits, headers })
  const found = await findCard(target, options, { http, limits })
  const session = await createSession({
    ...found,
    candidates: candidates(found.card, options),
    bindings: [...bindings, ...httpBindings],
    http,
    limits,
    options,
  })
  return createAgent(session)
}
