/** From an address to an agent one can talk to: its card is found, an interface chosen, and its version's codecs loaded. */
import type { AgentCard } from '../model/card.ts'
import { createAgent } from './agent.ts'
import { authenticatorOf } from './auth/authenticator.ts'
import { cardCheck, fetchCard } from './card.ts'
import type { ConnectOptions, RemoteAgent } from './contract.ts'
import { createHttp, platformFetch } from './http.ts'
import { defaultLimits } from './limits.ts'
import { candidates } from './select.ts'
import { createSession } from './session.ts'
import { httpBindings } from './wire.ts'

/** Takes the agent's address, that of its card, or the card. */
export async function connect(target: string | URL | AgentCard, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const { fetch = platformFetch, headers, signal, version, log, bindings = [] } = options
  signal?.throwIfAborted()
  const limits = { ...defaultLimits, ...options.limits }
  const http = createHttp({ fetch, authenticate: authenticatorOf(options, { fetch, limits }), limits, headers })
  const found = await fetchCard(target, { http, limits, signal, version, log })
  const check = await cardCheck(options, { fetch, limits, log })
  const { card, signature } = (await check?.(found, signal)) ?? { card: found }
  const session = await createSession({
    card,
    signature,
    check,
    candidates: candidates(card, options),
    bindings: [...bindings, ...httpBindings],
    http,
    limits,
    options,
  })
  return createAgent(session)
}
