/**
 * Which interfaces of a card we could use, best first: in the order of the card (B-17), which is also how 0.3's main
 * url comes before its others with each url paired to its own transport (B-18), unless the caller prefers a binding.
 * The first is used and the others are what one falls back to (B-20, A-31).
 */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { VersionId } from '../versions/version.ts'
import { simpleTasksBinding } from './address.ts'
import type { ChosenInterface, ClientBinding, ConnectOptions } from './contract.ts'

export type SelectOptions = Pick<ConnectOptions, 'version' | 'prefer' | 'tenant'> & {
  /** Besides the two over HTTP. */
  readonly bindings?: readonly Pick<ClientBinding, 'protocolBinding' | 'versions'>[]
}

const all: readonly VersionId[] = ['1.0', '0.3', '0.2']
const builtIn = ['JSONRPC', 'HTTP+JSON', simpleTasksBinding].map((protocolBinding) => ({
  protocolBinding,
  versions: all,
}))

const bindingOf = ({ protocolBinding }: Pick<ClientBinding, 'protocolBinding'>): string => protocolBinding

/** Never empty: throws VERSION_NOT_SUPPORTED, which says what is offered and what we speak. */
export function candidates(
  { supportedInterfaces }: AgentCard,
  { version: pinned, bindings = [], prefer = bindings.map(bindingOf), tenant }: SelectOptions = {},
): readonly [ChosenInterface, ...ChosenInterface[]] {
  const spoken = [...bindings, ...builtIn]
  const wishes = prefer.map((name) => name.toUpperCase())
  /** What is not wished for comes last. */
  const rank = ({ protocolBinding }: ChosenInterface): number =>
    (wishes.indexOf(protocolBinding.toUpperCase()) + wishes.length + 1) % (wishes.length + 1)

  const usable = supportedInterfaces.flatMap((one, index): ChosenInterface[] => {
    const { url, protocolBinding, protocolVersion } = one
    // A patch decides nothing (B-4).
    const version = all.find((id) => id === /^\d+\.\d+/.exec(protocolVersion)?.[0])
    const binding = spoken.find((known) => known.protocolBinding.toUpperCase() === protocolBinding.toUpperCase())
    if (!version || !binding?.versions.includes(version) || (pinned ?? version) !== version) return []
    // Other bindings have other kinds of addresses.
    if (!bindings.includes(binding) && !(/^https?:/i.test(url) && URL.canParse(url))) return []
    const why =
      `Number ${index + 1} of ${supportedInterfaces.length} on the card` +
      (wishes.includes(protocolBinding.toUpperCase()) ? ', in a binding the caller prefers' : '') +
      (pinned ? ', in the version the caller pinned' : '')
    return [{ ...one, ...(tenant !== undefined && { tenant }), version, why }]
  })
  const [best, ...others] = usable.sort((a, b) => rank(a) - rank(b))
  if (best) return [best, ...others]

  const offered = supportedInterfaces
    .map(({ protocolBinding, protocolVersion, url }) => `${protocolBinding} ${protocolVersion} at ${url}`)
    .join(', ')
  // Simple tasks are the last, and no caller asks for them.
  const speaks = spoken
    .slice(0, -1)
    .map(({ protocolBinding, versions }) => `${protocolBinding} ${pinned ?? versions.join('/')}`)
  throw new A2AError('VERSION_NOT_SUPPORTED', `The agent offers ${offered}; asked for was ${speaks.join(' or ')}`, {
    offered,
  })
}
