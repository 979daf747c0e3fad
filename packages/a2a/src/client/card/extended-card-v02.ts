/** 0.2 has no method for the extended card: it is an HTTP GET beside the agent's url (B-136). */
import type { AgentCard } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import { parseResponse } from '../http/check-json-nodes.ts'
import type { TransportCallOptions, ClientTransportDeps } from '../contract.ts'
import { readText } from '../http/read-text.ts'

const path = 'agent/authenticatedExtendedCard'

export async function fetchExtendedCardV02(
  url: string,
  { id, json }: ProtocolVersion,
  { http, maxBodyBytes, maxJsonNodes }: ClientTransportDeps,
  about: TransportCallOptions,
): Promise<AgentCard> {
  const { headers, card, signal, timeoutMs } = about
  const bare = url.replace(/[?#].*/, '').replace(/\/*$/, '/')
  // The specification says beside the url; some servers serve it below the url.
  const places = new Set([new URL(`../${path}`, bare).href, bare + path])
  let status = 404
  for (const place of places) {
    const response = await http.send({
      method: 'GET',
      url: place,
      headers: { accept: 'application/json', 'A2A-Version': id, ...headers },
      signal,
      timeoutMs,
      ...(card !== undefined ? { card } : {}),
    })
    const text = await readText(response, maxBodyBytes, signal, timeoutMs)
    const payload = parseResponse(text, maxJsonNodes)
    status = response.status
    if (response.ok) return json.decodeCard(payload)
    if (status !== 404) throw withStatus(json.decodeError(payload, status), status)
  }
  throw withStatus(new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'The agent has no extended card'), status)
}

function withStatus({ code, message, details }: A2AError, status: number): A2AError {
  return new A2AError(code, message, { ...details, status: String(status) })
}
