/**
 * Where a card came from. Signature verification needs the original document, because that is what was signed, not our
 * decoded form. URLs in a card are relative to the card's own URL, and cause a warning if they do not use TLS.
 */
import { findBinding } from '../../bindings/protocol-bindings.ts'
import type { AgentCard } from '../../model/card.ts'
import type { ClientLog } from '../contract.ts'

type Schemes = NonNullable<AgentCard['securitySchemes']>

export interface CardSource {
  readonly document: { readonly [field: string]: unknown }
  /** `undefined`: the caller passed the card. */
  readonly from?: URL
}

const sources = new WeakMap<AgentCard, CardSource>()

export const cardSourceOf = (card: AgentCard): CardSource | undefined => sources.get(card)

export function withCardSource(card: AgentCard, document: unknown, from?: URL): AgentCard {
  sources.set(card, { document: document as CardSource['document'], ...(from !== undefined ? { from } : {}) })
  return card
}

/** Resolves relative URLs against the card's own URL. */
export function resolveCardUrls(card: AgentCard, from: URL, log: ClientLog | undefined): AgentCard {
  const absolute = (url: string): string =>
    URL.canParse(url) || !URL.canParse(url, from.href) ? url : new URL(url, from).href
  const inScheme = (key: string, value: unknown): unknown =>
    key.endsWith('Url') && typeof value === 'string' ? absolute(value) : value

  const { securitySchemes, documentationUrl, iconUrl } = card
  const supportedInterfaces = card.supportedInterfaces.map((one) => {
    const known = findBinding(one.protocolBinding)
    // `host:port`, as gRPC writes it, looks like a relative URL.
    return known && !known.loadClient ? one : { ...one, url: absolute(one.url) }
  })
  // Logs a warning instead of refusing (B-25): there may be a tunnel, and only the operator of the agent can fix the
  // card.
  const open = supportedInterfaces.map(({ url }) => url).filter((url) => /^http:/i.test(url))
  if (open.length > 0 && from.protocol === 'https:')
    log?.warn('An agent card fetched over https lists interfaces without https', { urls: open })
  return {
    ...card,
    supportedInterfaces,
    ...(securitySchemes ? { securitySchemes: JSON.parse(JSON.stringify(securitySchemes), inScheme) as Schemes } : {}),
    ...(documentationUrl ? { documentationUrl: absolute(documentationUrl) } : {}),
    ...(iconUrl ? { iconUrl: absolute(iconUrl) } : {}),
  }
}
