/**
 * Lists the usable interfaces of a card, best first: in the order of the card (B-17), unless the caller prefers a binding. That
 * order also puts 0.3's main url before the others, with each url paired to its own transport (B-18). The first is used and the
 * others are fallbacks (B-20, A-31).
 */
import { httpBindingNames } from '../bindings/protocol-bindings.ts'
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { Operation, RequestOf } from '../model/operation.ts'
import { versionIds } from '../versions/version-loaders.ts'
import type { ChosenInterface, ClientBinding, ConnectOptions } from './contract.ts'
import { simpleTasksBindingUri } from './http/http-url.ts'

export type SelectInterfaceOptions = Pick<ConnectOptions, 'version' | 'prefer' | 'tenant'> & {
  /** Bindings besides those over HTTP. */
  readonly bindings?: readonly Pick<ClientBinding, 'protocolBinding' | 'versions'>[]
}

const builtInBindings = [...httpBindingNames, simpleTasksBindingUri].map((protocolBinding) => ({
  protocolBinding,
  versions: versionIds,
}))

const protocolBindingOf = ({ protocolBinding }: Pick<ClientBinding, 'protocolBinding'>): string => protocolBinding

/** Never empty: throws VERSION_NOT_SUPPORTED, which says what the card offers and what the client supports. */
export function selectInterfaces(
  { supportedInterfaces }: AgentCard,
  { version: pinned, bindings = [], prefer = bindings.map(protocolBindingOf), tenant }: SelectInterfaceOptions = {},
): readonly [ChosenInterface, ...ChosenInterface[]] {
  const supported = [...bindings, ...builtInBindings]
  const preferred = prefer.map((name) => name.toUpperCase())
  /** Bindings that the caller does not prefer come last. */
  const rank = ({ protocolBinding }: ChosenInterface): number =>
    (preferred.indexOf(protocolBinding.toUpperCase()) + preferred.length + 1) % (preferred.length + 1)

  const usable = supportedInterfaces.flatMap((one, index): ChosenInterface[] => {
    const { url, protocolBinding, protocolVersion } = one
    // The patch number is ignored (B-4).
    const version = versionIds.find((id) => id === /^\d+\.\d+/.exec(protocolVersion)?.[0])
    const binding = supported.find((known) => known.protocolBinding.toUpperCase() === protocolBinding.toUpperCase())
    if (!version || !binding?.versions.includes(version) || (pinned ?? version) !== version) return []
    // Other bindings have other kinds of addresses.
    if (!bindings.includes(binding) && !(/^https?:/i.test(url) && URL.canParse(url))) return []
    const why =
      `Number ${index + 1} of ${supportedInterfaces.length} on the card` +
      (preferred.includes(protocolBinding.toUpperCase()) ? ', in a binding the caller prefers' : '') +
      (pinned ? ', in the version the caller pinned' : '')
    return [{ ...one, ...(tenant !== undefined && { tenant }), version, why }]
  })
  const [best, ...others] = usable.sort((a, b) => rank(a) - rank(b))
  if (best) return [best, ...others]

  const offered = supportedInterfaces
    .map(({ protocolBinding, protocolVersion, url }) => `${protocolBinding} ${protocolVersion} at ${url}`)
    .join(', ')
  // Simple tasks come last and are never selected by a caller, so they are not listed.
  const supportedNames = supported
    .slice(0, -1)
    .map(({ protocolBinding, versions }) => `${protocolBinding} ${pinned ?? versions.join('/')}`)
  throw new A2AError(
    'VERSION_NOT_SUPPORTED',
    `The agent offers ${offered}; requested: ${supportedNames.join(' or ')}`,
    {
      offered,
    },
  )
}

// Rejects operations that the card does not declare (B-169): an immediate error instead of a request that cannot work.

export function checkCapabilities<O extends Operation>(operation: O, request: RequestOf<O>, card: AgentCard): void {
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities
  if (/Streaming|Subscribe/.test(operation)) requireCapability(streaming, 'streaming')
  if (operation === 'GetExtendedAgentCard') requireCapability(extendedAgentCard, 'extendedAgentCard')
  const push = 'configuration' in request && request.configuration?.taskPushNotificationConfig !== undefined
  if (push || operation.includes('Push')) {
    requireCapability(pushNotifications, 'pushNotifications', 'PUSH_NOTIFICATION_NOT_SUPPORTED')
  }
}

function requireCapability(
  promised: boolean | undefined,
  capability: string,
  code: 'PUSH_NOTIFICATION_NOT_SUPPORTED' | 'UNSUPPORTED_OPERATION' = 'UNSUPPORTED_OPERATION',
): void {
  if (promised !== true) throw new A2AError(code, `The agent's card does not declare ${capability}`, { capability })
}
