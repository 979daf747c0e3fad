/** Addresses in a card that need a second look: relative ones, and those without TLS. */
import type { AgentCard } from '../model/card.ts'
import type { ClientLog } from './contract.ts'

type Schemes = NonNullable<AgentCard['securitySchemes']>

/** Relative addresses are meant relative to the card's own. */
export function checkUrls(card: AgentCard, from: URL, log: ClientLog | undefined): AgentCard {
  const absolute = (url: string): string =>
    URL.canParse(url) || !URL.canParse(url, from.href) ? url : new URL(url, from).href
  const inScheme = (key: string, value: unknown): unknown =>
    key.endsWith('Url') && typeof value === 'string' ? absolute(value) : value

  const { securitySchemes, documentationUrl, iconUrl } = card
  const supportedInterfaces = card.supportedInterfaces.map((one) =>
    // A host and a port, as gRPC has it, looks like something relative.
    one.protocolBinding === 'GRPC' ? one : { ...one, url: absolute(one.url) },
  )
  // Told and not refused (B-25): there may be a tunnel, and whoever runs the agent is the one to mend it.
  const open = supportedInterfaces.map(({ url }) => url).filter((url) => /^http:/i.test(url))
  if (open.length > 0 && from.protocol === 'https:')
    log?.warn('An agent card that came over https names interfaces without it', { urls: open })
  return {
    ...card,
    supportedInterfaces,
    ...(securitySchemes ? { securitySchemes: JSON.parse(JSON.stringify(securitySchemes), inScheme) as Schemes } : {}),
    ...(documentationUrl ? { documentationUrl: absolute(documentationUrl) } : {}),
    ...(iconUrl ? { iconUrl: absolute(iconUrl) } : {}),
  }
}
