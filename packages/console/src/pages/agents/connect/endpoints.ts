/** The endpoints of an agent by binding and version, from its cards. */
import { isLegacyVersion } from '@parley/a2a/internal'
import type { AgentCards, AgentDetail } from '../../../api/admin.ts'
import { bindingTitle } from '../../../components/binding-titles.ts'

export interface Endpoint {
  readonly binding: string
  readonly version: string
  readonly url: string
  readonly note: string | undefined
}

export function endpointsOf(
  { endpoints, card }: Pick<AgentDetail, 'endpoints' | 'card'>,
  cards: AgentCards | undefined,
): readonly Endpoint[] {
  const newer = endpoints.map(({ protocolBinding, protocolVersion, url, tenant }): Endpoint => ({
    binding: bindingTitle(protocolBinding),
    version: protocolVersion,
    url,
    note: noteOf(protocolBinding, protocolVersion, tenant),
  }))
  return [
    ...newer,
    ...endpointsOfCards(cards, endpoints),
    {
      binding: 'Card',
      version: 'all',
      url: card,
      note: 'The header A2A-Version selects the version. Without it, clients of all versions can read it.',
    },
  ]
}

function noteOf(binding: string, version: string, tenant: string | undefined): string | undefined {
  if (tenant !== undefined) return `with the tenant ${tenant}`
  if (binding !== 'HTTP+JSON') return undefined
  return isLegacyVersion(version) ? 'for example POST …/v1/message:send' : 'for example POST …/message:send'
}

/** Of versions that the newest card does not list: their own card has the address. */
function endpointsOfCards(cards: AgentCards | undefined, listed: AgentDetail['endpoints']): readonly Endpoint[] {
  const { merged: _, ...others } = cards?.cards ?? {}
  return Object.entries(others).flatMap(([version, { url }]) =>
    typeof url === 'string' && !listed.some(({ protocolVersion }) => protocolVersion === version)
      ? [{ binding: 'JSON-RPC', version, url, note: undefined }]
      : [],
  )
}

/** The URL of the hub, derived from the URL of one of its agents. */
export function hubUrlOf(url: string): string {
  return url.replace(/\/a2a\/[^/]*\/?$/, '')
}
